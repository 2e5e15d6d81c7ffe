"""Where PyTorch comes from: an optional library, imported when something is built with it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from coati.errors import UsageError


def pytorch() -> Any:  # noqa: ANN401 - the library is optional, and so are its types
    """Return the module ``torch``; without it, say how to get it."""
    try:
        return import_module("torch")
    except ImportError as error:
        raise UsageError(
            "tres needs PyTorch: pip install 'coati[tres]' (its CPU build is enough), tres-light nothing"
        ) from error
