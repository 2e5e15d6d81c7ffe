"""``coati experiment``: run the experiment that a file describes, and print its table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.box import SIMPLE_HEAD
from rich.table import Table as RichTable
from rich.text import Text

from coati.cli.output_format import format_option
from coati.cli.terminal import print_tables, say
from coati.jobs.experimenting import ExperimentResults
from coati.jobs.experimenting import experiment as run_experiment
from coati.units import format_count

if TYPE_CHECKING:
    from rich.console import RenderableType

    from coati.experiments.tables import Table

_PLAIN_WIDTH = 200


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
@click.option("--archives", type=click.Path(path_type=Path), help="Folder with the archives of the sites.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder for results; the same folder again resumes an earlier attempt.",
)
@click.option("--jobs", type=int, help="How many runs in parallel.  [default: one per core]")
@click.option(
    "--sites",
    "sites_text",
    default="",
    help="Run only these sites, separated by commas; `generated` means all that need no archive.",
)
@click.option(
    "--strategies",
    "--strategy",
    "rows_text",
    default="",
    help="Run only these rows of the file, separated by commas. Strategies that are not in the file (a"
    " name or my_module:MyStrategy) are added.",
)
@click.option("--seeds", type=int, help="How many seeds, instead of the file's number.")
@click.option("--max-requests", type=int, help="Stop each run after this many requests.")
@click.option("--parquet/--no-parquet", default=True, help="Also write the numbers as Parquet.")
@format_option
def experiment(  # noqa: PLR0917 - one parameter per option
    file: Path,
    archives: Path | None,
    out: Path,
    jobs: int | None,
    sites_text: str,
    rows_text: str,
    seeds: int | None,
    max_requests: int | None,
    parquet: bool,
    form: str,
) -> None:
    """Run the experiment in FILE.toml (every strategy on every site with every seed) and print its table.

    Runs are made in parallel, and each result is stored as soon as it is finished. Sites are archives, or
    generated.
    """
    results = run_experiment(
        file,
        archives=archives,
        out=out,
        jobs=jobs,
        sites=_names(sites_text),
        strategies=_names(rows_text),
        seeds=seeds,
        max_requests=max_requests,
        parquet=parquet,
        show_progress=True,
    )
    for label in results.left_out:
        say(f"{label} is left out: the archives with its example pages are missing", err=True)
    if form == "json":
        for each in results.rows():
            click.echo(json.dumps(each))
    else:
        _print(results)
    study = results.study
    reused = f", {study.reused:,} of them from before" if study.reused else ""
    runs, files = format_count(len(study.results), "run"), format_count(len(results.files), "file")
    say(f"{runs}{reused}; wrote {files} to {out}", err=True)


def _names(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]


def _print(results: ExperimentResults) -> None:
    shown: list[RenderableType] = []
    for table in results.tables():
        # Apart from the table, which may be narrow.
        notes = [Text(note) for note in table.notes]
        shown += [Text(table.title, style="bold"), _drawn(table), *notes, ""]
    print_tables(*shown, Text(results.provenance), plain_width=_PLAIN_WIDTH)


def _drawn(table: Table) -> RichTable:
    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(table.header):
        drawn.add_column(Text(name), justify="right" if place else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(cell.replace("\\|", "|")) for cell in row))
    return drawn
