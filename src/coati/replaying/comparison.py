"""Run strategies over one site with several seeds, and set each beside the references."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from coati.budget import Budget
from coati.replaying.driver import ReplayOptions, replay
from coati.replaying.measures import Comparison, Measures, SiteTotals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from coati.replaying.driver import Replay
    from coati.replaying.site import ReplaySite
    from coati.strategies.early_stop import EarlyStop
    from coati.strategies.strategy import Strategy

    Build = Callable[[str, int], Strategy]
    Progress = Callable[[str, int | None, int, int], None]


@dataclass(frozen=True, slots=True)
class Cell:
    """One run to be made: a strategy and a seed, None where a seed changes nothing."""

    strategy: str
    seed: int | None


@dataclass(frozen=True, slots=True)
class Result:
    """One run, measured."""

    site: str
    cell: Cell
    totals: SiteTotals
    measures: Measures
    comparison: Comparison
    run: Replay

    def row(self) -> dict[str, object]:
        """Give the result as one flat object; None where a measure is not defined."""
        measures, comparison = asdict(self.measures), asdict(self.comparison)
        requests, targets = measures.pop("requests"), measures.pop("targets")
        return {
            "site": self.site,
            "strategy": self.cell.strategy,
            "seed": self.cell.seed,
            "requests": requests,
            "targets": targets,
            "targets_total": self.totals.targets,
            "urls_total": self.totals.urls,
            **measures,
            **comparison,
            "cpu_seconds": round(self.run.cpu_seconds, 4),
            "stop": self.run.stop,
        }


class SiteStudy:
    """Compares runs on one site. The references are run once, without budget: they are the site's own.

    ``out_links`` tells by name which strategies are to see all out-links of pages.
    """

    def __init__(
        self, site: ReplaySite, build: Build, out_links: Callable[[str], bool] = lambda _: False
    ) -> None:
        self.site = site
        self._out_links = out_links
        self.totals = SiteTotals.of(site.truth)
        self._build = build
        self._best = self._reference("clairvoyant")
        self._plain = self._reference("bfs")

    def run(
        self,
        cells: Sequence[Cell],
        budget: Budget,
        early_stop: Callable[[], EarlyStop | None],
        progress: Progress | None = None,
    ) -> Iterator[Result]:
        """Make the runs in order."""
        for cell in cells:

            def report(requests: int, targets: int, cell: Cell = cell) -> None:
                if progress is not None:
                    progress(cell.strategy, cell.seed, requests, targets)

            strategy = self._build(cell.strategy, cell.seed or 0)
            options = ReplayOptions(out_links=self._out_links(cell.strategy))
            run = replay(self.site, strategy, budget, early_stop(), report, options)
            measures = Measures.of(run.trace, self.totals)
            comparison = Comparison.of(measures, self._best, self._plain)
            yield Result(self.site.name, cell, self.totals, measures, comparison, run)

    def _reference(self, name: str) -> Measures:
        return Measures.of(replay(self.site, self._build(name, 0), Budget()).trace, self.totals)
