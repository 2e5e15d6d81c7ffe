"""``coati replay``: run strategies over an archived site and measure them."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from coati.archive.archive import Archive
from coati.assembly import (
    EARLY_STOPS,
    Need,
    StrategySettings,
    build_early_stop,
    build_strategy,
    strategy_row,
)
from coati.budget import Budget
from coati.cli.setting_options import SettingParam
from coati.errors import ConfigError, UsageError
from coati.replaying.charts import draw_curves
from coati.replaying.comparison import Cell, SiteStudy
from coati.replaying.example_pages import example_pages, joined
from coati.replaying.site import ReplaySite
from coati.runs.times import to_iso
from coati.settings.setting_types import BYTES, SECONDS, above_zero
from coati.web.likely_extensions import likely_extensions
from coati.web.media import parse_types
from coati.web.unseen import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.replaying.comparison import Result
    from coati.strategies.strategy import Strategy
    from coati.strategies.tres.tres import TresExamples

_PLAIN_WIDTH = 140
_REMARKS_SHOWN = 5
# Fewer have no quartiles worth the name.
_SEEDS_FOR_QUARTILES = 4


class _Moment(click.ParamType[float]):
    """A time, or a day, which is taken to its end; in UTC where it does not say otherwise."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401
        text = str(value).strip()
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            self.fail(f"{text!r} is no time; one looks like 2024-05-06 or 2024-05-06T12:00", param, ctx)
        if len(text) == len("2024-05-06"):
            moment += timedelta(days=1, microseconds=-1)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


@click.command()
@click.argument("archive", type=click.Path(path_type=Path))
@click.option(
    "--strategy",
    "strategies",
    default="scent,sb-classifier,bfs,clairvoyant",
    show_default=True,
    help="Strategies to run, separated by commas; `coati strategies` lists them.",
)
@click.option("--seeds", default=1, show_default=True, help="How many seeds, counted from --seed.")
@click.option("--seed", default=0, show_default=True, help="The first seed.")
@click.option("--types", "types_text", help="What counts as a target, instead of the archive's definition.")
@click.option(
    "--start-url",
    "start_urls",
    multiple=True,
    help="Begin at another URL of the archive; may be repeated. Sitemaps and feeds may be named, too.",
)
@click.option("--as-of", type=_Moment(), help="Replay the site as it was at this time (2024-05-06T12:00).")
@click.option("--max-requests", type=int, help="Stop each run after so many requests.")
@click.option(
    "--max-bytes", type=SettingParam(above_zero(BYTES)), help="Stop each run after so many bytes (5MB)."
)
@click.option(
    "--max-time",
    type=SettingParam(above_zero(SECONDS)),
    help="Stop each run after this much simulated time, at one request per second (90s, 2h).",
)
@click.option("--max-targets", type=int, help="Stop each run after so many targets.")
@click.option(
    "--early-stop",
    type=click.Choice(list(EARLY_STOPS)),
    default="off",
    show_default=True,
    help="When to give up.",
)
@click.option(
    "--examples",
    type=click.Path(path_type=Path),
    multiple=True,
    help="An archive whose pages tres and tres-light learn from beforehand; may be repeated.",
)
@click.option("--link-cache/--no-link-cache", default=True, help="Use extracted links, or parse every page.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for traces (CSV), results and curves.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def replay(  # noqa: PLR0917 - one parameter an option
    archive: Path,
    strategies: str,
    seeds: int,
    seed: int,
    types_text: str | None,
    start_urls: tuple[str, ...],
    as_of: float | None,
    max_requests: int | None,
    max_bytes: int | None,
    max_time: float | None,
    max_targets: int | None,
    early_stop: str,
    examples: tuple[Path, ...],
    link_cache: bool,
    out: Path | None,
    form: str,
) -> None:
    """Run strategies over an archived site and measure them.

    Nothing is fetched: ARCHIVE answers. Each run is one line of the result; measures are percentages of the
    site's URLs, and CLAIRVOYANT, which knows the site, is the reference.
    """
    cells = _cells(strategies, seeds, seed)
    budget = Budget(max_requests, max_bytes, max_time, max_targets)
    types = None if types_text is None else parse_types(types_text)
    if out is not None:
        _make_folder(out)
    messages = Console(stderr=True, highlight=False, markup=False)
    with Archive.open(archive) as opened, _progress(messages) as bar:
        _require_history(opened, as_of)
        reading = bar.add_task("extracting links", total=None)
        site = ReplaySite(
            opened,
            start_urls=start_urls,
            types=types,
            as_of=as_of,
            use_link_cache=link_cache,
            progress=lambda done, total: bar.update(reading, completed=done, total=total),
        )
        bar.remove_task(reading)
        starts = " and ".join(site.start_urls)
        messages.print(safe(f"{site.name}: starts at {starts}; targets are {site.definition}"))

        pages = _example_pages(opened, cells, examples)

        settings = None if types is None else StrategySettings(likely_extensions=likely_extensions(types))

        def build(name: str, number: int) -> Strategy:
            return build_strategy(name, site.start_urls, number, site.truth, settings, pages)

        study = SiteStudy(site, build, lambda name: Need.OUT_LINKS in strategy_row(name).needs)
        running = bar.add_task("", total=study.totals.urls)

        def show(name: str, number: int | None, requests: int, targets: int) -> None:
            label = name if number is None else f"{name} seed {number}"
            bar.update(running, description=f"{label}: {targets} targets", completed=requests)

        results = []
        for result in study.run(cells, budget, lambda: build_early_stop(early_stop), show):
            results.append(result)
            if form == "json":
                click.echo(json.dumps(result.row()))
    _warn(messages, list(site.remarks.values()))
    if form == "table":
        plain = Console()
        # A file or a pipe has no width of its own; a table cut to eighty columns would be of no use there.
        (plain if plain.is_terminal else Console(width=_PLAIN_WIDTH)).print(_table(results))
    if out is not None:
        _write(results, out)
        messages.print(f"wrote {len(results)} traces, results.jsonl and curves.png to {out}")


