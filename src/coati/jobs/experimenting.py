"""Running the experiment that a file describes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from coati.errors import UsageError
from coati.experiments.examples import with_examples_there, without_examples
from coati.experiments.outputs import provenance, tables_of, write_outputs
from coati.experiments.parquet import require_duckdb
from coati.experiments.runner import SITES_FOLDER, Study, run_experiment
from coati.experiments.sites import Places
from coati.experiments.spec import read_experiment
from coati.experiments.tables import Table, objects
from coati.jobs.arguments import PathText, checked_arguments, count_of, path_of, texts_of
from coati.jobs.generated_sites import GENERATORS
from coati.jobs.notebook_tables import rows_table
from coati.jobs.progress_bar import progress_of_steps
from coati.jobs.stopping import unless_stopped
from coati.live.stop_signal import StopSignal
from coati.machine_errors import writing_to
from coati.units import format_count

OnProgress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, repr=False)
class ExperimentResults:
    """What `coati.experiment` returns: the study, the files it wrote, and the rows that were left out."""

    study: Study
    files: tuple[Path, ...]
    left_out: tuple[str, ...]

    def __repr__(self) -> str:
        """Show on one line what was run; the results are many."""
        return (
            f"<ExperimentResults {self.study.experiment.title!r}: {format_count(len(self.rows()), 'number')}>"
        )

    def rows(self) -> list[dict[str, object]]:
        """Return one object per number of the table, with its spread and the published number."""
        return objects(self.study)

    def tables(self) -> list[Table]:
        """Return the tables as they are printed."""
        return tables_of(self.study)

    @property
    def provenance(self) -> str:
        """What the results were made with: commit, code, seeds, budget."""
        return provenance(self.study).strip()

    def _repr_html_(self) -> str:
        shown = [
            rows_table(table.title, [dict(zip(table.header, row, strict=True)) for row in table.rows])
            for table in self.tables()
        ]
        return "".join(shown)


@checked_arguments
def experiment(  # noqa: PLR0913 - one argument per option of the command
    file: PathText,
    *,
    archives: str | Path | None = None,
    out: str | Path = "results",
    jobs: int | None = None,
    sites: str | Iterable[str] = (),
    strategies: str | Iterable[str] = (),
    seeds: int | None = None,
    max_requests: int | None = None,
    parquet: bool = True,
    on_progress: OnProgress | None = None,
    stop: StopSignal | None = None,
    show_progress: bool | None = None,
) -> ExperimentResults:
    """Run every strategy on every site with every seed, as FILE.toml says, and write the tables into ``out``.

    ``sites`` and ``strategies`` run a part; strategies that the file does not name, yours among them
    (``my_module:MyStrategy``), run beside it. ``on_progress`` gets what is done, how far it is, and how much
    there is. Once ``stop`` is set, the experiment ends after the next finished run and raises
    `coati.jobs.stopping.StoppedError`; the same call resumes. Runs are made in ``jobs`` processes: one per
    core unless given, and 0 for none of its own.
    """
    workers = (os.cpu_count() or 1) if jobs is None else count_of("jobs", jobs, least=0)
    seeds = None if seeds is None else count_of("seeds", seeds)
    max_requests = None if max_requests is None else count_of("max_requests", max_requests)
    own_sites, own_strategies = texts_of("sites", sites), texts_of("strategies", strategies)
    described = read_experiment(path_of("file", file)).narrowed(
        frozenset(own_sites),
        seeds,
        max_requests,
        frozenset(own_strategies),
    )
    if parquet:
        require_duckdb()
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {folder}: the folder cannot be created ({error.strerror})") from error
    places = Places(None if archives is None else Path(archives), folder / SITES_FOLDER, GENERATORS)
    left_out: tuple[str, ...] = ()
    if own_sites and not own_strategies:
        described, left_out = without_examples(described, places)
    elif described.part:
        described = with_examples_there(described, places)
    with writing_to(folder):
        with progress_of_steps(show_progress, on_progress) as report_progress:
            study = run_experiment(described, places, folder, workers, unless_stopped(stop, report_progress))
        files = write_outputs(study, folder, parquet=parquet)
    return ExperimentResults(study, tuple(files), left_out)
