"""What forecasts are worth, and what each level of `--stop-when-dry` misses and saves.

    python -m benchmarks.stopping --archives DIR [--seeds 3] [--generated 600] [--figure FILE.png]

Each site is crawled to its end, once per seed, and every level watches the same crawl: a crawl that is
stopped is the beginning of one that is not. Forecasts are gathered in bins by what they said, and compared
with what came in the requests that they speak of. Sites count alike, whatever their size; generated sites
(`coati.testing.paper_sites`, with this many pages) are none that anything was chosen on. How much depends on
which sites were at hand is estimated by drawing them again, and by choosing a level on one half for the
other.

The levels cannot be ``[[early_stops]]`` of an experiment: those are worked out from the counts of a finished
run, which other tables share, and a level asks the strategy on the way what waits.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, cast

import click

from benchmarks.reporting import format_option, report
from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta
from coati.assembly import build_strategy
from coati.budget import Budget
from coati.replaying.driver import replay
from coati.replaying.site import ReplaySite
from coati.strategies.stopping.forecast import forecast_requests
from coati.strategies.stopping.stop_when_dry import LEVELS, StopWhenDry
from coati.testing.generator import generate_site
from coati.testing.paper_sites import PAPER_SITES, paper_site_parameters
from coati.web.media import PRESETS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes

    from coati.strategies.stopping.forecast import Estimate
    from coati.strategies.strategy import Foresees, Strategy

_PARTS = {"replicas of real sites": False, "generated sites": True}
_MISSED, _SAVED = "missed, % of a site's targets", "saved, % of requests"
# Beside the levels that have names.
_FLOORS = (1.0, 3.0, 7.0, 20.0, 50.0)
_BINS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1001)
# How often the sites of a bin are drawn again, with repetition; nine tenths of the means are reported.
_DRAWS = 2000
# A level is chosen on half of the sites so that it misses at most this much of a site's targets there.
_BEARABLE_PCT = 0.5


@dataclass(frozen=True, slots=True)
class Said:
    """A forecast, when it was made, and over how many requests it looked."""

    requests: int
    ahead: int
    estimate: Estimate


class SharedLook:
    """Looks at what waits once, for all levels that decide after the same request (`Foresees`)."""

    def __init__(self, strategy: Foresees) -> None:
        self.outlook = cache(strategy.outlook)


@dataclass(slots=True)
class Watcher:
    """Lets every level watch a crawl, and stops it never (`EarlyStop`)."""

    rules: dict[float, StopWhenDry]
    stopped: dict[float, tuple[int, int]] = field(default_factory=dict)
    said: list[Said] = field(default_factory=list)
    targets: list[int] = field(default_factory=lambda: [0])

    def observe(
        self, requests: int, targets: int, score: float | None = None, strategy: Strategy | None = None
    ) -> bool:
        """Take note of a request."""
        self.targets.append(targets)
        look = SharedLook(cast("Foresees", strategy)) if hasattr(strategy, "outlook") else strategy
        for floor, rule in self.rules.items():
            before = rule.estimate
            if rule.observe(requests, targets, score, cast("Strategy", look)) and floor not in self.stopped:
                self.stopped[floor] = (requests, targets)
            if floor == LEVELS["normal"] and rule.estimate is not before and rule.estimate is not None:
                self.said.append(Said(requests, forecast_requests(requests), rule.estimate))
        return False


@dataclass(frozen=True, slots=True)
class Crawled:
    """One crawl to the end of a site."""

    site: str
    generated: bool
    watcher: Watcher

    def came(self, said: Said) -> int:
        """Count the targets that came in the requests that a forecast speaks of."""
        targets = self.watcher.targets
        return targets[min(said.requests + said.ahead, len(targets) - 1)] - targets[said.requests]

    def missed_saved(self, floor: float) -> tuple[int, float, float]:
        """Return the targets that a level missed, these in %, and the requests that it saved in %."""
        targets = self.watcher.targets
        all_requests, all_targets = len(targets) - 1, targets[-1]
        requests, found = self.watcher.stopped.get(floor, (all_requests, all_targets))
        missed = all_targets - found
        return missed, 100 * missed / max(1, all_targets), 100 * (1 - requests / all_requests)


def crawl(archive: Archive, strategy: str, seed: int, *, generated: bool = False) -> Crawled:
    """Crawl a site to its end."""
    site = ReplaySite(archive)
    watcher = Watcher({floor: StopWhenDry(floor) for floor in sorted((*LEVELS.values(), *_FLOORS))})
    replay(site, build_strategy(strategy, [site.start_url], seed), Budget(), watcher)
    return Crawled(site.name, generated, watcher)


def calibration(runs: Sequence[Crawled]) -> Iterator[dict[str, object]]:
    """Compare what forecasts said with what came, by bins; within a bin sites count alike."""
    for low, high in pairwise(_BINS):
        of_sites: dict[str, list[tuple[float, float, bool]]] = {}
        for run in runs:
            for said in run.watcher.said:
                if low <= said.estimate.expected < high:
                    came = 1000 * run.came(said) / said.ahead
                    # Whole targets come: a range of less than one holds none or one.
                    step = 1000 / said.ahead
                    within = said.estimate.low - step < came < said.estimate.high + step
                    of_sites.setdefault(run.site, []).append((said.estimate.expected, came, within))
        if of_sites:
            came_of_sites = [fmean(came for _, came, _ in rows) for rows in of_sites.values()]
            yield {
                "forecast, per 1,000": f"{low} to {min(high, 1000)}",
                "sites": len(of_sites),
                "forecasts": sum(map(len, of_sites.values())),
                "said": fmean(fmean(said for said, _, _ in rows) for rows in of_sites.values()),
                "came": fmean(came_of_sites),
                "came, other sites": _range_of_means(came_of_sites),
                "within the range, %": 100
                * fmean(fmean(within for _, _, within in rows) for rows in of_sites.values()),
            }


def _range_of_means(values: Sequence[float]) -> str:
    """Draw the sites again and again, and say between which bounds nine tenths of the means are."""
    drawing = random.Random(0)
    means = sorted(fmean(drawing.choices(values, k=len(values))) for _ in range(_DRAWS))
    return f"{means[_DRAWS // 20]:.1f} to {means[-_DRAWS // 20]:.1f}"


def chosen_on_halves(runs: Sequence[Crawled]) -> Iterator[dict[str, object]]:
    """Choose the floor on each half of the sites, and say what it misses and saves on the other half."""
    sites = sorted({run.site for run in runs})
    for half in (0, 1):
        chosen_on, others = ([run for run in runs if run.site in sites[at::2]] for at in (half, 1 - half))
        bearable = [row for row in losses(chosen_on) if float(str(row[_MISSED])) <= _BEARABLE_PCT]
        floor = float(str(bearable[-1]["per 1,000"])) if bearable else min(_FLOORS)
        there = next(row for row in losses(others) if row["per 1,000"] == floor)
        yield {"chosen on": ", ".join(sites[half::2]), **{name: there[name] for name in list(there)[1:]}}


def losses(runs: Sequence[Crawled]) -> Iterator[dict[str, object]]:
    """Say what each level misses and saves, over all sites."""
    names = {floor: name for name, floor in LEVELS.items()}
    for floor in sorted((*LEVELS.values(), *_FLOORS)):
        each = [run.missed_saved(floor) for run in runs]
        worst = max(range(len(each)), key=lambda at: each[at][1])
        yield {
            "level": names.get(floor, ""),
            "per 1,000": floor,
            _MISSED: fmean(missed for _, missed, _ in each),
            "most on a site": f"{each[worst][1]:.1f} ({runs[worst].site})",
            "missed of all targets": sum(missed for missed, _, _ in each),
            _SAVED: fmean(saved for _, _, saved in each),
        }


def by_site(runs: Sequence[Crawled]) -> Iterator[dict[str, object]]:
    """Say what the named levels miss and save on each site."""
    for site in dict.fromkeys(run.site for run in runs):
        crawls = [run for run in runs if run.site == site]
        row: dict[str, object] = {
            "site": site,
            "requests": len(crawls[0].watcher.targets) - 1,
            "targets": crawls[0].watcher.targets[-1],
        }
        for name, floor in LEVELS.items():
            each = [run.missed_saved(floor) for run in crawls]
            row[f"{name}: missed, %"] = fmean(missed for _, missed, _ in each)
            row[f"{name}: saved, %"] = fmean(saved for _, _, saved in each)
        yield row


def draw(runs: Sequence[Crawled], file: Path) -> None:
    """Draw what is missed against what is saved, a line over the levels."""
    # Imported here: it takes long, and only this needs it.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    for what, is_generated in _PARTS.items():
        some = [run for run in runs if run.generated is is_generated]
        if some:
            _draw_line(axes, what, list(losses(some)))
    axes.set(xlabel="requests saved, % (mean over sites)", ylabel="targets missed, % (mean over sites)")
    axes.set_ylim(bottom=-0.3)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    figure.savefig(file, dpi=110)


def _draw_line(axes: Axes, label: str, rows: Sequence[Mapping[str, object]]) -> None:
    saved, missed = ([float(str(row[name])) for row in rows] for name in (_SAVED, _MISSED))
    (line,) = axes.plot(saved, missed, "o-", label=label)
    for row, x, y in zip(rows, saved, missed, strict=True):
        if row["level"]:
            axes.annotate(
                str(row["level"]), (x, y), (-5, 5), textcoords="offset points", ha="right",
                color=line.get_color(),
            )  # fmt: skip


def generated_archive(name: str, pages: int, folder: Path) -> Archive:
    """Make a site like one of the paper's."""
    site = generate_site(paper_site_parameters(name, pages), 1)
    archive = Archive.create(folder / name, ArchiveMeta(f"{name}-like", site.start_url, PRESETS["data"]))
    with archive.bulk():
        for record in site.to_records():
            archive.add(record)
    return archive


