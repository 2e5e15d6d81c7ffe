"""``coati sample``: how many of a run's files hold statistics tables, guessed and labelled by hand."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coati.cli.completion import RunPath
from coati.cli.terminal import say
from coati.experiments.yield_files import guess_files, require_readers
from coati.experiments.yield_sheet import Yield, draw_sample, read_sheet, with_guess, write_sheet
from coati.jobs.progress_bar import progress
from coati.runs.reader import RunReader

if TYPE_CHECKING:
    from coati.experiments.yield_sheet import SampledFile


@click.command()
@click.argument("run", type=RunPath(), metavar="RUN")
@click.option("--n", "count", default=40, show_default=True, help="How many files to draw.")
@click.option("--seed", default=0, show_default=True, help="The same seed draws the same files.")
@click.option(
    "--sheet",
    type=click.Path(path_type=Path),
    help="The sheet to fill in.  [default: sample-N-seedS.csv in the run's folder]",
)
@click.option("--guess/--no-guess", "guess", default=True, help="Guess the number of tables from the files.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def sample(run: Path, count: int, seed: int, sheet: Path | None, guess: bool, form: str) -> None:
    """Draw a sample of the files of RUN, and count the statistics tables in them.

    The first call draws the sample, guesses the counts and writes a sheet. Fill in its column labelled_tables
    (0 for a file without tables) and call again to compare your counts with the guess.
    """
    place = sheet or run / f"sample-{count}-seed{seed}.csv"
    with RunReader(run) as reader:
        if place.exists():
            files = read_sheet(place)
        else:
            if guess:
                require_readers()
            files = draw_sample(reader, count, seed)
            if guess:
                files = _guessed(files, reader.layout.folder)
            write_sheet(files, place)
            say(f"wrote {place}: fill in its column labelled_tables and call again", err=True)
    guessed = Yield.of([each.guessed_tables for each in files])
    labelled = Yield.of([each.labelled_tables for each in files])
    if form == "json":
        facts = {"run": str(run), "seed": seed, "drawn": len(files), "sheet": str(place)}
        say(json.dumps({**facts, "guessed": asdict(guessed), "labelled": asdict(labelled)}))
    else:
        _print(files, guessed, labelled)


def _guessed(files: list[SampledFile], folder: Path) -> list[SampledFile]:
    guessed = list(files)
    paths = [folder / "files" / each.file for each in files]
    with progress("looking into files") as show:
        for done, (number, guess) in enumerate(guess_files(paths, os.cpu_count() or 1), start=1):
            guessed[number] = with_guess(files[number], guess.tables, guess.note)
            show(done, len(files))
    return guessed


def _print(files: list[SampledFile], guessed: Yield, labelled: Yield) -> None:
    say(f"{len(files)} files drawn")
    for name, found in (("guessed", guessed), ("labelled", labelled)):
        if not found.files:
            say(f"  {name + ':':<10}not defined: no file is {name}")
            continue
        say(
            f"  {name + ':':<10}{found.yield_pct:.0f} % of {found.files} files contain a statistics table;"
            f" {found.tables_per_file:.1f} tables per file"
            + (
                f", {found.tables_per_file_with_any:.1f} where there are any"
                if found.tables_per_file_with_any is not None
                else ""
            )
        )
    both = [each for each in files if each.guessed_tables is not None and each.labelled_tables is not None]
    if both:
        agreed = sum(bool(each.guessed_tables) == bool(each.labelled_tables) for each in both)
        say(f"  guess and label agree on {agreed} of {len(both)} files that have both")
    unknown = [each for each in files if each.guessed_tables is None and each.guess_note]
    for note in sorted({each.guess_note for each in unknown}):
        say(f"  not guessed, {sum(each.guess_note == note for each in unknown)}: {note}")
