"""One run over a site, measured, beside what could be reached at best."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from coati.replaying.driver import Replay
from coati.replaying.measures import Comparison, Measures, SiteTotals


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run of a strategy on a site; ``seed`` is None where a seed changes nothing.

    ``bound``: the strategy is what others are measured against.
    """

    site: str
    strategy: str
    seed: int | None
    totals: SiteTotals
    measures: Measures
    comparison: Comparison
    run: Replay
    bound: bool = False

    def row(self) -> dict[str, object]:
        """Return the result as one flat object; None where a measure is not defined."""
        measures, comparison = asdict(self.measures), asdict(self.comparison)
        requests, targets = measures.pop("requests"), measures.pop("targets")
        return {
            "site": self.site,
            "strategy": self.strategy,
            "seed": self.seed,
            "requests": requests,
            "targets": targets,
            "targets_total": self.totals.targets,
            "urls_total": self.totals.urls,
            **measures,
            **comparison,
            "cpu_seconds": round(self.run.cpu_seconds, 4),
            "stop": self.run.stop,
        }
