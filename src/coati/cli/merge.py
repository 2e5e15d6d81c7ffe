"""``coati merge``: merge several runs into one database."""

from __future__ import annotations

from pathlib import Path

import click

from coati.cli.completion import RunPath
from coati.cli.output_format import format_option
from coati.cli.terminal import say, say_json
from coati.jobs.merging import merge as merge_runs
from coati.units import format_count


@click.command()
@click.argument("runs", nargs=-1, required=True, type=RunPath(), metavar="RUN...")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The SQLite file to write.")
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
@format_option
def merge(runs: tuple[Path, ...], out: Path, *, overwrite: bool, form: str) -> None:
    """Merge several runs into one SQLite database, with the site as a column.

    RUN is the folder of a run, or a folder with runs in it, such as that of a harvest. The database holds the
    targets, pages, requests and skipped URLs of all runs; Datasette and DuckDB can open it.
    """
    merged = merge_runs(runs, out, overwrite=overwrite, show_progress=True)
    if form == "json":
        say_json(merged.as_json())
        return
    for site in merged.sites:
        counts = f"{format_count(site.targets, 'target')} from {format_count(site.requests, 'request')}"
        say(f"{site.name}: {counts} ({site.folder})")
    say(f"{format_count(len(merged.sites), 'run')} in {merged.file}")
