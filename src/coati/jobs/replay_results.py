"""What a replay returns, and whom it tells how it goes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coati.errors import unknown_name
from coati.experiments.quantiles import quantile
from coati.jobs.arguments import checked_arguments
from coati.jobs.notebook_tables import rows_table
from coati.machine_errors import writing_to
from coati.replaying.charts import draw_coverage, draw_curves
from coati.runs.durable import write_json_lines
from coati.units import format_count

if TYPE_CHECKING:
    from coati.experiments.site_runs import OnRun
    from coati.replaying.comparison import MeasuredRun
    from coati.replaying.watch_replay import WatchRun

# Fewer have no quartiles worth the name.
_SEEDS_FOR_QUARTILES = 4


@dataclass(frozen=True, slots=True)
class ReplaySpread:
    """A measure of one strategy over its seeds, with the quartiles where there are seeds enough.

    Infinite where half of the runs never got there; not a number where no run has the measure.
    """

    median: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> ReplaySpread:
        """Work it out."""
        ordered = sorted(values)
        if not ordered:
            return cls(math.nan)
        if len(ordered) < _SEEDS_FOR_QUARTILES:
            return cls(quantile(ordered, 0.5))
        return cls(quantile(ordered, 0.5), quantile(ordered, 0.25), quantile(ordered, 0.75))


class _Results:
    """What results of crawls and of watches have in common."""

    site: str
    runs: Sequence[MeasuredRun | WatchRun]

    def __repr__(self) -> str:
        """Show on one line what was run; the traces are long."""
        runs = format_count(len(self.runs), "run")
        return f"<{type(self).__name__} on {self.site!r}: {runs} of {', '.join(self.strategies())}>"

    def rows(self) -> list[dict[str, object]]:
        """Return one flat object per run; None where a measure is not defined."""
        return [run.row() for run in self.runs]

    def strategies(self) -> list[str]:
        """List the strategies that were run, in order."""
        return list(dict.fromkeys(run.strategy for run in self.runs))

    def _values(self, strategy: str, measure: str) -> list[float | None]:
        """Return what each run of a strategy measured; raises for names that there are not."""
        if strategy not in self.strategies():
            raise unknown_name("strategy of these runs", strategy, self.strategies())
        own = [row for row in self.rows() if row["strategy"] == strategy]
        # The others say what was run.
        words = {"seed"} | {name for row in own for name, value in row.items() if isinstance(value, str)}
        if measure not in own[0].keys() - words:
            raise unknown_name("measure", measure, own[0].keys() - words)
        return [None if row[measure] is None else float(str(row[measure])) for row in own]

    @contextmanager
    def _written(self, folder: str | Path) -> Iterator[Path]:
        """Write ``results.jsonl`` into a folder, and let more be written there."""
        folder = Path(folder)
        with writing_to(folder):
            folder.mkdir(parents=True, exist_ok=True)
            write_json_lines(folder / "results.jsonl", self.rows())
            yield folder


@dataclass(frozen=True, repr=False)
class ReplayResults(_Results):
    """What `coati.replay` returns for strategies that crawl: every run with its trace and measures.

    ``remarks`` name pages that the archive no longer gives whole: the measures leave out what they led to.
    """

    site: str
    definition: str
    start_urls: tuple[str, ...]
    runs: tuple[MeasuredRun, ...]
    remarks: tuple[str, ...] = ()

    @checked_arguments
    def spread(self, strategy: str, measure: str) -> ReplaySpread:
        """Return the median of a measure over seeds, and its quartiles."""
        # A run that never got there counts as the worst there is, so that the median stays honest.
        worst = -math.inf if measure == "gap_closed" else math.inf
        found = self._values(strategy, measure)
        return ReplaySpread.of([worst if value is None else value for value in found])

    @checked_arguments
    def write(self, folder: str | Path) -> None:
        """Write ``results.jsonl``, a trace per run (CSV), and the curves as PNG and SVG."""
        with self._written(folder) as place:
            for run in self.runs:
                seed = "" if run.seed is None else f"-seed{run.seed}"
                run.run.trace.write_csv(place / f"{run.strategy}{seed}.csv")
            for form in ("png", "svg"):
                draw_curves(self.runs, place / f"curves.{form}")

    def _repr_html_(self) -> str:
        shown = ("strategy", "seed", "requests", "targets", "requests_to_90_pct", "auc", "auc_ratio", "stop")
        return rows_table(self.site, [{name: row[name] for name in shown} for row in self.rows()])


@dataclass(frozen=True, repr=False)
class WatchReplayResults(_Results):
    """What `coati.replay` returns for strategies that watch pages: every run with its measures, in order."""

    site: str
    runs: tuple[WatchRun, ...]

    @checked_arguments
    def spread(self, strategy: str, measure: str) -> ReplaySpread:
        """Return the median of a measure over the seeds that have it, and its quartiles."""
        return ReplaySpread.of([value for value in self._values(strategy, measure) if value is not None])

    @checked_arguments
    def write(self, folder: str | Path) -> None:
        """Write ``results.jsonl``, and coverage over time as PNG and SVG."""
        with self._written(folder) as place:
            for form in ("png", "svg"):
                draw_coverage(self.runs, place / f"coverage.{form}", self.site)

    def _repr_html_(self) -> str:
        return rows_table(self.site, self.rows())


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayCallbacks:
    """Whom a replay tells: what it runs on, how far each step is, runs as they go, and finished runs."""

    on_ready: Callable[[str], None] = lambda _words: None
    on_progress: Callable[[str, int, int], None] = lambda _step, _done, _total: None
    on_run: OnRun | None = None
    on_result: Callable[[MeasuredRun | WatchRun], None] = lambda _run: None
