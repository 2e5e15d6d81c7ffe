"""The progress of a search for repositories on stderr: a line that stays in place, or one now and then."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coati.jobs.notebook import Bar, in_notebook, notebook_bar
from coati.units import format_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from coati.budget import Budget
    from coati.discovering.searching import SearchProgress

_LINE_SECONDS = 5.0
_DRAW_SECONDS = 0.25


@dataclass(slots=True)
class SearchView:
    """Says in words where a search stands."""

    budget: Budget

    def share_spent(self, progress: SearchProgress) -> float | None:
        """Say which part of the requests is spent; None without a budget of them."""
        most = self.budget.max_requests
        return None if most is None else min(progress.crawl.requests / most, 1.0)

    def line(self, progress: SearchProgress) -> str:
        """Return the line."""
        requests = format_count(progress.crawl.requests, "request")
        if self.budget.max_requests is not None:
            requests = f"{progress.crawl.requests:,} of {self.budget.max_requests:,} requests"
        return (
            f"{requests}: {format_count(progress.pages_analysed, 'page')} analysed,"
            f" {format_count(progress.sites_checked, 'site')} checked,"
            f" {format_count(progress.repositories, 'repository', 'repositories')} verified"
        )


@contextmanager
def shown_search(view: SearchView, *, quiet: bool) -> Iterator[Callable[[SearchProgress], None]]:
    """Show progress while the block runs."""
    if quiet:
        yield lambda _: None
        return
    if in_notebook():
        with notebook_bar() as draw:
            yield lambda progress: draw(Bar(view.line(progress), view.share_spent(progress)))
        return
    told_at = time.monotonic()
    terminal = sys.stderr.isatty()
    seconds = _DRAW_SECONDS if terminal else _LINE_SECONDS

    def tell(progress: SearchProgress) -> None:
        nonlocal told_at
        now = time.monotonic()
        if now - told_at < seconds:
            return
        told_at = now
        if terminal:
            sys.stderr.write(f"\r{view.line(progress):<100}")
            sys.stderr.flush()
        else:
            print(view.line(progress), file=sys.stderr)  # noqa: T201 - a line of progress

    yield tell
    if terminal:
        sys.stderr.write("\r" + " " * 100 + "\r")
        sys.stderr.flush()
