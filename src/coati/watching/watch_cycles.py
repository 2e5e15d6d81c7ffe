"""`coati.watch`: what the command does, as a function, and what it returns."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from coati.errors import ConfigError
from coati.jobs.arguments import PathText, checked_arguments, count_of, texts_of
from coati.jobs.live_progress import CrawlView, progress_shown
from coati.jobs.notebook import is_shown
from coati.jobs.notebook_tables import rows_table
from coati.jobs.options import plain_values
from coati.jobs.own_event_loop import run_with_own_loop
from coati.jobs.progress_bar import both
from coati.jobs.runs import Run
from coati.live.progress import OnProgress
from coati.live.stop_signal import StopSignal
from coati.runs.changes_file import Change
from coati.runs.errors import RunLockedError
from coati.settings.run_file import read_values
from coati.stop_reasons import StopReason
from coati.watching.cycle import CycleResult
from coati.watching.notifying import ChangeListeners
from coati.watching.watch import WatchPlace, find_watch, next_cycle, watch_once
from coati.watching.watch_options import WATCH_OPTIONS, WatchKeywords, WatchOptions, with_options

# The exit code of a watch whose site has other addresses now.
MOVED = 3
# The clock may jump; waiting in steps notices.
_STEP_SECONDS = 60.0


@dataclass(frozen=True, slots=True, repr=False)
class WatchResult:
    """What `coati.watch` returns; ``cycles`` are those of this call, the last of which says why it ended."""

    place: WatchPlace
    cycles: tuple[CycleResult, ...]

    def __fspath__(self) -> str:
        return str(self.folder)

    @property
    def folder(self) -> Path:
        """The folder of the watch, which is a run folder too."""
        return self.place.folder

    @property
    def run(self) -> Run:
        """The run, for reading."""
        return Run(self.folder)

    @property
    def changes(self) -> list[Change]:
        """What these cycles found to be new, changed or gone; ``changes.jsonl`` also has earlier ones."""
        return [change for cycle in self.cycles for change in cycle.changes]

    @property
    def stop(self) -> StopReason:
        """Why the last cycle ended."""
        return self.cycles[-1].stop

    @property
    def moved(self) -> bool:
        """Whether nearly all watched pages are gone, so that the site has other addresses."""
        return self.cycles[-1].moved

    @property
    def exit_code(self) -> int:
        """The exit status of a command that made this watch."""
        return MOVED if self.moved else self.stop.exit_code

    def __repr__(self) -> str:
        changes, cycles = len(self.changes), len(self.cycles)
        return (
            f"<WatchResult {str(self.folder)!r}: {changes} change{'' if changes == 1 else 's'}"
            f" in {cycles} cycle{'' if cycles == 1 else 's'}; {self.stop.value}>"
        )

    def _repr_html_(self) -> str:
        rows: list[dict[str, object]] = [
            {"change": each.what, "url": each.url, "title": each.title, "seen": each.seen_at}
            for each in self.changes
        ]
        return rows_table(f"Changes in {self.folder}", rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleCallbacks:
    """Callbacks of a watch: for each cycle when it ended, for waits, and for the progress of its requests.

    ``on_skipped`` gets the reason why a cycle was left out.
    """

    on_cycle: Callable[[CycleResult], None] | None = None
    on_wait: Callable[[float], None] | None = None
    on_skipped: Callable[[str], None] = lambda _: None
    on_progress: OnProgress | None = None


@checked_arguments
def watch(  # noqa: PLR0913 - one argument per option of the command
    source: PathText | Iterable[PathText],
    *,
    cycles: int | None = 1,
    out: str | Path | None = None,
    exec: str = "",  # noqa: A002 - as the option is called
    notify: str = "",
    on_cycle: Callable[[CycleResult], None] | None = None,
    on_progress: OnProgress | None = None,
    stop: StopSignal | None = None,
    show_progress: bool | None = None,
    **options: Unpack[WatchKeywords],
) -> WatchResult:
    """Find new and changed files on known sites with few requests, and return the changes.

    ``source`` is the folder of a finished crawl (or several), a file with one page per line, or the folder of
    a watch to resume; the first cycle only looks. ``cycles`` are run one after the other, ``every`` so often;
    None runs until ``stop`` is set. The command ``exec`` and the web hook ``notify`` are told of each change.
    Others are the settings of ``coati watch``; what is left out stays as it was.
    """
    if cycles is not None:
        count_of("cycles", cycles)
    given = plain_values(options, WatchKeywords.__annotations__)
    own = {name: value for name, value in given.items() if name in WATCH_OPTIONS}
    # A mistake is told before anything is looked up.
    with_options(WatchOptions(), own)
    place = find_watch(
        [Path(each) for each in texts_of("source", source)],
        own,
        None if out is None else Path(out),
        read_values({name: value for name, value in given.items() if name not in WATCH_OPTIONS}),
    )
    stop = stop or StopSignal()
    view = CrawlView(place.known.settings.budget)
    with progress_shown(view, quiet=not is_shown(show_progress)) as show:
        callbacks = CycleCallbacks(on_cycle=on_cycle, on_progress=both(show, on_progress))
        listeners = ChangeListeners.named(exec, notify)
        return run_with_own_loop(lambda: watch_cycles(place, cycles, listeners, callbacks, stop), stop)


def watch_cycles(
    place: WatchPlace,
    cycles: int | None,
    listeners: ChangeListeners,
    callbacks: CycleCallbacks,
    stop: StopSignal,
) -> WatchResult:
    """Run cycles one after the other, until the site has moved or somebody stops it.

    A site that is down is tried again in the next cycle; cycles that were missed are skipped, and so is one
    that another process is at (but the first: two watches of one folder are a mistake).
    """
    if cycles is not None and cycles < 1:
        raise ConfigError(f"cycles is {cycles}: it must be at least 1, or None for no end")
    stopped = threading.Event()
    stop.attach(stopped.set)
    # Of a watch without end only the last cycle is kept: what changed stands in its folder.
    done: list[CycleResult] = []
    while True:
        try:
            result = watch_once(place, time.time, listeners, callbacks.on_progress, stop)
        except RunLockedError as error:
            if not done:
                raise
            callbacks.on_skipped(str(error))
        else:
            done = [result] if cycles is None else [*done, result]
            if callbacks.on_cycle is not None:
                callbacks.on_cycle(result)
        if (
            done[-1].moved
            or done[-1].stop is StopReason.INTERRUPTED
            or len(done) == cycles
            or stopped.is_set()
        ):
            return WatchResult(place, tuple(done))
        next_start = next_cycle(place.options.every, time.time())
        if callbacks.on_wait is not None:
            callbacks.on_wait(next_start)
        if _wait_until(next_start, stopped):
            return WatchResult(place, tuple(done))


def _wait_until(at: float, stopped: threading.Event) -> bool:
    """Wait for a time; tells whether the watch was stopped before."""
    while (left := at - time.time()) > 0 and not stopped.wait(min(left, _STEP_SECONDS)):
        pass
    return stopped.is_set()
