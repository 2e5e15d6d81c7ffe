"""The model of ``--relevant model=FILE``: which new links count, by their words."""

from __future__ import annotations

from pathlib import Path

from coati.settings.start_model_file import read_start_model
from coati.strategies.discovery.start_model import NO_MODEL, StartModel
from coati.strategies.revisits.relevance import MODEL


def relevance_model(relevant: str) -> StartModel:
    """Read the file that a text names (`coati learn pages` writes one); `NO_MODEL` where it names none."""
    path = _path(relevant)
    return NO_MODEL if path is None else read_start_model(path)


def with_whole_path(relevant: str) -> str:
    """Return the text with the whole path of its model, so that it means the same from any folder.

    >>> with_whole_path("keywords=budget")
    'keywords=budget'
    """
    path = _path(relevant)
    return relevant if path is None else f"{MODEL}{path.absolute()}"


def _path(relevant: str) -> Path | None:
    text = relevant.strip()
    return Path(text.removeprefix(MODEL)) if text.startswith(MODEL) and text != MODEL else None
