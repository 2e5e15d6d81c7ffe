"""One crawl, from its settings to the folder that it leaves behind."""

from __future__ import annotations

import sqlite3
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from coati.archive.archive import Archive
from coati.assembly import stop_rule
from coati.errors import ConfigError, UsageError
from coati.jobs.arguments import PathText, checked_arguments, texts_of
from coati.jobs.crawl_run import CrawlRun
from coati.jobs.file_commands import CommandCounts, FileCommands, running_commands
from coati.jobs.live_progress import CrawlView, progress_shown
from coati.jobs.notebook import is_shown
from coati.jobs.options import CrawlOptions, plain_values
from coati.jobs.own_event_loop import run_with_own_loop
from coati.jobs.progress_bar import both
from coati.jobs.run_place import RunPlace, find_place, forget_failed_start
from coati.live.event_files import events_logged, events_written
from coati.live.event_lines import end_lines
from coati.live.stop_signal import StopSignal
from coati.reporting.report_file import write_report
from coati.runs.errors import RunError, RunWriteError
from coati.runs.layout import holds_run
from coati.runs.reader import RunReader
from coati.runs.store import RunStore
from coati.settings.crawl_plan import CrawlResources, crawl_plan
from coati.settings.retrying import retry_plans
from coati.settings.run_archive import writable_archive
from coati.settings.run_file import read_run_file, read_values, to_toml_values
from coati.stop_reasons import StopReason
from coati.version import __version__
from coati.web.urls import host_of

if TYPE_CHECKING:
    from coati.jobs.inspecting import Inspection
    from coati.jobs.preview import Preview
    from coati.live.plan import CrawlResult
    from coati.live.progress import OnEvent, OnProgress
    from coati.runs.totals import Totals
    from coati.settings.run_settings import RunSettings
    from coati.strategies.stopping.stop_when_dry import StopWhenDry


@dataclass(frozen=True, slots=True)
class CrawlStart:
    """What is known when a crawl begins; ``totals`` and ``seconds`` are those of its earlier sessions."""

    place: RunPlace
    totals: Totals
    seconds: float
    early_stop: StopWhenDry | None


