"""What a page costs TRES as its crawl grows, beside SB-CLASSIFIER: processor time by tenth of the crawl.

    python -m benchmarks.tres_cost --archives DIR [--site NAME] [--strategy tres-light,tres,sb-classifier]

Only the strategy is timed, not the archive that answers it; reading the text of a page is part of what TRES
does. Its classifier and its networks are built beforehand, which is timed apart.
"""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from benchmarks.reporting import format_option, report
from coati.archive.archive import Archive
from coati.assembly import REGISTRY, Need, build_strategy
from coati.errors import UsageError
from coati.model import EVERY_HOST, Page, Request
from coati.replaying.example_pages import example_pages, join_examples
from coati.replaying.site import ReplaySite

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coati.strategies.tres.tres import TresExamples

_PARTS = 10


class Cost(NamedTuple):
    """What a strategy cost: seconds to build it, and milliseconds per page in each part of the crawl."""

    strategy: str
    building: float
    pages: int
    page_ms: list[float]


def measure(site: ReplaySite, name: str, examples: TresExamples | None) -> Cost:
    """Crawl the whole site once."""
    begun = time.process_time()
    strategy = build_strategy(name, [site.start_url], 0, site.truth, examples=examples)
    building = time.process_time() - begun
    spent = 0.0
    # After each page: the time spent so far.
    marks = [0.0]
    while True:
        begun = time.process_time()
        request = strategy.choose(0.0, EVERY_HOST)
        spent += time.process_time() - begun
        if not isinstance(request, Request):
            break
        outcome = site.respond(request)
        begun = time.process_time()
        strategy.observe(request.id, outcome, 0.0)
        spent += time.process_time() - begun
        if isinstance(outcome, Page):
            marks.append(spent)
    pages = len(marks) - 1
    ends = [part * pages // _PARTS for part in range(_PARTS + 1)]
    page_ms = [1000 * (marks[end] - marks[begin]) / max(1, end - begin) for begin, end in pairwise(ends)]
    return Cost(name, building, pages, page_ms)


def _examples(folders: Iterable[Path]) -> TresExamples:
    found = []
    for folder in folders:
        with Archive.open(folder) as other:
            found.append(example_pages(ReplaySite(other)))
    return join_examples(found)


def _draw(costs: list[Cost], site: str, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    for cost in costs:
        tenths = [(part + 0.5) * 100 / _PARTS for part in range(_PARTS)]
        axes.plot(tenths, cost.page_ms, marker="o", markersize=4, label=cost.strategy)
    axes.set(
        xlabel="pages read, % of the crawl", ylabel="processor time a page, ms", yscale="log", xlim=(0, 100)
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.suptitle(f"{site}: what a page costs the strategy")
    figure.savefig(file, dpi=150)


@click.command()
@click.option("--archives", type=click.Path(path_type=Path), required=True, help="Folder of archives.")
@click.option("--site", "name", default="networkx", show_default=True, help="The archive that is crawled.")
@click.option("--strategy", "strategies", default="tres-light,sb-classifier", show_default=True)
@click.option("--examples", default="", help="Archives with example pages, by commas.  [default: all others]")
@click.option("--picture", type=click.Path(path_type=Path), help="Also draw the numbers into this file.")
@format_option
def main(archives: Path, name: str, strategies: str, examples: str, picture: Path | None, form: str) -> None:
    """Crawl one site with each strategy, and print what a page cost in each tenth of its crawl."""
    others = sorted(path.parent.name for path in archives.glob("*/archive.toml") if path.parent.name != name)
    folders = [archives / each for each in (examples.split(",") if examples else others)]
    costs = []
    with Archive.open(archives / name) as archive:
        site = ReplaySite(archive)
        pages: TresExamples | None = None
        for strategy in strategies.split(","):
            if Need.EXAMPLES in REGISTRY[strategy].needs:
                pages = pages or _examples(folders)
            try:
                costs.append(measure(site, strategy, pages))
            except UsageError as error:
                click.echo(f"{strategy} is left out: {error}", err=True)
    rows = [
        {
            "strategy": cost.strategy,
            "pages": cost.pages,
            "build s": cost.building,
            **{f"{10 * part + 10} %": ms for part, ms in enumerate(cost.page_ms)},
            "last / second": cost.page_ms[-1] / cost.page_ms[1] if cost.page_ms[1] else None,
        }
        for cost in costs
    ]
    report(f"milliseconds per page on {name}, by tenth of its crawl", rows, form)
    if picture is not None:
        _draw(costs, name, picture)


if __name__ == "__main__":
    main()