def crawls(
    archives: Path | None, sites: Sequence[str], strategy: str, seeds: int, pages: int
) -> Iterator[Crawled]:
    """Crawl every replica, then every generated site."""
    for folder in () if archives is None else sorted(file.parent for file in archives.glob("*/archive.toml")):
        if not sites or folder.name in sites:
            click.echo(f"{folder.name} ...", err=True)
            with Archive.open(folder) as archive:
                yield from (crawl(archive, strategy, seed) for seed in range(seeds))
    with tempfile.TemporaryDirectory() as made:
        for name in PAPER_SITES if pages else ():
            click.echo(f"{name}-like ...", err=True)
            with generated_archive(name, pages, Path(made)) as archive:
                yield from (crawl(archive, strategy, seed, generated=True) for seed in range(seeds))


@click.command()
@click.option("--archives", type=click.Path(exists=True, path_type=Path), help="Folder of imported replicas.")
@click.option("--site", "sites", multiple=True, help="Some of them.  [default: all]")
@click.option("--strategy", default="scent", show_default=True)
@click.option("--seeds", default=3, show_default=True)
@click.option("--generated", default=0, help="Pages of each generated site, beside the replicas.")
@click.option("--figure", type=click.Path(path_type=Path), help="Draw what is missed and saved.")
@format_option
def main(  # noqa: PLR0913, PLR0917 - one per option
    archives: Path | None,
    sites: Sequence[str],
    strategy: str,
    seeds: int,
    generated: int,
    figure: Path | None,
    form: str,
) -> None:
    """Crawl every site, then print the tables."""
    runs = list(crawls(archives, sites, strategy, seeds, generated))
    for what, is_generated in _PARTS.items():
        some = [run for run in runs if run.generated is is_generated]
        if some:
            report(f"forecasts, {what}", list(calibration(some)), form)
            report(f"levels, {what}", list(losses(some)), form)
            report(f"by site, {what}", list(by_site(some)), form)
            report(
                f"levels chosen on one half, reported for the other, {what}",
                list(chosen_on_halves(some)),
                form,
            )
    if figure is not None and runs:
        draw(runs, figure)


if __name__ == "__main__":
    main()
