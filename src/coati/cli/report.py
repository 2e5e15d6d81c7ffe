"""``coati report``: write the report of a run again."""

from __future__ import annotations

import json
from pathlib import Path

import click

from coati.cli.completion import RunPath
from coati.cli.terminal import say
from coati.reporting.writing import write_report


@click.command()
@click.argument("folder", type=RunPath(), metavar="DIR")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def report(folder: Path, form: str) -> None:
    """Write report.html of the run in DIR again, also while the run is going.

    A crawl writes it when it ends, so this is for a look in between, or after a kill.
    """
    path = write_report(folder)
    say(json.dumps({"report": str(path)}) if form == "json" else str(path))
