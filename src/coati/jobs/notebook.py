"""Progress in a notebook: a bar below the cell that is drawn again in its place, without widgets."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module

from coati.reporting.safe_html import element, joined


def in_notebook() -> bool:
    """Tell whether this is a notebook."""
    if not hasattr(builtins, "get_ipython"):
        return False
    # Nobody else waits for it.
    from rich.console import Console

    return Console().is_jupyter


def is_shown(show_progress: bool | None) -> bool:  # noqa: FBT001 - as the functions of the library take it
    """Tell whether progress is to be shown: as the caller says, else in notebooks."""
    return in_notebook() if show_progress is None else show_progress


@dataclass(frozen=True, slots=True)
class Bar:
    """A line of words and the share that is done, as notebooks display it; no bar without a share.

    >>> Bar("5 of 10 requests", 0.5)._repr_html_()
    '<progress max="1" value="0.50"></progress> 5 of 10 requests'
    """

    line: str
    share: float | None = None

    def __repr__(self) -> str:
        return self.line

    def _repr_html_(self) -> str:
        if self.share is None:
            return joined(self.line)
        return joined(element("progress", max="1", value=f"{self.share:.2f}"), " ", self.line)


@contextmanager
def notebook_bar() -> Iterator[Callable[[Bar], None]]:
    """Keep a place below the cell for the length of a block; return what draws a bar there."""
    # No dependency of ours: it is there wherever `in_notebook` is true.
    handle = import_module("IPython.display").display(Bar("Starting …"), display_id=True)
    yield handle.update
    # What follows is the result, which says the same and more.
    handle.update(Bar(""))
