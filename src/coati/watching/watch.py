"""The folder of a watch and what it starts from, and one cycle of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from coati.errors import ConfigError, UsageError
from coati.file_lock import FileHeldError, FileLock
from coati.live.plan import CrawlPlan
from coati.live.progress import OnProgress
from coati.live.stop_signal import StopSignal
from coati.reporting.report_file import write_report
from coati.runs.errors import RunLockedError
from coati.runs.layout import Layout, holds_run, is_free
from coati.settings.relevance_model import with_whole_path
from coati.settings.run_file import require_no_hidden, with_values
from coati.watching.cycle import CycleResult, new_site_watch, publish, run_cycle
from coati.watching.known_pages import KnownPages, read_known
from coati.watching.notifying import ChangeListeners, report_changes
from coati.watching.watch_options import (
    FILE_NAME,
    WatchOptions,
    read_options,
    require_politeness,
    with_options,
    write_options,
)
from coati.web.urls import host_of

# What a watch that was killed in its first moments leaves behind.
_BEGUN = frozenset({"state", "watch.toml.new"})


@dataclass(frozen=True, slots=True)
class WatchPlace:
    """A watch that is ready to run: its folder, what it begins from, and how it continues.

    ``notes`` say what differs from its folder.
    """

    folder: Path
    options: WatchOptions
    known: KnownPages
    resumed: bool
    notes: tuple[str, ...] = ()


def is_watch(folder: Path) -> bool:
    """Tell whether a folder holds a watch."""
    return (folder / FILE_NAME).is_file()


def folder_beside(source: Path) -> Path:
    """Return the folder of a watch of a crawl or a list, if none is named."""
    return source.with_name(source.name.removesuffix(".txt") + ".watch")


def find_watch(
    sources: Sequence[Path],
    given: Mapping[str, object],
    out: Path | None,
    changed: Mapping[str, object] | None = None,
) -> WatchPlace:
    """Find the watch that is meant: the folder of one, or the sources of a new or resumed one.

    ``given`` are options by name, ``changed`` the settings of the crawl that this watch changes. The
    folder of a new watch is ``out``, or stands beside its first source.
    """
    notes: list[str] = []
    if len(sources) == 1 and is_watch(sources[0]):
        folder = sources[0]
        if out is not None and out.resolve() != folder.resolve():
            raise UsageError(f"{folder} is the folder of a watch, but --out names another folder")
        options = read_options(folder, given, notes)
        known = _known(options.sources, folder)
    else:
        for source in filter(is_watch, sources):
            raise UsageError(f"{source} is the folder of a watch: to resume it, give no other source")
        known = read_known(sources)
        folder = out or folder_beside(sources[0])
        named = {"sources": tuple(str(source.absolute()) for source in sources)}
        if is_watch(folder):
            options = read_options(folder, {**given, **named}, notes)
        elif not is_free(folder, _BEGUN):
            raise ConfigError(f"{folder} holds something else than a watch; choose a new folder with --out")
        else:
            options = with_options(WatchOptions(), {**given, **named})
    known = replace(known, settings=with_values(replace(known.settings, log_file=""), changed or {}))
    require_no_hidden(known.settings)
    options = replace(options, relevant=with_whole_path(options.relevant))
    # Whatever is wrong with it is said before the first request.
    new_site_watch(known, options)
    hosts = len({host_of(url) for url in known.pages})
    require_politeness(options, known.settings, hosts)
    return WatchPlace(folder, options, known, holds_run(folder), tuple(notes))


def _known(sources: Sequence[str], folder: Path) -> KnownPages:
    try:
        return read_known([Path(source) for source in sources])
    except UsageError as error:
        raise ConfigError(f"the watch in {folder} began from what is no longer there: {error}") from None


def next_cycle(every: float, now: float) -> float:
    """Return when the next cycle begins: cycles count from the epoch, so that all watches agree."""
    return (now // every + 1) * every


def watch_once(
    place: WatchPlace,
    clock: Callable[[], float],
    listeners: ChangeListeners | None = None,
    on_progress: OnProgress | None = None,
    stop: StopSignal | None = None,
    planned: Callable[[CrawlPlan], CrawlPlan] = lambda plan: plan,
) -> CycleResult:
    """Run one cycle, write down what changed, and notify of it.

    What an earlier cycle found that was killed before it could say so is among the changes. Raises
    `coati.runs.errors.RunLockedError` where another process is at it.
    """
    with _held(place.folder):
        write_options(place.folder, place.options)
        untold = publish(place.folder, place.known) if holds_run(place.folder) else []
        result = run_cycle(
            place.folder,
            place.known,
            place.options,
            clock,
            on_progress,
            lambda plan: planned(replace(plan, stop=stop)),
        )
        trouble = report_changes(place.folder, listeners or ChangeListeners(), stop)
        write_report(place.folder)
    changes, messages = (*untold, *result.changes), (*result.messages, *trouble)
    return replace(result, changes=changes, messages=messages)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keep others away for a cycle: from the changes and those who are told of them, too."""
    state = Layout(folder).state
    state.mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(state / "watch.lock", names_holder=True)
    except FileHeldError as error:
        who = "another process" if error.holder is None else f"process {error.holder}"
        raise RunLockedError(f"the watch in {folder} is in the middle of a cycle of {who}") from None
    try:
        yield
    finally:
        lock.release()
