"""The progress of a long job on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec

from coati.web.invisible_characters import safe

# A terminal is drawn a few times per second; a log gets a line when there is news worth one.
_DRAW_SECONDS = 0.1
LINE_SECONDS = 5.0

P = ParamSpec("P")


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show the progress of a job; return what to call with (done, total), as often as one likes."""
    if sys.stderr.isatty():
        with _bar(label) as show:
            yield at_most_every(_DRAW_SECONDS, show)
    else:
        yield at_most_every(LINE_SECONDS, lambda done, total: _line(label, done, total))


@contextmanager
def _bar(label: str) -> Iterator[Callable[[int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield show


def _line(label: str, done: int, total: int) -> None:
    print(safe(f"{label}: {100 * done // max(total, 1)} %"), file=sys.stderr)  # noqa: T201 - a line of progress


def both(first: Callable[P, None], second: Callable[P, None] | None) -> Callable[P, None]:
    """Return what tells two; the second may not be there."""
    if second is None:
        return first
    also = second

    def tell(*args: P.args, **kwargs: P.kwargs) -> None:
        first(*args, **kwargs)
        also(*args, **kwargs)

    return tell


def at_most_every(seconds: float, show: Callable[P, None]) -> Callable[P, None]:
    """Return what may be called as often as one likes, and shows something at most this often."""
    shown_at = time.monotonic()

    def maybe(*args: P.args, **kwargs: P.kwargs) -> None:
        nonlocal shown_at
        now = time.monotonic()
        if now - shown_at >= seconds:
            shown_at = now
            show(*args, **kwargs)

    return maybe
