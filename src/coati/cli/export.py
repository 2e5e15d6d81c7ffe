"""``coati export``: the structured data of a harvest for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from coati.cli.completion import RunPath
from coati.cli.output_format import format_option
from coati.cli.terminal import say, say_json
from coati.harvesting.exports import export_statements
from coati.units import format_count


@click.command()
@click.argument("run", type=RunPath())
@click.argument("file", type=click.Path(path_type=Path))
@format_option
def export(run: Path, file: Path, form: str) -> None:
    """Write the structured data of the pages of RUN to FILE.

    The extension of FILE sets the format: .nq or .nq.gz for N-Quads (the graph of a statement is its page),
    .parquet for Parquet, .jsonl for one JSON-LD document per page.
    """
    count = export_statements(run, file)
    if form == "json":
        say_json({"run": str(run), "file": str(file), "statements": count})
    else:
        say(f"{format_count(count, 'statement')} in {file}")
