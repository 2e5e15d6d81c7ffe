"""The progress of a long job: a bar in a notebook, or on stderr a bar or a line now and then."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec

from coati.jobs.notebook import Bar, in_notebook, is_shown, notebook_bar
from coati.web.invisible_characters import safe

# A terminal is drawn a few times per second; a log gets a line when there is news worth one.
_DRAW_SECONDS = 0.1
LINE_SECONDS = 5.0
# The callbacks of many sites together are told no more often than those of a crawl.
PROGRESS_SECONDS = 0.5

P = ParamSpec("P")


@contextmanager
def progress(
    label: str,
    show_progress: bool | None,  # noqa: FBT001 - as the functions of the library take it
    on_progress: Callable[[int, int], None] | None,
) -> Iterator[Callable[[int, int], None]]:
    """Show the progress of a job, in notebooks or as ``show_progress`` says, and tell ``on_progress`` of it.

    Returns what to call with (done, total), as often as one likes.
    """
    if not is_shown(show_progress):
        yield on_progress or (lambda _done, _total: None)
    elif in_notebook():
        with _notebook() as draw:
            yield both(lambda done, total: draw(label, done, total), on_progress)
    elif sys.stderr.isatty():
        with _bar(label) as show:
            yield both(at_most_every(_DRAW_SECONDS, show), on_progress)
    else:
        tell = at_most_every(LINE_SECONDS, lambda done, total: _line(label, done, total))
        yield both(tell, on_progress)


@contextmanager
def progress_of_steps(
    show_progress: bool | None,  # noqa: FBT001 - as the functions of the library take it
    on_progress: Callable[[str, int, int], None] | None,
) -> Iterator[Callable[[str, int, int], None]]:
    """Show the progress of a job with several steps; return what to call with (step, done, total).

    Only notebooks and terminals show it.
    """
    if not is_shown(show_progress):
        yield on_progress or (lambda _step, _done, _total: None)
    elif in_notebook():
        with _notebook() as draw:
            yield both(draw, on_progress)
    else:
        with _steps() as show:
            yield both(show, on_progress)


@contextmanager
def progress_of_count(
    what: str,
    show_progress: bool | None,  # noqa: FBT001 - as the functions of the library take it
    on_progress: Callable[[int], None] | None,
) -> Iterator[Callable[[int], None]]:
    """Show the progress of a job whose length nobody knows; return what to call with the number of things."""
    if not is_shown(show_progress):
        yield on_progress or (lambda _count: None)
    elif in_notebook():
        with notebook_bar() as draw:
            show = at_most_every(_DRAW_SECONDS, lambda count: draw(Bar(f"{count:,} {what}")), at_once=True)
            yield both(show, on_progress)
    else:
        tell = at_most_every(LINE_SECONDS, lambda count: print(f"{count:,} {what}", file=sys.stderr))  # noqa: T201
        yield both(tell, on_progress)


@contextmanager
def _notebook() -> Iterator[Callable[[str, int, int], None]]:
    """Draw a bar below the cell, a few times per second, and whenever a step is done."""
    drawn_at = -math.inf
    with notebook_bar() as draw:

        def show(step: str, done: int, total: int) -> None:
            nonlocal drawn_at
            now = time.monotonic()
            if done >= total or now - drawn_at >= _DRAW_SECONDS:
                drawn_at = now
                draw(Bar(f"{step}: {done:,} of {total:,}", min(done / max(total, 1), 1.0)))

        yield show


@contextmanager
def _steps() -> Iterator[Callable[[str, int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # What is printed on stdout meanwhile are results, and stay there.
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal, redirect_stdout=False
    ) as bar:
        task = bar.add_task("", total=None)

        def show(step: str, done: int, total: int) -> None:
            bar.update(task, description=safe(step), completed=done, total=total)

        yield show


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


def at_most_every(seconds: float, show: Callable[P, None], *, at_once: bool = False) -> Callable[P, None]:
    """Return what may be called as often as one likes, and shows something at most this often.

    Where it shows nothing ``at_once``, a job that takes no longer than that shows nothing.
    """
    shown_at = -math.inf if at_once else time.monotonic()

    def maybe(*args: P.args, **kwargs: P.kwargs) -> None:
        nonlocal shown_at
        now = time.monotonic()
        if now - shown_at >= seconds:
            shown_at = now
            show(*args, **kwargs)

    return maybe
