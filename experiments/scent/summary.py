"""What the cells of the study say, by site and variant: medians over seeds, and what follows from them."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

REQUESTS = "requests_to_90_pct"
_FEWEST_FOR_QUARTILES = 2


class Row(NamedTuple):
    """One run and its measures."""

    site: str
    variant: str
    seed: int
    measures: dict[str, Any]


class Results:
    """The runs of some sites."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in rows:
            self._rows.setdefault((row.site, row.variant), []).append(row.measures)
        self.sites = sorted({site for site, _ in self._rows})

    def runs(self, site: str, variant: str) -> list[dict[str, Any]]:
        """Give the measures of every seed."""
        return self._rows.get((site, variant), [])

    def has(self, variant: str) -> bool:
        """Tell whether a variant was run on every site."""
        return bool(self.sites) and all(self.runs(site, variant) for site in self.sites)

    def values(self, site: str, variant: str, measure: str = REQUESTS) -> list[float]:
        """Give a measure over the seeds; what was never reached is infinite."""
        return [
            math.inf if run.get(measure) is None else float(run[measure]) for run in self.runs(site, variant)
        ]

    def median(self, site: str, variant: str, measure: str = REQUESTS) -> float:
        """Give the median over the seeds; not a number if there is none."""
        values = self.values(site, variant, measure)
        return statistics.median(values) if values else math.nan

    def quartiles(self, site: str, variant: str, measure: str = REQUESTS) -> tuple[float, float]:
        """Give the lower and the upper quartile over the seeds."""
        values = self.values(site, variant, measure)
        if len(values) < _FEWEST_FOR_QUARTILES or math.inf in values:
            return min(values, default=math.nan), max(values, default=math.nan)
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
        return low, high

    # --- against the bounds ---------------------------------------------------------------------

    def gap_closed(self, site: str, variant: str) -> float:
        """Give how much of the way from breadth-first to CLAIRVOYANT was made."""
        plain, best = self.median(site, "bfs"), self.median(site, "clairvoyant")
        return (plain - self.median(site, variant)) / (plain - best) if plain != best else math.nan

    def ratio(self, site: str, variant: str, other: str) -> float:
        """Give the requests of a variant over those of another."""
        return self.median(site, variant) / self.median(site, other)

    def auc_ratio(self, site: str, variant: str) -> float:
        """Give the area under the curve over CLAIRVOYANT's."""
        return self.median(site, variant, "auc") / self.median(site, "clairvoyant", "auc")

    def mean_gap(self, variant: str, sites: Sequence[str] | None = None) -> float:
        """Give the mean over sites."""
        return statistics.fmean(self.gap_closed(site, variant) for site in sites or self.sites)

    def mean_ratio(self, variant: str) -> float:
        """Give the geometric mean of the ratio to CLAIRVOYANT."""
        return statistics.geometric_mean(self.ratio(site, variant, "clairvoyant") for site in self.sites)

    def mean_auc_ratio(self, variant: str) -> float:
        """Give the mean over sites."""
        return statistics.fmean(self.auc_ratio(site, variant) for site in self.sites)


def best_of(results: Results, site: str, variants: Iterable[str]) -> str:
    """Give the variant that needed the fewest requests on a site."""
    return min(variants, key=lambda variant: results.median(site, variant))