def _require_history(archive: Archive, as_of: float | None) -> None:
    """Refuse a time of which the archive can say nothing."""
    span = archive.span()
    if as_of is not None and (span is None or as_of < span[0]):
        begins = "does not say when anything was captured" if span is None else f"begins at {to_iso(span[0])}"
        raise UsageError(f"--as-of: the archive {archive.meta.name} {begins}")


def _example_pages(archive: Archive, cells: Sequence[Cell], examples: Sequence[Path]) -> TresExamples | None:
    """Read the example pages of other archives, if a strategy needs them and there are any."""
    if not examples or not any(Need.EXAMPLES in strategy_row(cell.strategy).needs for cell in cells):
        return None
    found = []
    for folder in examples:
        with Archive.open(folder) as other:
            if other.digest() == archive.digest():
                raise UsageError(
                    f"--examples {folder}: that is the site itself, and examples must be of others"
                )
            found.append(example_pages(ReplaySite(other)))
    return joined(found)


def _warn(messages: Console, remarks: Sequence[str]) -> None:
    """Name pages that the archive no longer gives, or not whole: the measures leave out what they led to."""
    for remark in remarks[:_REMARKS_SHOWN]:
        messages.print(safe(f"warning: {remark}"))
    if len(remarks) > _REMARKS_SHOWN:
        more = len(remarks) - _REMARKS_SHOWN
        messages.print(f"warning: and {more} more pages; `coati archive verify` names every damaged record")


