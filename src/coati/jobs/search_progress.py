"""How a search for repositories is going, on stderr: a line that stays in place, or one now and then."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coati.cli.terminal import say
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
            say(view.line(progress), err=True)

    yield tell
    if terminal:
        sys.stderr.write("\r" + " " * 100 + "\r")
        sys.stderr.flush()
