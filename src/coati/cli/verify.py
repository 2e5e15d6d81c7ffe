"""``coati verify``: check whether the files of a run are unchanged, and restore them."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import click

from coati.cli.completion import RunPath
from coati.cli.output_format import format_option
from coati.cli.terminal import say
from coati.harvesting.folder import HarvestLayout
from coati.jobs.progress_bar import progress
from coati.jobs.verifying import Verification
from coati.jobs.verifying import verify as verify_run
from coati.runs.layout import Layout, holds_run
from coati.units import format_count

WRONG_INPUT = 2


@click.command()
@click.argument("folder", type=RunPath(), metavar="RUN")
@click.option(
    "--repair",
    is_flag=True,
    help="Download these files again, and restore those that have not changed on the site.",
)
@format_option
def verify(folder: Path, *, repair: bool, form: str) -> int:
    """Check every file of the run in RUN against its hash, and list missing and changed ones.

    RUN may also be the folder of a harvest: then all its sites are checked.

    The exit code is 2 if there are any (with --repair: if any are left).
    """
    whole = True
    for run in _runs_in(folder):
        with progress("Verifying") as on_progress:
            found = verify_run(run, repair=repair, on_progress=on_progress)
        whole = whole and found.whole
        # Who has read enough, as `head` has, still wants the right exit code.
        with suppress(BrokenPipeError):
            if form == "json":
                say(json.dumps(found.as_json()))
            else:
                _print(found, folder)
    return 0 if whole else WRONG_INPUT


def _runs_in(folder: Path) -> list[Path]:
    """List the run that is meant, or those of a harvest."""
    harvest = HarvestLayout(folder)
    if not harvest.settings.is_file():
        return [folder]
    return sorted(site for site in harvest.sites.glob("*") if holds_run(site))


def _print(found: Verification, asked: Path) -> None:
    for file in found.damaged:
        state = f"{file.state.value}, repaired" if file.name in found.repaired else file.state.value
        say(f"{state}: {Layout(found.folder).files / file.name}, from {file.url}")
    repaired = f", {format_count(len(found.repaired))} of them repaired" if found.repaired else ""
    which = "" if found.folder == asked else f"{found.folder.name}: "
    say(f"{which}{format_count(found.files, 'file')}, {format_count(len(found.damaged))} damaged{repaired}")
