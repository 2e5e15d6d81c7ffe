"""A progress bar with a count and the time taken; only on a terminal, and removed at the end."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


def counted_progress(messages: Console) -> Progress:
    """Make the bar; use it as a context manager."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=messages,
        transient=True,
        disable=not messages.is_terminal,
    )
