"""``coati report``: rewrite the report of a run."""

from __future__ import annotations

import json
from pathlib import Path

import click

from coati.cli.completion import RunPath
from coati.cli.output_format import format_option
from coati.cli.terminal import say
from coati.reporting.report_file import write_report
from coati.runs.errors import RunWriteError


@click.command()
@click.argument("folder", type=RunPath(), metavar="RUN")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report to this file instead, and nothing into RUN.",
)
@format_option
def report(folder: Path, out: Path | None, form: str) -> None:
    """Rewrite report.html of the run in RUN; works while the run is in progress.

    A crawl writes the report when it ends. Use this to look at a crawl before that, or after it was killed.
    """
    try:
        path = write_report(folder, out)
    except RunWriteError as error:
        raise RunWriteError(f"{error}; or write the report elsewhere, with --out FILE") from error
    say(json.dumps({"report": str(path)}) if form == "json" else str(path))
