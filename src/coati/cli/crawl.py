"""``coati crawl``: take the data files of a website, live, politely, and never lose anything."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import traceback
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coati.archive.archive import Archive
from coati.archive.description import FILE_NAME as ARCHIVE_FILE
from coati.archive.record import ArchiveMeta
from coati.assembly import build_early_stop
from coati.cli.crawl_result import show_result
from coati.cli.event_lines import stalls_line
from coati.cli.live_progress import CrawlView, shown
from coati.cli.run_place import find_place, forget_failed_start
from coati.cli.setting_options import (
    SettingsCommand,
    given_settings,
    misspelt_variables,
    setting_option,
)
from coati.cli.terminal import say
from coati.errors import ConfigError, UsageError
from coati.report import write_report
from coati.runs.errors import RunError, RunWriteError
from coati.runs.layout import holds_run
from coati.runs.reader import RunReader
from coati.runs.store import RunStore
from coati.settings.plan import CrawlResources, crawl_plan
from coati.settings.retrying import retry_plans
from coati.settings.run_file import read_run_file, to_toml_values
from coati.settings.run_settings import SETTINGS
from coati.stop_reasons import StopReason
from coati.strategies.dry_spell import DrySpell
from coati.web.media import parse_types
from coati.web.rules import Rules
from coati.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coati.cli.run_place import RunPlace
    from coati.live.plan import CrawlResult
    from coati.live.progress import Event, OnEvent
    from coati.settings.run_settings import RunSettings

OUR_ERROR = 5

_RUN_FILE_VARIABLE = "COATI_RUN_FILE"

_ABOUT = """Take the data files of a website with few requests.

START is the URL to begin at, or several of them, or the folder of a run to resume. Everything lands in one
folder (--out): the files, a list of them, the pages, and a report. The same command in the same folder
continues where it was.

