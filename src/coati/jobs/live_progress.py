"""The progress of a live crawl on stderr: lines that stay in place on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from coati.budget import Budget
from coati.jobs.notebook import Bar, notebook_bar
from coati.jobs.progress_bar import LINE_SECONDS
from coati.live.event_lines import event_line
from coati.live.progress import Event, EventKind, Progress
from coati.stop_reasons import StopReason
from coati.strategies.stopping.stop_when_dry import StopWhenDry
from coati.units import format_bytes, format_count, format_seconds
from coati.web.invisible_characters import safe

_DRAWS_PER_SECOND = 4
_BAR_WIDTH = 30

# A terminal writes ^C behind what is shown. In a full line it would break that line, and leave a trace.
_MARGIN = 4

# Shorter waits are the usual delay between requests, or soon over.
_LONG_WAIT_SECONDS = 2.0

_CUT = "… > "

INTERRUPTING = "Stopping: finishing and saving requests in flight. Press Ctrl-C again to stop at once."


@dataclass(slots=True)
class CrawlView:
    """What is known about a running crawl; drivers report to it, and it puts that in words.

    ``seconds_before`` is the time that the run took before the driver began.
    """

    budget: Budget
    early_stop: StopWhenDry | None = None
    seconds_before: float = 0.0
    clock: Callable[[], float] = time.monotonic
    progress: Progress = field(default_factory=Progress)
    _told_at: float = 0.0
    stopping: StopReason | None = None
    # Where each event is told in a line, if somebody wants that.
    say: Callable[[str], None] | None = None

    def on_progress(self, progress: Progress) -> None:
        """Take what the driver counts."""
        self.progress = progress
        self._told_at = self.clock()

    def on_event(self, event: Event) -> None:
        """Take note of the event, and print it for verbose output."""
        if event.what is EventKind.STOPPING:
            self.stopping = StopReason(str(event.data["reason"]))
        if self.say is not None and (line := event_line(event)):
            self.say(line)

    @property
    def seconds(self) -> float:
        """The time of all sessions, now."""
        return self.seconds_before + self.progress.seconds + self._since_told

    @property
    def _since_told(self) -> float:
        return self.clock() - self._told_at if self._told_at else 0.0

    def counts(self) -> str:
        """Say what was done."""
        progress = self.progress
        parts = [
            f"{self.progress.requests:,} requests",
            f"{progress.targets:,} {'target' if progress.targets == 1 else 'targets'}",
            f"{progress.requests_per_second:.1f}/s",
            format_bytes(progress.bytes),
        ]
        if progress.failures:
            parts.append(format_count(progress.failures, "failure"))
        if progress.deferred:
            parts.append(f"{progress.deferred:,} to retry")
        if progress.archived:
            parts.append(f"{progress.archived:,} from the archive")
        return ", ".join(parts)

    def share_spent(self) -> float | None:
        """Say which part of the budget is spent, by the limit that is nearest; None without a budget."""
        budget, progress = self.budget, self.progress
        shares = [
            spent / limit
            for spent, limit in (
                (self.progress.requests, budget.max_requests),
                (progress.bytes, budget.max_bytes),
                (self.seconds, budget.max_seconds),
                (progress.targets, budget.max_targets),
            )
            if limit is not None
        ]
        return min(max(shares), 1.0) if shares else None

    def time_left(self) -> str:
        """Say how much time the budget leaves at the present rate; empty if it does not limit the time."""
        budget, progress = self.budget, self.progress
        rate = progress.requests_per_second
        bounds = []
        if budget.max_seconds is not None:
            bounds.append(budget.max_seconds - self.seconds)
        if budget.max_requests is not None and rate > 0:
            bounds.append((budget.max_requests - self.progress.requests) / rate)
        return f"at most {format_seconds(max(0.0, min(bounds)))} left" if bounds else ""

    def best_group(self, width: int) -> str:
        """Say which group of links pays best, if any does."""
        best = self.progress.best_arm
        if best is None or best.reward <= 0:
            return ""
        targets = format_count(round(best.reward), "target")
        brought = f" ({targets} from {format_count(best.pulls, 'page')})"
        return shortened_path(best.label, width - len(brought)) + brought

    def expected(self) -> str:
        """Say what further requests would bring."""
        estimate = None if self.early_stop is None else self.early_stop.estimate
        return "" if estimate is None else estimate.in_words()

    def resting(self) -> str:
        """Say whom the crawl waits for, if that takes long."""
        progress = self.progress
        if not progress.waits and progress.deferred and not progress.in_flight:
            waiting = format_count(progress.deferred, "URL")
            return f"waiting for {waiting} that could not be reached"
        if not self.progress.waits:
            return ""
        host, (seconds, why) = max(self.progress.waits.items(), key=lambda item: item[1].seconds)
        left = seconds - self._since_told
        return f"waiting {format_seconds(left)} for {host} ({why})" if left >= _LONG_WAIT_SECONDS else ""

    def line(self) -> str:
        """Say it all in one line, as a log wants it."""
        expected = self.expected()
        parts = [self.counts(), f"to come: {expected}" if expected else "", self.time_left(), self.resting()]
        return "; ".join(part for part in parts if part)


def shortened_path(path: str, width: int) -> str:
    """Cut a tag path to a width; its end says most.

    >>> shortened_path("html > body > div#page > ul.downloads > li > a", 28)
    '… > ul.downloads > li > a'
    """
    if len(path) <= width:
        return path
    kept = path[len(path) - max(1, width - len(_CUT)) :]
    return _CUT + (kept.partition(" > ")[2] or kept)


@contextmanager
def progress_shown(
    view: CrawlView, *, quiet: bool, verbose: bool = False
) -> Iterator[Callable[[Progress], None]]:
    """Show a view for the length of a block; return what the driver calls with its progress."""
    console = Console(stderr=True, highlight=False)
    if verbose:
        view.say = lambda text: console.print(safe(text), soft_wrap=True, markup=False)
    if quiet:
        yield view.on_progress
    elif console.is_jupyter:
        with notebook_bar() as draw:
            yield lambda progress: _draw_bar(view, progress, draw)
    elif console.is_terminal:
        with Live(
            get_renderable=lambda: _block(view, console.width - _MARGIN),
            console=console,
            refresh_per_second=_DRAWS_PER_SECOND,
            transient=True,
        ):
            yield view.on_progress
    else:
        yield _lines(view, console)


def _draw_bar(view: CrawlView, progress: Progress, draw: Callable[[Bar], None]) -> None:
    view.on_progress(progress)
    draw(Bar(view.line(), view.share_spent()))


def _lines(view: CrawlView, console: Console) -> Callable[[Progress], None]:
    said_at = view.clock()

    def tell(progress: Progress) -> None:
        nonlocal said_at
        view.on_progress(progress)
        if view.clock() - said_at >= LINE_SECONDS:
            said_at = view.clock()
            console.print(safe(view.line()), soft_wrap=True, markup=False)

    return tell


_SPINNER = Spinner("dots")


def _block(view: CrawlView, width: int) -> RenderableType:
    """Draw the lines that stay in place; none is wider than the terminal."""
    head = Table.grid(padding=(0, 1))
    counts = Text(view.counts(), no_wrap=True)
    counts.truncate(width - 2, overflow="ellipsis")
    head.add_row(_SPINNER, counts)
    lines: list[RenderableType] = [head]
    share = view.share_spent()
    if share is not None:
        bar = Table.grid(padding=(0, 1))
        text = f"{100 * share:.0f} % of the budget"
        left = view.time_left()
        bar.add_row(" ", ProgressBar(1.0, share, _BAR_WIDTH), Text(f"{text}, {left}" if left else text))
        lines.append(bar)
    else:
        lines.append(_detail("time", f"{format_seconds(view.seconds)}; no budget set", width))
    for name, text in (
        ("best group", view.best_group(width - 14)),
        ("to come", view.expected()),
        ("now", view.resting()),
    ):
        if text:
            lines.append(_detail(name, text, width))
    if view.stopping is StopReason.INTERRUPTED:
        lines.append(Text(INTERRUPTING, style="yellow", overflow="fold"))
    return Group(*lines)


def _detail(name: str, text: str, width: int) -> Text:
    line = Text(f"  {name}: ", style="dim", no_wrap=True)
    line.append(safe(text), style="default")
    line.truncate(width, overflow="ellipsis")
    return line
