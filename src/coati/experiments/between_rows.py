"""Measures that compare a run with the other rows on the same site with the same seed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coati.experiments.runner import Study
    from coati.experiments.trials import TrialResult


def _watch_gap_closed(study: Study, result: TrialResult) -> float | None:
    own, best, *plain = (
        None if run is None else run.values.get("coverage")
        for run in (result, *(study.reference(result.site, name) for name in ("greedy", "rr", "od-win")))
    )
    known = [value for value in plain if value is not None]
    if own is None or best is None or len(known) < len(plain) or best <= max(known):
        return None
    return (own - max(known)) / (best - max(known))


def _repositories_of_others(study: Study, result: TrialResult) -> set[str]:
    same_web = (
        other.repositories
        for (site, _, seed), other in study.results.items()
        if (site, seed) == (result.site, result.seed) and other is not result
    )
    return set().union(*same_web)


def _intersection(study: Study, result: TrialResult) -> float | None:
    own, others = set(result.repositories), _repositories_of_others(study, result)
    return len(own & others) / len(own | others) if own | others else None


def _complement(study: Study, result: TrialResult) -> float | None:
    own, others = set(result.repositories), _repositories_of_others(study, result)
    return len(own - others) / len(own | others) if own | others else None


def _ratio(study: Study, result: TrialResult, *, of: str, to: str) -> float | None:
    """Divide a measure by that of another row."""
    other = study.results.get((result.site, to, result.seed))
    own, theirs = (None if run is None else run.values.get(of) for run in (result, other))
    return own / theirs if own is not None and theirs else None


def _targets_to_way(study: Study, result: TrialResult, *, way: str) -> float | None:
    """Divide the targets by those of the first row that spends the budget in this way."""
    rows = study.experiment.variants
    label = next((row.label for row in rows if row.spending.way == way), "")
    return _ratio(study, result, of="targets", to=label)


BETWEEN_ROWS: Mapping[str, Callable[[Study, TrialResult], float | None]] = {
    "watch_gap_closed": _watch_gap_closed,
    "intersection": _intersection,
    "complement": _complement,
    "dataset_pages_to_kw": partial(_ratio, of="dataset_pages", to="dsdd-kw"),
    "on_topic_dataset_pages_to_kw": partial(_ratio, of="on_topic_dataset_pages", to="dsdd-kw"),
    "repositories_to_dsdd": partial(_ratio, of="repositories", to="dsdd"),
    "targets_to_knowing": partial(_targets_to_way, way="knowing"),
    "targets_to_equal_split": partial(_targets_to_way, way="equal-split"),
}
