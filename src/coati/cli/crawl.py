"""``coati crawl``: collect the data files of a website, live and politely."""

from __future__ import annotations

import os
from pathlib import Path

import click

from coati.cli.completion import RunOrUrl
from coati.cli.crawl_result import say_commands_wait, show_result
from coati.cli.setting_options import (
    SettingsCommand,
    given_settings,
    misspelt_variables,
    no_stop_option,
    setting_option,
)
from coati.cli.terminal import say
from coati.jobs.crawling import CrawlCallbacks, CrawlStart, carry_out
from coati.jobs.live_progress import CrawlView, progress_shown
from coati.jobs.run_place import RunPlace, find_place
from coati.live.event_lines import stalls_line
from coati.runs.totals import Totals
from coati.settings.run_file import read_run_file
from coati.settings.run_settings import SETTINGS
from coati.settings.setting import Section

_RUN_FILE_VARIABLE = "COATI_RUN_FILE"

_ABOUT = """Collect the data files of a website with few requests.

START is one or several URLs to start from, or the folder of a run to resume. Everything is written to one
folder (--out): the files, a list of them, the pages and a report. The same command with the same folder
resumes a stopped crawl.

Each option can also be given by an environment variable (--max-requests is COATI_MAX_REQUESTS), or by a key
of a run file (max_requests); options win over variables, and variables over the file.
"""


def _parameters() -> list[click.Parameter]:
    start = click.Argument(
        ["start"], nargs=-1, envvar=SETTINGS["urls"].variable, metavar="[START]...", type=RunOrUrl()
    )
    run_file = click.Option(
        ["--run-file"],
        type=click.Path(path_type=Path),
        envvar=_RUN_FILE_VARIABLE,
        help="Read settings from this TOML file, such as the run.toml of another run.",
    )
    from_file = click.Option(
        ["--from-file"],
        type=click.Path(path_type=Path),
        help="Crawl each site of this list (one URL per line) separately, with its own budget. `coati"
        " harvest` shares one budget among all sites.",
    )
    options = [
        setting_option(setting)
        for name, setting in SETTINGS.items()
        if name != "urls" and setting.group is not Section.DISCOVER
    ]
    return [start, *options, no_stop_option(), run_file, from_file]


@click.command(cls=SettingsCommand, params=_parameters(), help=_ABOUT)
@click.pass_context
def crawl(
    ctx: click.Context,
    /,
    start: tuple[str, ...],
    run_file: Path | None,
    from_file: Path | None,
    **_: object,
) -> int:
    """Read the options, carry the crawl out, and return the exit code."""
    for remark in misspelt_variables(os.environ, (_RUN_FILE_VARIABLE,)):
        click.echo(f"Warning: the environment variable {remark}", err=True)
    given = read_run_file(run_file) if run_file is not None else {}
    given.update(given_settings(ctx))
    if from_file is not None:
        from coati.cli.harvest import crawl_list

        return crawl_list(from_file, start, given)
    place = find_place(start, given)
    if place.settings.dry_run:
        from coati.cli.dry_run import dry_run

        return dry_run(place)
    return _run(place)


def _run(place: RunPlace) -> int:
    """Carry a crawl out, show it, and return the exit code."""
    settings = place.settings
    view = CrawlView(settings.budget)

    def begin(start: CrawlStart) -> None:
        view.early_stop, view.seconds_before = start.early_stop, start.seconds
        if not settings.quiet:
            _say_what_begins(place, start.totals)

    with progress_shown(view, quiet=settings.quiet, verbose=settings.verbose) as on_progress:
        callbacks = CrawlCallbacks(
            on_start=begin, on_progress=on_progress, on_event=view.on_event, on_commands=say_commands_wait
        )
        run = carry_out(place, callbacks)
    if settings.verbose and (line := stalls_line(run.result.progress.stalls)):
        say(line, err=True)
    show_result(run, settings.format)
    return run.exit_code


def _say_what_begins(place: RunPlace, totals: Totals) -> None:
    settings = place.settings
    how = f"{settings.types} by {settings.strategy}"
    starts = " and ".join(settings.urls)
    if place.resumed:
        click.echo(
            f"Resuming {starts} ({how}) in {place.folder}:"
            f" {totals.requests:,} requests and {totals.targets:,} targets so far.",
            err=True,
        )
    else:
        click.echo(f"Crawling {starts} ({how}) into {place.folder}.", err=True)
    if settings.offline:
        click.echo(f"Offline: all responses come from the archive {settings.archive}.", err=True)
    elif not settings.contact:
        click.echo(
            "Hint: add --contact YOUR-ADDRESS (or set COATI_CONTACT) so that the site's owner can reach you.",
            err=True,
        )
