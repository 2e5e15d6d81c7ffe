"""Errors of experiments that are described correctly."""

from __future__ import annotations

from coati.errors import CoatiError


class ExperimentError(CoatiError):
    """A run could not be finished; what was finished before is kept, and the same command resumes."""


class MissingExtraError(CoatiError):
    """A library is missing that only experiments need."""


def missing_extra(library: str, purpose: str) -> MissingExtraError:
    """Build the error for a library that is not installed."""
    return MissingExtraError(
        f"{purpose} needs the library {library}, which is not installed: "
        "install Coati with its extra `experiments`"
    )
