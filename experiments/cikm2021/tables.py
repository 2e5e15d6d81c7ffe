"""Tables of the discovery study beside the main one: coverage by set, domain specificity, the classifier."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from experiments.cikm2021.study import Outcome

_QUARTERS = (0.25, 0.5, 0.75, 1.0)
# Table 2 of the paper, the mean over its six topics.
_PUBLISHED_SPECIFICITY = (0.89, 0.84, 0.78, 0.71)
_RANKING = ("dsdd", "prospect", "bd")


def coverage_table(outcomes: Sequence[Outcome]) -> list[str]:
    """Write Figure 3 of the paper as a table.

    Of the repositories that all methods together found on a web: the share that a method found and another
    found too (intersection), and the share that it alone found (complement).
    """
    methods = list(dict.fromkeys(each.method for each in outcomes))
    shares: dict[str, list[tuple[float, float]]] = {method: [] for method in methods}
    webs = dict.fromkeys((each.topic, each.seed) for each in outcomes)
    for web in webs:
        own = {each.method: each.topical for each in outcomes if (each.topic, each.seed) == web}
        union = frozenset().union(*own.values())
        for method, found in own.items():
            others = frozenset().union(*(other for name, other in own.items() if name != method))
            size = max(1, len(union))
            shares[method].append((len(found & others) / size, len(found - others) / size))
    lines = [
        (
            "Coverage (Figure 3): of the repositories on the topic that the methods of this table found"
            " together, the share that a method found and another did too, and the share that it alone found;"
            " means over topics and seeds:"
        ),
        "",
        "| method | intersection | complement | both |",
        "|---|---|---|---|",
    ]
    for method in methods:
        both, alone = (statistics.mean(part) for part in zip(*shares[method], strict=True))
        lines.append(f"| {method} | {both:.3f} | {alone:.3f} | {both + alone:.3f} |")
    return lines


def specificity_table(outcomes: Sequence[Outcome]) -> list[str]:
    """Write Table 2 of the paper: of the best quarters of the ranked list, the share that is on the topic."""
    methods = [name for name in _RANKING if any(each.method == name for each in outcomes)]
    lines = [
        (
            "Domain specificity (Table 2): of the best 25, 50, 75 and 100 % of the ranked repositories, the"
            " share that is on the topic; means over topics and seeds. Here it is known of each site; the"
            " paper's is by hand, of a sample:"
        ),
        "",
        "| method | 25 % | 50 % | 75 % | 100 % |",
        "|---|---|---|---|---|",
    ]
    for method in methods:
        found = [_specificity(each) for each in outcomes if each.method == method and each.ranked]
        lines.append(f"| {method} | {_cells(map(statistics.mean, zip(*found, strict=True)))} |")
    return [*lines, f"| published (bd+ol) | {_cells(_PUBLISHED_SPECIFICITY)} |"]


def _specificity(outcome: Outcome) -> list[float]:
    shares = []
    for quarter in _QUARTERS:
        best = outcome.ranked[: max(1, math.ceil(quarter * len(outcome.ranked)))]
        shares.append(sum(site in outcome.topical for site in best) / len(best))
    return shares


def precision_table(outcomes: Sequence[Outcome]) -> list[str]:
    """Write how often a page that looked relevant was one of a repository."""
    methods = list(dict.fromkeys(each.method for each in outcomes))
    lines = [
        (
            "The classifier: of the pages that looked relevant, the share that are of repositories, in the"
            " first half of a search and in the last; means over topics and seeds:"
        ),
        "",
        "| method | first half | last half |",
        "|---|---|---|",
    ]
    for method in methods:
        both = zip(*(each.precision for each in outcomes if each.method == method), strict=True)
        lines.append(f"| {method} | {_cells(map(statistics.mean, both))} |")
    return lines


def _cells(values: Iterable[float]) -> str:
    return " | ".join(f"{value:.2f}" for value in values)
