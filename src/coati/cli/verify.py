"""``coati verify``: check whether the files of a run are unchanged, and restore them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click

from coati.cli.completion import RunPath
from coati.cli.output_format import format_option
from coati.cli.terminal import say, say_json
from coati.jobs.verifying import Verification
from coati.jobs.verifying import verify as verify_run
from coati.runs.layout import Layout
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

    RUN may also be the folder of a harvest, or hold several runs: then all of them are checked.

    The exit code is 2 if there are any (with --repair: if any are left).
    """
    found = verify_run(folder, repair=repair, show_progress=True)
    # Who has read enough, as `head` has, still wants the right exit code.
    with suppress(BrokenPipeError):
        for run in found.runs or (found,):
            if form == "json":
                say_json(run.as_json())
            else:
                _print(run, folder)
    return 0 if found.whole else WRONG_INPUT


def _print(found: Verification, place: Path) -> None:
    for file in found.damaged:
        state = f"{file.state.value}, repaired" if file.name in found.repaired else file.state.value
        say(f"{state}: {Layout(found.folder).files / file.name}, from {file.url}")
    repaired = f", {format_count(len(found.repaired))} of them repaired" if found.repaired else ""
    which = "" if found.folder == place else f"{found.folder.name}: "
    say(f"{which}{format_count(found.files, 'file')}, {format_count(len(found.damaged))} damaged{repaired}")