def _cells(strategies: str, seeds: int, first: int) -> list[Cell]:
    if seeds < 1:
        raise ConfigError(f"--seeds is {seeds}: it must be at least 1")
    names = [
        name if ":" in name else name.lower() for part in strategies.split(",") if (name := part.strip())
    ]
    if not names:
        raise ConfigError("no strategy given; `coati strategies` lists them")
    for name in names:
        strategy_row(name)
    cells = []
    for name in dict.fromkeys(names):
        if not strategy_row(name).seeded:
            cells.append(Cell(name, None))
        else:
            cells.extend(Cell(name, number) for number in range(first, first + seeds))
    return cells


def _progress(messages: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=messages,
        transient=True,
        disable=not messages.is_terminal,
    )


def _table(results: Sequence[Result]) -> Table:
    """Show a line a strategy: the median over seeds, and the quartiles where there are seeds enough."""
    totals = results[0].totals
    table = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        title=Text(f"{results[0].site}: {totals.urls:,} URLs, {totals.targets:,} targets"),
        caption="medians over seeds (quartiles). 90 %: requests and other bytes spent until 90 % of the"
        " targets are in, as % of the site. best: clairvoyant. curve: requests to 25, 50, 75 and 90 %.",
    )
    table.add_column("strategy")
    for name in ("seeds", "requests", "targets", "90 % requests", "90 % volume", "AUC"):
        table.add_column(name, justify="right")
    for name in ("× best", "curve × best", "AUC × best", "gap closed", "CPU s"):
        table.add_column(name, justify="right")
    for strategy in dict.fromkeys(result.cell.strategy for result in results):
        rows = [result.row() for result in results if result.cell.strategy == strategy]
        seeds = "-" if rows[0]["seed"] is None else str(len(rows))
        table.add_row(
            strategy,
            seeds,
            _middle(rows, "requests", "{:,.0f}"),
            _middle(rows, "targets", "{:,.0f}"),
            _middle(rows, "requests_to_90_pct", "{:.1f}", spread=True),
            _middle(rows, "volume_to_90_pct", "{:.1f}", spread=True),
            _middle(rows, "auc", "{:.3f}"),
            _middle(rows, "clairvoyant_ratio", "{:.2f}"),
            _middle(rows, "curve_ratio", "{:.2f}"),
            _middle(rows, "auc_ratio", "{:.3f}"),
            _middle(rows, "gap_closed", "{:.2f}"),
            _middle(rows, "cpu_seconds", "{:.2f}"),
        )
    return table


def _middle(rows: Sequence[dict[str, object]], key: str, form: str, *, spread: bool = False) -> str:
    # A run that never got there counts as the worst there is, so that the median stays honest.
    worst = -math.inf if key == "gap_closed" else math.inf
    values = sorted(worst if row[key] is None else float(str(row[key])) for row in rows)
    middle = _quantile(values, 0.5)
    if math.isinf(middle):
        return "∞" if key.endswith("90_pct") else "-"
    text = form.format(middle)
    if spread and len(values) >= _SEEDS_FOR_QUARTILES:
        low, high = _quantile(values, 0.25), _quantile(values, 0.75)
        text += f" ({form.format(low)}-{'∞' if math.isinf(high) else form.format(high)})"
    return text


def _quantile(values: Sequence[float], share: float) -> float:
    """Interpolate between the neighbours of a sorted list; one of them may be infinite."""
    place, part = divmod(share * (len(values) - 1), 1)
    below = values[int(place)]
    return below if not part else below * (1 - part) + values[int(place) + 1] * part


def _make_folder(folder: Path) -> None:
    """Make the folder for results before the work begins, so that no result is lost for want of one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {folder}: no folder can be made there ({error.strerror})") from error


def _write(results: Sequence[Result], folder: Path) -> None:
    lines = [json.dumps(result.row()) for result in results]
    (folder / "results.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for result in results:
        seed = "" if result.cell.seed is None else f"-seed{result.cell.seed}"
        result.run.trace.write_csv(folder / f"{result.cell.strategy}{seed}.csv")
    draw_curves(results, folder / "curves.png")
    draw_curves(results, folder / "curves.svg")