OnStart = Callable[[CrawlStart], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlCallbacks:
    """Who is told what while a crawl runs, and who may stop it; everything may be left out.

    ``on_commands`` gets at the end how many files wait for their command (``exec``).
    """

    on_start: OnStart | None = None
    on_progress: OnProgress | None = None
    on_event: OnEvent | None = None
    on_commands: Callable[[int], None] | None = None
    stop: StopSignal | None = None


@checked_arguments
def crawl(
    start: PathText | Iterable[str] = (),
    *,
    run_file: str | Path | None = None,
    on_progress: OnProgress | None = None,
    on_event: OnEvent | None = None,
    stop: StopSignal | None = None,
    show_progress: bool | None = None,
    **options: Unpack[CrawlOptions],
) -> CrawlRun:
    """Collect the data files of a website with few requests, and return the run.

    ``start`` is one URL or several, or the folder of a run to resume. The same call with the same ``out``
    resumes a stopped crawl. Other arguments are the settings of ``coati crawl`` (`coati.CrawlOptions`), and
    override those of ``run_file``. Progress is shown in notebooks, or with ``show_progress=True``. Raises
    `coati.errors.CoatiError` for wrong arguments; a site that fails is a result, not an error.
    """
    place = crawl_place(start, run_file=run_file, **options)
    if place.settings.dry_run:
        raise UsageError("dry_run is set, and this would crawl: call coati.preview instead")
    view = CrawlView(place.settings.budget)
    stop = stop or StopSignal()

    def begin(begun: CrawlStart) -> None:
        view.early_stop, view.seconds_before = begun.early_stop, begun.seconds

    with progress_shown(view, quiet=not is_shown(show_progress)) as show:
        callbacks = CrawlCallbacks(
            on_start=begin,
            on_progress=both(show, on_progress),
            on_event=both(view.on_event, on_event),
            stop=stop,
        )
        return run_with_own_loop(lambda: carry_out(place, callbacks), stop)


@checked_arguments
def preview(
    start: PathText | Iterable[str] = (),
    *,
    run_file: str | Path | None = None,
    **options: Unpack[CrawlOptions],
) -> Preview | Inspection:
    """Return what such a crawl would do; fetches only robots.txt and the start URLs.

    With ``shortcuts`` "only", the lists of the site's software are read too: that is an `Inspection`.
    """
    place = crawl_place(start, run_file=run_file, **options)
    return run_with_own_loop(lambda: look_ahead(place), StopSignal())


def look_ahead(place: RunPlace) -> Preview | Inspection:
    """Find out what a crawl would do in its place: a dry run."""
    # Both need Scrapy, which takes a second to import.
    if place.settings.shortcuts == "only":
        from coati.jobs.inspecting import list_only

        return list_only(place.settings)
    from coati.jobs.preview import preview_place

    return preview_place(place)


def crawl_place(
    start: PathText | Iterable[str] = (),
    *,
    run_file: str | Path | None = None,
    **options: Unpack[CrawlOptions],
) -> RunPlace:
    """Find out what such a crawl would do, and where; nothing is written or fetched yet."""
    given = {} if run_file is None else read_run_file(Path(run_file))
    given.update(read_values(plain_values(options, CrawlOptions.__annotations__)))
    return find_place(texts_of("start", start), given)


def carry_out(place: RunPlace, callbacks: CrawlCallbacks) -> CrawlRun:
    """Carry a crawl out in its place, and write its report.

    Raises `coati.runs.RunError` where the folder cannot be used, and what our own code raised.
    """
    settings = place.settings
    early_stop = _early_stop(place)
    with running_commands(settings.exec, settings.exec_timeout) as commands:
        if commands is not None:
            commands.add_missed(place.folder)
        result = _crawl(place, callbacks, early_stop, commands)
        counts = _finish(commands, result, callbacks)
    report, problem = _report(place.folder)
    estimate = None if early_stop is None else early_stop.estimate
    return CrawlRun(place.folder, result, place.resumed, estimate, report, problem, counts)


def _finish(
    commands: FileCommands | None, result: CrawlResult, callbacks: CrawlCallbacks
) -> CommandCounts | None:
    """Wait for the commands of the last files, unless somebody wants to stop."""
    if commands is None:
        return None
    interrupted = result.stop is StopReason.INTERRUPTED
    if callbacks.on_commands is not None and commands.waiting and not interrupted:
        callbacks.on_commands(commands.waiting)
    return commands.finish(at_once=interrupted)


def _crawl(
    place: RunPlace,
    callbacks: CrawlCallbacks,
    early_stop: StopWhenDry | None,
    commands: FileCommands | None,
) -> CrawlResult:
    settings = place.settings
    with ExitStack() as stack:
        archive = stack.enter_context(_archive(settings))
        on_event = stack.enter_context(events_written(settings.events, callbacks.on_event))
        on_event, log = stack.enter_context(events_logged(settings.log_file, on_event))
        if commands is not None:
            on_event = commands.listener(place.folder, on_event)
        store = stack.enter_context(_store(place))
        log(f"coati {__version__}: {' and '.join(settings.urls)} into {place.folder.absolute()}")
        if callbacks.on_start is not None:
            callbacks.on_start(CrawlStart(place, store.totals, store.seconds_spent, early_stop))
        resources = CrawlResources(
            store=store,
            archive=archive,
            early_stop=early_stop,
            on_progress=callbacks.on_progress,
            on_event=on_event,
            stop=callbacks.stop,
        )
        result = _drive(settings, resources)
        for line in end_lines(result):
            log(line)
        return result


def _drive(settings: RunSettings, resources: CrawlResources) -> CrawlResult:
    # Scrapy takes a second to import, and nobody who reads the help should wait for it.
    from coati.live.running import crawl as crawl_live

    for plan in retry_plans(settings, resources):
        result = crawl_live(plan)
        if result.stop is not StopReason.FINISHED:
            return result
        if resources.store is not None:
            resources.store.seconds_spent += result.progress.seconds
    return crawl_live(crawl_plan(settings, resources))


def _early_stop(place: RunPlace) -> StopWhenDry | None:
    """Make the rule that ends a dry crawl; in a resumed run it continues from what it has seen."""
    rule = stop_rule(place.settings.stop_when_dry)
    if rule is not None and place.resumed:
        with RunReader(place.folder) as reader:
            for point in reader.curve():
                rule.observe(point.requests, point.targets, point.score)
    return rule


@contextmanager
def _store(place: RunPlace) -> Iterator[RunStore]:
    values = to_toml_values(place.settings)
    try:
        if place.resumed:
            store = RunStore.open(place.folder, time.time())
        else:
            if holds_run(place.folder):
                forget_failed_start(place.folder)
            store = RunStore.create(place.folder, values, time.time())
    except RunWriteError as error:
        raise ConfigError(f"cannot write to {place.folder}: {error.__cause__}") from None
    with store:
        if place.resumed:
            store.change_settings(values)
        yield store


@contextmanager
def _archive(settings: RunSettings) -> Iterator[Archive | None]:
    if not settings.archive:
        yield None
        return
    folder = Path(settings.archive)
    if settings.offline:
        opened = Archive.open(folder)
        if all(opened.entry(url) is None for url in settings.start_urls):
            raise UsageError(
                f"{settings.url} is not in the archive {folder}, and --offline allows no requests"
            )
    else:
        opened = writable_archive(folder, settings, host_of(settings.url), "coati crawl")
    try:
        yield opened
    finally:
        try:
            opened.close()
        except (OSError, sqlite3.Error) as error:
            raise RunWriteError(f"the archive {folder} could not be written: {error}") from error


def _report(folder: Path) -> tuple[Path | None, str]:
    """Write the report; a failure here must not lose a crawl that went well."""
    try:
        return write_report(folder), ""
    except RunError as error:
        return None, str(error)
    except Exception:  # noqa: BLE001 - a bug, told as one, but the run is whole
        return None, f"{traceback.format_exc()}this is a bug in Coati; please report it"
