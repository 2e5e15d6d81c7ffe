"""``coati sample``: how many files of a run contain statistics tables, guessed and labelled by hand."""

from __future__ import annotations

from pathlib import Path

import click

from coati.cli.completion import RunPath
from coati.cli.output_format import format_option
from coati.cli.terminal import say, say_json
from coati.jobs.sampling import Sample
from coati.jobs.sampling import sample as draw
from coati.units import format_count


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
@format_option
def sample(run: Path, count: int, seed: int, sheet: Path | None, guess: bool, form: str) -> None:
    """Draw a sample of the files of RUN, and count the statistics tables in them.

    The first call draws the sample, guesses the counts and writes a sheet. Fill in its column labelled_tables
    (0 for a file without tables) and call again to compare your counts with the guess.
    """
    drawn = draw(run, count, seed=seed, sheet=sheet, guess=guess, show_progress=True)
    if drawn.is_new:
        say(f"wrote {drawn.sheet}: fill in its column labelled_tables and call again", err=True)
    elif drawn.files:
        say(f"read {drawn.sheet}, which was drawn before; to draw again, give another --seed", err=True)
    else:
        say(f"The run in {run} has no files yet, so there is nothing to draw.", err=True)
    if form == "json":
        say_json(drawn.as_json())
    else:
        _print(drawn)


def _print(drawn: Sample) -> None:
    files = drawn.files
    say(f"{format_count(len(files), 'file')} drawn")
    for name, found in (("guessed", drawn.guessed), ("labelled", drawn.labelled)):
        if not found.files:
            say(f"  {name + ':':<10}not defined: no file is {name}")
            continue
        say(
            f"  {name + ':':<10}{found.yield_pct:.0f} % of {format_count(found.files, 'file')} contain"
            " a statistics table;"
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
