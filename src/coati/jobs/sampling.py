"""A sample of a run's files, and how many statistics tables they hold."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from coati.experiments.yield_files import guess_files, require_readers
from coati.experiments.yield_sheet import (
    SampledFile,
    Yield,
    draw_sample,
    read_sheet,
    with_guess,
    write_sheet,
)
from coati.jobs.arguments import PathText, checked_arguments, count_of, path_of
from coati.jobs.notebook_tables import rows_table
from coati.jobs.progress_bar import progress
from coati.machine_errors import writing_to
from coati.runs.reader import RunReader


@dataclass(frozen=True, slots=True)
class Sample:
    """What `coati.sample` returns; ``is_new`` says that this call drew it and wrote its ``sheet``."""

    run: Path
    seed: int
    sheet: Path
    files: tuple[SampledFile, ...]
    is_new: bool

    @property
    def guessed(self) -> Yield:
        """The tables by the guesses."""
        return Yield.of([each.guessed_tables for each in self.files])

    @property
    def labelled(self) -> Yield:
        """The tables by what was filled in by hand."""
        return Yield.of([each.labelled_tables for each in self.files])

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it, without the files."""
        return {
            "run": str(self.run),
            "seed": self.seed,
            "drawn": len(self.files),
            "sheet": str(self.sheet),
            "guessed": asdict(self.guessed),
            "labelled": asdict(self.labelled),
        }

    def _repr_html_(self) -> str:
        return rows_table(f"Sample of {self.run} in {self.sheet}", [asdict(each) for each in self.files])


@checked_arguments
def sample(  # noqa: PLR0913 - one argument per option of the command
    run: PathText,
    n: int = 40,
    *,
    seed: int = 0,
    sheet: str | Path | None = None,
    guess: bool = True,
    on_progress: Callable[[int, int], None] | None = None,
    show_progress: bool | None = None,
) -> Sample:
    """Draw ``n`` files of a run, guess how many statistics tables each holds, and write a sheet.

    Fill in the sheet's column ``labelled_tables`` and call again: the counts are then read from the sheet.
    Of a run without files nothing is drawn or written.
    """
    folder, n, seed = path_of("run", run), count_of("n", n), count_of("seed", seed, least=0)
    place = Path(sheet) if sheet is not None else folder / f"sample-{n}-seed{seed}.csv"
    with RunReader(folder) as reader:
        # A sheet without rows was drawn before the run had any file.
        known = tuple(read_sheet(place)) if place.exists() else ()
        if known:
            return Sample(folder, seed, place, known, is_new=False)
        if guess:
            require_readers()
        files = draw_sample(reader, n, seed)
        if not files:
            return Sample(folder, seed, place, (), is_new=False)
        if guess:
            with progress("Looking into files", show_progress, on_progress) as report_progress:
                files = _guessed(files, reader.layout.files, report_progress)
        with writing_to(place):
            write_sheet(files, place)
    return Sample(folder, seed, place, tuple(files), is_new=True)


def _guessed(
    files: list[SampledFile], folder: Path, on_progress: Callable[[int, int], None]
) -> list[SampledFile]:
    guessed = list(files)
    paths = [folder / each.file for each in files]
    for done, (number, guess) in enumerate(guess_files(paths, os.cpu_count() or 1), start=1):
        guessed[number] = with_guess(files[number], guess.tables, guess.note)
        on_progress(done, len(files))
    return guessed
