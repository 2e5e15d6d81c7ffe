"""Confusion matrices of link classifiers: the paper's Table 5.

A matrix is a mapping from truth and prediction ("target_as_html") to a count. Only predictions count, not
links whose class a HEAD told. "Neither" is never predicted. The misclassification rate leaves links that are
neither out: pages taken for targets and targets taken for pages, in per cent of all pages and targets. Over
several sites it is that of the mean of the sites' matrices in per cent, so that a large site weighs as much
as a small one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

TRUE_CLASSES = ("html", "target", "neither")
PREDICTED_CLASSES = ("html", "target")

CONFUSIONS = tuple(f"{true}_as_{taken}" for true in TRUE_CLASSES for taken in PREDICTED_CLASSES)


def percentages(matrix: Mapping[str, float]) -> dict[str, float] | None:
    """Return each cell in per cent of all predictions; None where nothing was predicted.

    >>> percentages({"html_as_html": 3, "target_as_target": 1})["html_as_html"]
    75.0
    """
    total = sum(matrix.values())
    return {key: 100 * matrix.get(key, 0) / total for key in CONFUSIONS} if total else None


def mean_matrix(sites: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of the sites' matrices in per cent; sites where nothing was predicted are left out."""
    parts = [part for matrix in sites if (part := percentages(matrix)) is not None]
    return {key: sum(part[key] for part in parts) / len(parts) for key in CONFUSIONS} if parts else {}


def misclassification_pct(matrix: Mapping[str, float]) -> float | None:
    """Return the share of pages and targets that were taken for the other; None where there are none.

    >>> misclassification_pct({"html_as_html": 9, "html_as_target": 1, "target_as_target": 10})
    5.0
    """
    wrong = matrix.get("html_as_target", 0) + matrix.get("target_as_html", 0)
    everything = wrong + matrix.get("html_as_html", 0) + matrix.get("target_as_target", 0)
    return 100 * wrong / everything if everything else None
