"""``coati runs``: list the runs below a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from coati.cli.output_format import format_option
from coati.cli.terminal import print_tables, say, say_json
from coati.jobs.run_summary import RunSummary
from coati.jobs.runs import find_runs
from coati.web.invisible_characters import safe


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@format_option
def runs(folder: Path, form: str) -> None:
    """List the runs below FOLDER (default: the current folder), newest first."""
    found = find_runs(folder, lambda error: say(f"coati: {error}", err=True))
    if form == "json":
        for summary in found:
            say_json(summary.as_json())
    elif found:
        print_tables(_table(found))
    else:
        say(f"There are no runs below {folder}.", err=True)


def _table(found: Sequence[RunSummary]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("folder", overflow="fold")
    table.add_column("start", overflow="fold")
    table.add_column("started")
    table.add_column("strategy")
    table.add_column("requests", justify="right")
    table.add_column("targets", justify="right")
    table.add_column("how it ended", overflow="fold")
    for summary in found:
        started = summary.started_at[:16].replace("T", " ")
        ended = summary.stop_reason or "not ended"
        counts = f"{summary.requests:,}", f"{summary.targets:,}"
        row = (summary.folder, summary.start_url, started, summary.strategy, *counts, ended)
        table.add_row(*(Text(safe(cell)) for cell in row))
    return table