Each option can also be given by an environment variable (--max-requests is COATI_MAX_REQUESTS), or by a key
of a run file (max_requests); options win over variables, and variables over the file.
"""


def _parameters() -> list[click.Parameter]:
    start = click.Argument(
        ["start"], nargs=-1, envvar=SETTINGS["urls"].variable, metavar="[START]...", type=str
    )
    run_file = click.Option(
        ["--run-file"],
        type=click.Path(path_type=Path),
        envvar=_RUN_FILE_VARIABLE,
        help="Take settings from this TOML file; the run.toml of another run is one.",
    )
    options = [setting_option(setting) for name, setting in SETTINGS.items() if name != "urls"]
    return [start, *options, run_file]


@click.command(cls=SettingsCommand, params=_parameters(), help=_ABOUT)
@click.pass_context
def crawl(ctx: click.Context, /, start: tuple[str, ...], run_file: Path | None, **_: object) -> int:
    """Find out what is wanted, and do it."""
    for remark in misspelt_variables(os.environ, (_RUN_FILE_VARIABLE,)):
        click.echo(f"Warning: the environment variable {remark}", err=True)
    given = read_run_file(run_file) if run_file is not None else {}
    given.update(given_settings(ctx))
    place = find_place(start, given)
    if place.settings.dry_run and place.settings.shortcuts == "only":
        from coati.cli.inspect import list_only

        return list_only(place.settings)
    if place.settings.dry_run:
        from coati.cli.dry_run import dry_run

        return dry_run(place)
    try:
        return run(place)
    except RunWriteError as error:
        say(f"coati: {error}", err=True)
        return OUR_ERROR


def run(place: RunPlace) -> int:
    """Carry a crawl out, show it, and give the exit code."""
    settings = place.settings
    early_stop = _early_stop(place)
    view = CrawlView(settings.budget, early_stop)
    with ExitStack() as stack:
        archive = stack.enter_context(_archive(settings))
        on_event = stack.enter_context(_events(settings, view))
        store = stack.enter_context(_store(place))
        if not settings.quiet:
            _say_what_begins(place, store)
        view.seconds_before = store.seconds_spent
        resources = CrawlResources(store=store, archive=archive, early_stop=early_stop, on_event=on_event)
        result = _crawl(settings, resources, view)
        folder = store.folder
    if settings.verbose and (line := stalls_line(result.progress.stalls)):
        say(line, err=True)
    report = _report(folder)
    return show_result(place, result, early_stop, report)


def _crawl(settings: RunSettings, resources: CrawlResources, view: CrawlView) -> CrawlResult:
    # Scrapy takes a second to import, and nobody who asks for help should wait for it.
    from coati.live.running import crawl as crawl_live

    with shown(view, quiet=settings.quiet, verbose=settings.verbose) as on_progress:
        resources = replace(resources, on_progress=on_progress)
        for plan in retry_plans(settings, resources):
            result = crawl_live(plan)
            if result.stop is not StopReason.FINISHED:
                return result
            if resources.store is not None:
                resources.store.seconds_spent += result.progress.seconds
        return crawl_live(crawl_plan(settings, resources))


def _early_stop(place: RunPlace) -> DrySpell | None:
    """Make the rule that ends a crawl that has run dry; one that goes on remembers what it has seen."""
    if not place.settings.stop_when_dry:
        return None
    rule = build_early_stop("dry")
    if not isinstance(rule, DrySpell):
        raise TypeError("the rule named dry is another one")
    if place.resumed:
        with RunReader(place.folder) as reader:
            for point in reader.curve():
                rule.observe(point.requests, point.targets)
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
            raise UsageError(f"{settings.url} is not in the archive {folder}, and --offline asks nobody else")
    elif (folder / ARCHIVE_FILE).is_file():
        opened = Archive.open(folder, writable=True)
    else:
        meta = ArchiveMeta(
            name=host_of(settings.url),
            start_url=settings.url,
            types=parse_types(settings.types),
            blocked_extensions=Rules(settings.url).blocked_extensions,
            origin="coati crawl",
        )
        opened = Archive.create(folder, meta)
    try:
        yield opened
    finally:
        try:
            opened.close()
        except (OSError, sqlite3.Error) as error:
            raise RunWriteError(f"the archive {folder} could not be written: {error}") from error


@contextmanager
def _events(settings: RunSettings, view: CrawlView) -> Iterator[OnEvent]:
    if not settings.events:
        yield view.on_event
        return
    try:
        # Line by line: who watches sees each event, and a full disk is told where it happens.
        file = Path(settings.events).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115 - closed below
    except OSError as error:
        raise ConfigError(f"events: {settings.events} cannot be written: {error.strerror}") from None

    def tell(event: Event) -> None:
        try:
            file.write(json.dumps({"at": event.at, "what": event.what, **event.data}) + "\n")
        except OSError as error:
            raise RunWriteError(f"the events could not be written to {settings.events}: {error}") from error
        view.on_event(event)

    try:
        yield tell
    finally:
        # What could not be written was told; the rest of it cannot be either.
        with suppress(OSError):
            file.close()


def _say_what_begins(place: RunPlace, store: RunStore) -> None:
    settings = place.settings
    how = f"{settings.types} by {settings.strategy}"
    starts = " and ".join(settings.urls)
    if place.resumed:
        totals = store.totals
        click.echo(
            f"Going on with {starts} ({how}) in {place.folder}:"
            f" {totals.requests:,} requests and {totals.targets:,} targets so far.",
            err=True,
        )
    else:
        click.echo(f"Crawling {starts} ({how}) into {place.folder}.", err=True)
    if settings.offline:
        click.echo(f"Offline: only the archive {settings.archive} answers.", err=True)
    elif not settings.contact:
        click.echo(
            "Hint: --contact YOUR-ADDRESS (or COATI_CONTACT) tells the site's owner whom to ask.", err=True
        )


def _report(folder: Path) -> Path | None:
    """Write the report; a crawl that went well is not lost because this does not."""
    try:
        return write_report(folder)
    except RunError as error:
        say(f"coati: no report was written: {error}", err=True)
    except Exception:  # noqa: BLE001 - a bug, shown as one, but the run is whole
        say(traceback.format_exc(), err=True)
        click.echo(
            "coati: no report was written: this is an error of Coati's own; please report it", err=True
        )
    return None
