"""From runs to the numbers of a table: over seeds, over sites, and beside what was published."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coati.experiments.between_rows import BETWEEN_ROWS
from coati.experiments.confusion import mean_matrix, misclassification_pct, percentages
from coati.experiments.measures import confusion_of
from coati.experiments.published import PublishedNumber
from coati.experiments.quantiles import quantile
from coati.experiments.runner import Study, rows
from coati.experiments.site_runs import PLAIN
from coati.experiments.sites import SiteFacts
from coati.experiments.spec import BOUNDS, Experiment, Variant
from coati.experiments.trials import TrialResult
from coati.replaying.measures import Comparison

_COMPARED = frozenset({"clairvoyant_ratio", "curve_ratio", "auc_ratio", "gap_closed"})

# The mean over sites of one sort, in the place of a site's name.
REPLICAS, GENERATED = "mean of archives", "mean of generated"

_QUARTILES_FROM = 4


@dataclass(frozen=True, slots=True)
class Spread:
    """A measure over seeds. None: not defined. Infinity: never reached, by that half or quarter of runs."""

    runs: int
    mean: float | None
    sd: float | None
    median: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread:
        """Sum values up; ``low`` and ``high`` are quartiles, or the extremes of fewer than four values.

        >>> Spread.of([1.0, 3.0, 2.0]).median, Spread.of([1.0, None]).median
        (2.0, None)
        """
        if not values or any(value is None for value in values):
            return cls(len(values), None, None, None, None, None)
        numbers = sorted(value for value in values if value is not None)
        finite = not math.isinf(numbers[-1])
        low, high = numbers[0], numbers[-1]
        if len(numbers) >= _QUARTILES_FROM:
            low, high = quantile(numbers, 0.25), quantile(numbers, 0.75)
        return cls(
            runs=len(numbers),
            mean=statistics.fmean(numbers) if finite else math.inf,
            sd=(statistics.stdev(numbers) if len(numbers) > 1 else 0.0) if finite else None,
            median=quantile(numbers, 0.5),
            low=low,
            high=high,
        )


@dataclass(frozen=True, slots=True)
class TableEntry:
    """One number of a table, with the runs that it is made of and what was published."""

    site: str
    variant: Variant
    measure: str
    values: tuple[tuple[int | None, float | None], ...]
    spread: Spread
    published: PublishedNumber | None


def entries(study: Study) -> Iterator[TableEntry]:
    """Return every number of the table: a row, a measure and a site at a time."""
    experiment = study.experiment
    for variant in shown_rows(experiment):
        for measure in experiment.measures:
            found = [_entry(study, site, variant, measure) for site in study.sites]
            yield from found
            for name, generated in ((REPLICAS, False), (GENERATED, True)):
                among = [e for e, site in zip(found, study.sites, strict=True) if site.generated is generated]
                if len(among) > 1:
                    yield _over_sites(study, name, among)


def shown_rows(experiment: Experiment) -> list[Variant]:
    """List the rows of a table: those of the experiment, then the bounds."""
    hidden = set() if PLAIN in {v.label for v in experiment.variants} else {PLAIN}
    listed = [variant for variant in rows(experiment) if variant.label not in hidden]
    bounds = [variant for variant in listed if variant.label in BOUNDS]
    return [variant for variant in listed if variant not in bounds] + bounds


def value_of(study: Study, result: TrialResult, measure: str) -> float | None:
    """Return a measure of one run."""
    family, _, rest = measure.partition(":")
    if family in {"saved_pct", "lost_pct"}:
        return _early_stop_value(study.experiment, result, family, rest)
    if measure in _COMPARED:
        best, plain = study.reference(result.site, BOUNDS[0]), study.reference(result.site, PLAIN)
        if best is None or plain is None:
            return None
        comparison = Comparison.of(result.measures(), best.measures(), plain.measures())
        value: float | None = getattr(comparison, measure)
        return value
    if measure in BETWEEN_ROWS:
        return BETWEEN_ROWS[measure](study, result)
    if (confusion := confusion_of(measure)) is not None:
        matrix = percentages(result.confusion)
        return None if matrix is None else matrix[confusion]
    return result.values.get(measure)


def _entry(study: Study, site: SiteFacts, variant: Variant, measure: str) -> TableEntry:
    results = study.of(site.name, variant)
    values = tuple((result.seed, value_of(study, result, measure)) for result in results)
    model = next(each.model for each in study.experiment.sites if each.name == site.name)
    published = study.experiment.published.find(variant.strategy, variant.name, model, measure)
    return TableEntry(site.name, variant, measure, values, Spread.of([v for _, v in values]), published)


def _over_sites(study: Study, name: str, among: Sequence[TableEntry]) -> TableEntry:
    """Average over the sites where the measure is defined, seed by seed."""
    variant, measure = among[0].variant, among[0].measure
    seeds = study.experiment.seeds_of(variant.strategy)
    values = []
    for place, seed in enumerate(seeds):
        if measure == "misclassification_pct":
            values.append((seed, misclassification_pct(_mean_matrix(study, among, seed))))
            continue
        defined = [value for entry in among if (value := entry.values[place][1]) is not None]
        values.append((seed, statistics.fmean(defined) if defined else None))
    published = study.experiment.published.find(variant.strategy, variant.name, "", measure)
    return TableEntry(name, variant, measure, tuple(values), Spread.of([v for _, v in values]), published)


def _mean_matrix(study: Study, among: Sequence[TableEntry], seed: int | None) -> dict[str, float]:
    results = [study.results[entry.site, entry.variant.label, seed] for entry in among]
    return mean_matrix(result.confusion for result in results)


def _early_stop_value(experiment: Experiment, result: TrialResult, family: str, name: str) -> float | None:
    rule = next(rule for rule in experiment.early_stops if rule.name == name)
    requests, targets = int(result.values["requests"] or 0), int(result.values["targets"] or 0)
    stopped_requests, stopped_targets = rule.stop(result.found(), requests)
    if family == "saved_pct":
        return 100 * (requests - stopped_requests) / requests if requests else None
    return 100 * (targets - stopped_targets) / targets if targets else None
