"""One row of a table against the others: where it wins and loses, and what its settings owe to the sites."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from coati.experiments.measures import SHARES_PCT, in_words
from coati.experiments.runner import Study
from coati.experiments.spec import Variant
from coati.experiments.summaries import Spread, value_of
from coati.experiments.tables import Table

_REQUESTS, _AREA = "requests_to_90_pct", "auc_ratio"
# What rows can be compared by: fewer requests are better, and two rows have a ratio.
_COMPARABLE = (_REQUESTS, *(f"requests_to_{share}_pct" for share in SHARES_PCT), "curve_ratio")
_GAP, _WATCH_GAP = "gap_closed", "watch_gap_closed"

# A difference of less than this share of the requests is neither won nor lost.
_EVEN = 0.005


def wins_table(study: Study, own: str) -> Table:
    """Compare one row with every other, site by site: requests, and areas.

    The requests are those to 90 % of the targets, or those that the experiment measures in their place.
    """
    variants = {variant.label: variant for variant in study.experiment.variants}
    measures = study.experiment.measures
    areas = _AREA in measures
    by = next((measure for measure in _COMPARABLE if measure in measures), _REQUESTS)
    rows = []
    for label, other in variants.items():
        if label == own:
            continue
        ratios = {
            site.name: _median(study, site.name, variants[own], by) / _median(study, site.name, other, by)
            for site in study.sites
        }
        known = {site: ratio for site, ratio in ratios.items() if math.isfinite(ratio)}
        if known:
            area = (_area_difference(study, other, variants[own]),) if areas else ()
            rows.append((label, *_counted(known), *area))
    what = "requests to 90 % of the targets" if by == _REQUESTS else by
    notes = [f"{own}'s median {what} over each other row's; within {_EVEN:.1%} is even."]
    if areas:
        notes.append(
            f"difference of {_AREA}: each other row less {own} with the same seed, mean over seeds, then mean"
            " and standard error over sites."
        )
    header = ("against", *_HEADER, *((f"difference of {_AREA}",) if areas else ()))
    return Table(f"{own} against the others", header, tuple(rows), tuple(notes))


_HEADER = ("won", "even", "lost", "mean ratio", "worst ratio")


def _area_difference(study: Study, variant: Variant, other: Variant) -> str:
    """Return what a row has more than another with the same seeds, in words; empty where nothing is known."""
    of_sites = []
    for site in study.sites:
        own, theirs = (
            {result.seed: value_of(study, result, _AREA) for result in study.of(site.name, row)}
            for row in (variant, other)
        )
        # The one run of a row that needs no seed is compared with every seed of the other.
        pairs = ((own.get(seed, own.get(None)), theirs.get(seed, theirs.get(None))) for seed in own | theirs)
        differences = [mine - yours for mine, yours in pairs if mine is not None and yours is not None]
        if differences:
            of_sites.append(statistics.fmean(differences))
    if not of_sites:
        return ""
    mean = f"{statistics.fmean(of_sites):+.4f}"
    if len(of_sites) == 1:
        return mean
    return f"{mean} ± {statistics.stdev(of_sites) / math.sqrt(len(of_sites)):.4f}"


def _counted(ratios: dict[str, float]) -> tuple[str, ...]:
    won = sum(ratio < 1 - _EVEN for ratio in ratios.values())
    lost = [site for site, ratio in ratios.items() if ratio > 1 + _EVEN]
    worst = max(ratios, key=lambda site: ratios[site])
    return (
        str(won),
        str(len(ratios) - won - len(lost)),
        f"{len(lost)}{' (' + ', '.join(lost) + ')' if lost else ''}",
        f"{statistics.geometric_mean(ratios.values()):.2f}",
        f"{ratios[worst]:.2f} ({worst})",
    )


def halves_table(study: Study) -> Table:
    """Choose the row that closes most of the gap on every other site, and report it on the rest.

    Chosen is among the rows with settings of their own; others are there to compare with, such as the bound.
    """
    names = [site.name for site in study.sites]
    halves = names[::2], names[1::2]
    variants = study.experiment.variants
    choices = [variant for variant in variants if variant.name] or variants
    rows = []
    for chosen_on, reported_on in (halves, halves[::-1]):
        best = max(choices, key=lambda variant: _mean_gap(study, variant, chosen_on))
        there, here = _mean_gap(study, best, chosen_on), _mean_gap(study, best, reported_on)
        rows.append((", ".join(chosen_on), best.label, in_words(there, 3), in_words(here, 3)))
    notes = ("Rows are chosen by the mean gap closed on one half of the sites, and reported on the other.",)
    header = ("chosen on", "row", "gap closed there", "gap closed on the others")
    return Table("Chosen on half of the sites", header, tuple(rows), notes)


def _mean_gap(study: Study, variant: Variant, sites: Sequence[str]) -> float:
    measure = _WATCH_GAP if _WATCH_GAP in study.experiment.measures else _GAP
    gaps = [_median(study, site, variant, measure) for site in sites]
    return statistics.fmean(gaps) if gaps and all(map(math.isfinite, gaps)) else -math.inf


def _median(study: Study, site: str, variant: Variant, measure: str) -> float:
    """Return the median over seeds; not a number where it is not defined."""
    spread = Spread.of([value_of(study, result, measure) for result in study.of(site, variant)])
    return math.nan if spread.median is None else spread.median
