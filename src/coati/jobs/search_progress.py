"""The progress of a search for repositories on stderr: a line that stays in place, or one now and then."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from coati.jobs.notebook import Bar, in_notebook, notebook_bar
from coati.jobs.progress_bar import LINE_SECONDS, at_most_every
from coati.units import format_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from coati.budget import Budget
    from coati.discovering.searching import SearchProgress


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
def search_progress_shown(view: SearchView, *, quiet: bool) -> Iterator[Callable[[SearchProgress], None]]:
    """Show progress while the block runs."""
    if quiet:
        yield lambda _: None
        return
    if in_notebook():
        with notebook_bar() as draw:
            yield lambda progress: draw(Bar(view.line(progress), view.share_spent(progress)))
        return
    console = Console(stderr=True, highlight=False)
    if console.is_terminal:
        with Live(console=console, transient=True) as live:
            yield lambda progress: live.update(Text(view.line(progress), no_wrap=True, overflow="ellipsis"))
    else:
        yield at_most_every(LINE_SECONDS, lambda progress: console.print(view.line(progress), soft_wrap=True))
