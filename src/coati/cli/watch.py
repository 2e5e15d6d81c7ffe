"""``coati watch``: find what is new on known sites, with few visits."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import click

from coati.cli.completion import RunPath
from coati.cli.fleet_watch import watch_with_fleet
from coati.cli.output_format import format_option
from coati.cli.setting_options import SettingParam, given_settings, setting_option, shown_default
from coati.cli.terminal import say, say_json
from coati.errors import UsageError
from coati.live.stop_signal import StopSignal
from coati.runs.changes_file import Change
from coati.settings.run_settings import SETTINGS
from coati.stop_reasons import StopReason
from coati.times import format_clock, format_moment, parse_moment, to_iso
from coati.units import format_count, format_seconds, parse_seconds
from coati.watching.cycle import CycleResult
from coati.watching.notifying import ChangeListeners
from coati.watching.past_changes import past_changes
from coati.watching.watch import WatchPlace, find_watch, next_cycle
from coati.watching.watch_cycles import CycleCallbacks, watch_cycles
from coati.watching.watch_options import WATCH_OPTIONS, WatchOptions, with_options

_INTERRUPTED = 130
# The calendar has no year before the first.
_FIRST_MOMENT = parse_moment("0001-01-01")
_SHOWN = 20


# How requests are made, where a watch may differ from the crawl.
_REQUEST_SETTINGS = (
    "contact", "user_agent", "limit_rate", "user", "password_file", "header", "cookies", "proxy", "log_file",
    "quiet",
)  # fmt: skip


def _watch_options(function: Callable[..., int]) -> Callable[..., int]:
    """Offer the options of a watch, as they are declared."""
    for name, option in reversed(WATCH_OPTIONS.items()):
        shown = shown_default(option.shown_default)
        named = click.option(
            "--" + name.replace("_", "-"), type=SettingParam(option.kind), help=option.about + shown
        )
        function = named(function)
    return function


@click.command()
@click.argument("sources", nargs=-1, metavar="[SOURCE]...", type=RunPath())
@click.option(
    "--store",
    metavar="URL",
    help="Watch every site of a fleet's store, on many machines (needs the extra `fleet`).",
)
@click.option(
    "--cluster",
    metavar="WHERE",
    help="With --store: where to run, such as local:2 or tcp://HOST:8786.  [default: this process]",
)
@click.option("--once", is_flag=True, help="Run one cycle and exit, for cron.")
@_watch_options
@click.option("--delay", help="Time between two requests to the same host.  [default: that of the crawl]")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the watch.  [default: SOURCE.watch]")
@click.option(
    "--exec",
    "command",
    default="",
    help="Run this command for each change; {what}, {url}, {file} and {id} are filled in. It is not run by"
    " a shell.",
)
@click.option(
    "--notify", default="", metavar="URL", help="Send each change to this web hook, as JSON by POST."
)
@click.option(
    "--diff", "since", help="Print the changes since a date (2026-05-01) or of the last days (2d), and exit."
)
@format_option
@click.pass_context
def watch(  # noqa: PLR0917 -- one parameter per option
    ctx: click.Context,
    /,
    sources: tuple[Path, ...],
    store: str | None,
    cluster: str | None,
    once: bool,
    delay: str | None,
    out: Path | None,
    command: str,
    notify: str,
    since: str | None,
    form: str,
    **_: object,
) -> int:
    """Find new and changed files on known sites with few requests.

    SOURCE is the folder of a finished crawl (or several of them), a file with one page URL per line, or the
    folder of a watch to resume. Each cycle visits some of the pages, follows their new links, downloads new
    files and checks whether known ones have changed. The first cycle only records what is there. Changes are
    written to changes.jsonl and feed.xml in the watch's folder.

    With --store, every site of a harvest's store is watched, in slices on many machines.
    """
    _require_one(sources, store, cluster, alone=bool(out or command or notify or since))
    if since is not None:
        return _show_changes(out or sources[0], since, form)
    values = {name: ctx.params[name] for name in WATCH_OPTIONS if ctx.params[name] is not None}
    if store is not None:
        seconds = None if delay is None else parse_seconds(delay)
        options = with_options(WatchOptions(), values)
        return watch_with_fleet(store, cluster, options, seconds, once=once, form=form)
    changed = given_settings(ctx)
    if delay is not None:
        changed["delay"] = parse_seconds(delay)
    place = find_watch(sources, values, out, changed)
    listeners = ChangeListeners.named(command, notify)
    quiet = place.known.settings.quiet
    for note in place.notes:
        say(f"Note: {note}", err=True)
    if not quiet:
        _say_what_begins(place)

    def show(result: CycleResult) -> None:
        _show(result, form)

    callbacks = CycleCallbacks(
        on_cycle=show,
        on_wait=None if quiet else _say_next,
        on_skipped=lambda why: say(f"Note: a cycle is left out: {why}", err=True),
    )
    try:
        run = watch_cycles(place, 1 if once else None, listeners, callbacks, StopSignal())
    except KeyboardInterrupt:
        click.echo("Interrupted between two cycles; run the same command to continue.", err=True)
        return _INTERRUPTED
    if once and not run.cycles[-1].requests and run.stop is StopReason.FINISHED and not run.moved:
        begins = format_moment(to_iso(next_cycle(place.options.every, time.time())), short=True)
        say(f"The next cycle is due at {begins} UTC (--every).", err=True)
    if run.moved:
        click.echo(
            "coati: nearly all watched pages are gone; the site seems to have moved to other URLs. Crawl"
            " it again and watch the new crawl.",
            err=True,
        )
    return run.exit_code


def _require_one(sources: tuple[Path, ...], store: str | None, cluster: str | None, *, alone: bool) -> None:
    """Refuse what cannot be meant: to watch nothing, two things, or a store as one machine does."""
    if store is None and not sources:
        raise UsageError("nothing to watch: give the folder of a crawl, a list of pages, or --store")
    if store is not None and sources:
        raise UsageError("--store watches every site of its store: give no other source with it")
    if cluster is not None and store is None:
        raise UsageError("--cluster needs --store")
    if store is not None and alone:
        raise UsageError("--out, --exec, --notify and --diff are for a watch on one machine, not for --store")


watch.params.extend(setting_option(SETTINGS[name]) for name in _REQUEST_SETTINGS)


def _say_what_begins(place: WatchPlace) -> None:
    options = place.options
    pages, files = format_count(len(place.known.pages), "page"), format_count(len(place.known.files), "file")
    begins = "Resuming the watch" if place.resumed else "Watching"
    click.echo(
        f"{begins} in {place.folder}: {pages} and {files} are known. Each cycle of"
        f" {format_seconds(options.every)} visits {options.per_cycle} pages, chosen by {options.scheduler}.",
        err=True,
    )
    if not place.resumed:
        click.echo("The first cycle visits every page and reports no changes.", err=True)


def _say_next(at: float) -> None:
    click.echo(f"The next cycle begins at {format_clock(at)}.", err=True)


def _show(result: CycleResult, form: str) -> None:
    for message in result.messages:
        say(f"Note: {message}", err=True)
    if result.stop is not StopReason.FINISHED:
        say(f"The cycle ended early: {result.stop.text.brief}. The next cycle continues.", err=True)
    if form == "json":
        for change in result.changes:
            say(json.dumps(change.as_json(), ensure_ascii=False))
        say_json(result.as_json())
        return
    kinds = [change.what for change in result.changes]
    say(
        f"{kinds.count('new')} new, {kinds.count('changed')} changed, {kinds.count('gone')} gone;"
        f" {format_count(result.requests, 'request')}: {format_count(result.pages, 'page')}"
        f" ({result.unchanged} unchanged), {result.followed} followed, {result.checked} checked."
    )
    _print_changes(result.changes)


def _print_changes(changes: tuple[Change, ...] | list[Change]) -> None:
    for change in changes[:_SHOWN]:
        say(f"  {change.what:<8}{change.url}" + (f"  {change.title}" if change.title else ""))
    if len(changes) > _SHOWN:
        say(f"  … and {len(changes) - _SHOWN:,} more in changes.jsonl")


def _show_changes(source: Path, since: str, form: str) -> int:
    found = past_changes(source, since)
    if form == "json":
        for row in found.rows():
            say(json.dumps(row, ensure_ascii=False))
    else:
        say(f"{format_count(len(found.changes), 'change')} since {found.since}")
        for change in found.changes:
            say(
                f"  {change.seen_at}  {change.what:<8}{change.url}"
                + (f"  {change.title}" if change.title else "")
            )
    return 0
