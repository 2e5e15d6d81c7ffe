"""``coati experiment``: from a file that describes a table to the table."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable
from rich.text import Text

from coati.cli.generated_sites import open_generated_web, write_generated
from coati.errors import ConfigError, UsageError
from coati.experiments.examples import without_examples
from coati.experiments.outputs import provenance, tables_of, write_outputs
from coati.experiments.parquet import require_duckdb
from coati.experiments.runner import SITES_FOLDER, run_experiment
from coati.experiments.sites import Places
from coati.experiments.spec import read_experiment
from coati.experiments.tables import objects

if TYPE_CHECKING:
    from coati.experiments.runner import Study
    from coati.experiments.tables import Table

_PLAIN_WIDTH = 200


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
@click.option(
    "--archives", type=click.Path(path_type=Path), help="The folder that holds the sites' archives."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder for results; the same folder again goes on where an earlier attempt ended.",
)
@click.option("--jobs", type=int, help="How many runs side by side.  [default: one a core]")
@click.option(
    "--sites",
    "sites_text",
    default="",
    help="Run only these of its sites, separated by commas; `generated` are those that need no archive.",
)
@click.option(
    "--strategies", "rows_text", default="", help="Run only these of its rows, separated by commas."
)
@click.option("--seeds", type=int, help="How many seeds, instead of what the file says.")
@click.option("--max-requests", type=int, help="Stop each run after so many requests.")
@click.option("--parquet/--no-parquet", default=True, help="Also write the numbers as Parquet.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def experiment(  # noqa: PLR0917 - one parameter an option
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
    """Run every strategy on every site with every seed, and print the table that FILE.toml describes.

    Runs are made side by side, and each is kept in the folder of results as soon as it is finished. Sites are
    archives, or generated.
    """
    if jobs is not None and jobs < 0:
        raise ConfigError(f"--jobs is {jobs}: it must be at least 1, or 0 for runs within this process")
    asked, rows = _names(sites_text), _names(rows_text)
    described = read_experiment(file).narrowed(asked, seeds, max_requests, rows)
    if parquet:
        require_duckdb()
    _make_folder(out)
    places = Places(archives, out / SITES_FOLDER, write_generated, open_generated_web)
    messages = Console(stderr=True, highlight=False, markup=False)
    if asked and not rows:
        described, left_out = without_examples(described, places)
        for label in left_out:
            messages.print(
                f"{label} is left out: it learns from example pages of archives that are not there"
            )
    with _progress(messages) as bar:
        tasks = {}

        def show(doing: str, done: int, total: int) -> None:
            if doing not in tasks:
                tasks[doing] = bar.add_task(doing, total=total)
            bar.update(tasks[doing], completed=done, total=total)

        study = run_experiment(described, places, out, (os.cpu_count() or 1) if jobs is None else jobs, show)
    files = write_outputs(study, out, parquet=parquet)
    if form == "json":
        for each in objects(study):
            click.echo(json.dumps(each))
    else:
        _print(study)
    reused = f", {study.reused:,} of them from before" if study.reused else ""
    messages.print(f"{len(study.results):,} runs{reused}; wrote {len(files)} files to {out}")


def _names(text: str) -> frozenset[str]:
    return frozenset(name for part in text.split(",") if (name := part.strip()))


def _progress(messages: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=messages,
        transient=True,
        disable=not messages.is_terminal,
    )


def _print(study: Study) -> None:
    plain = Console()
    # A file or a pipe has no width of its own; a table cut to eighty columns would be of no use there.
    console = plain if plain.is_terminal else Console(width=_PLAIN_WIDTH)
    for table in tables_of(study):
        console.print(_drawn(table))
    console.print(Text(provenance(study).strip()))


def _drawn(table: Table) -> RichTable:
    drawn = RichTable(
        box=SIMPLE_HEAD, pad_edge=False, title=Text(table.title), caption=Text("\n".join(table.notes))
    )
    for place, name in enumerate(table.header):
        drawn.add_column(Text(name), justify="right" if place else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(cell.replace("\\|", "|")) for cell in row))
    return drawn


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {folder}: no folder can be made there ({error.strerror})") from error
