"""``coati runs``: the runs below a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from coati.cli.run_summary import RunSummary
from coati.cli.terminal import safe, say
from coati.errors import UsageError
from coati.runs.errors import RunError
from coati.runs.layout import holds_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Runs stand in a folder, or in folders of projects; deeper than this nobody means to look.
_DEPTH = 3

_PLAIN_WIDTH = 140


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def runs(folder: Path, form: str) -> None:
    """List the runs below FOLDER (without it, below the current one), newest first."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    found = sorted(_summaries(folder), key=lambda summary: summary.started_at, reverse=True)
    if form == "json":
        for summary in found:
            say(json.dumps(summary.as_json()))
    elif found:
        plain = Console()
        # A file or a pipe has no width of its own; paths must not be cut there.
        (plain if plain.is_terminal else Console(width=_PLAIN_WIDTH)).print(_table(found))
    else:
        say(f"There are no runs below {folder}.", err=True)


def _summaries(folder: Path) -> Iterator[RunSummary]:
    for path in _run_folders(folder, _DEPTH):
        try:
            yield RunSummary.read(path)
        except RunError as error:
            say(f"coati: {error}", err=True)


def _run_folders(folder: Path, depth: int) -> Iterator[Path]:
    if holds_run(folder):
        yield folder
        return
    if depth == 0:
        return
    try:
        inner = sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.is_symlink())
    except OSError:
        return
    for entry in inner:
        yield from _run_folders(entry, depth - 1)


def _table(found: Sequence[RunSummary]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("folder", overflow="fold")
    table.add_column("started")
    table.add_column("strategy")
    table.add_column("requests", justify="right")
    table.add_column("targets", justify="right")
    table.add_column("how it ended", overflow="fold")
    for summary in found:
        started = summary.started_at[:16].replace("T", " ")
        ended = summary.stop_reason or "not ended"
        counts = f"{summary.requests:,}", f"{summary.targets:,}"
        row = (summary.folder, started, summary.strategy, *counts, ended)
        table.add_row(*(Text(safe(cell)) for cell in row))
    return table
