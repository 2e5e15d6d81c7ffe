"""Run strategies over an archived site, and measure them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from coati.archive.archive import Archive
from coati.assembly import (
    Need,
    StrategySettings,
    build_early_stop,
    build_goal,
    build_shortcuts,
    strategy_row,
)
from coati.budget import Budget
from coati.errors import ConfigError, UsageError, unknown_name
from coati.experiments.quantiles import quantile
from coati.experiments.site_runs import OnRun, SiteRunOptions, compare_on_site, seeds_for
from coati.jobs.arguments import PathText, count_of, path_of, text_of, texts_of
from coati.jobs.notebook_tables import rows_table
from coati.machine_errors import writing_to
from coati.replaying.charts import draw_curves
from coati.replaying.example_pages import example_pages, join_examples
from coati.replaying.site import ReplaySite
from coati.runs.durable import write_json_lines
from coati.times import parse_moment, to_iso
from coati.units import format_count, parse_bytes, parse_seconds
from coati.web.likely_extensions import likely_extensions
from coati.web.markup.goals import all_of
from coati.web.media import parse_types
from coati.web.rules import Scope

if TYPE_CHECKING:
    from coati.replaying.comparison import MeasuredRun
    from coati.strategies.tres.tres import TresExamples

DEFAULT_STRATEGIES = ("scent", "sb-classifier", "bfs", "clairvoyant")

# Fewer have no quartiles worth the name.
_SEEDS_FOR_QUARTILES = 4


@dataclass(frozen=True, slots=True)
class ReplaySpread:
    """A measure of one strategy over its seeds: infinite where it was never reached, by half of the runs."""

    median: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ReplayResults:
    """What `coati.replaying` returns: every run with its trace and measures, in order.

    ``remarks`` name pages that the archive no longer gives whole: the measures leave out what they led to.
    """

    site: str
    definition: str
    start_urls: tuple[str, ...]
    runs: tuple[MeasuredRun, ...]
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Show on one line what was run; the traces are long."""
        runs = format_count(len(self.runs), "run")
        return f"<ReplayResults on {self.site!r}: {runs} of {', '.join(self.strategies())}>"

    def rows(self) -> list[dict[str, object]]:
        """Return one flat object per run; None where a measure is not defined."""
        return [run.row() for run in self.runs]

    def spread(self, strategy: str, measure: str) -> ReplaySpread:
        """Return the median over seeds, and the quartiles where there are seeds enough."""
        # A run that never got there counts as the worst there is, so that the median stays honest.
        worst = -math.inf if measure == "gap_closed" else math.inf
        if strategy not in self.strategies():
            raise unknown_name("strategy of these runs", strategy, self.strategies())
        rows = [row for row in self.rows() if row["strategy"] == strategy]
        if not all(measure in row for row in rows):
            raise unknown_name("measure", measure, rows[0])
        found = [row[measure] for row in rows]
        values = sorted(worst if value is None else float(str(value)) for value in found)
        if len(values) < _SEEDS_FOR_QUARTILES:
            return ReplaySpread(quantile(values, 0.5))
        return ReplaySpread(quantile(values, 0.5), quantile(values, 0.25), quantile(values, 0.75))

    def strategies(self) -> list[str]:
        """List the strategies that were run, in order."""
        return list(dict.fromkeys(run.strategy for run in self.runs))

    def write(self, folder: str | Path) -> None:
        """Write ``results.jsonl``, a trace per run (CSV), and the curves as PNG and SVG."""
        folder = Path(folder)
        with writing_to(folder):
            folder.mkdir(parents=True, exist_ok=True)
            write_json_lines(folder / "results.jsonl", self.rows())
            for run in self.runs:
                seed = "" if run.seed is None else f"-seed{run.seed}"
                run.run.trace.write_csv(folder / f"{run.strategy}{seed}.csv")
            for form in ("png", "svg"):
                draw_curves(self.runs, folder / f"curves.{form}")

    def _repr_html_(self) -> str:
        shown = ("strategy", "seed", "requests", "targets", "requests_to_90_pct", "auc", "auc_ratio", "stop")
        return rows_table(self.site, [{name: row[name] for name in shown} for row in self.rows()])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayCallbacks:
    """Who is told how a replay goes: links being extracted, the site being ready, runs, finished runs."""

    on_links: Callable[[int, int], None] | None = None
    on_site: Callable[[ReplaySite], None] | None = None
    on_run: OnRun | None = None
    on_result: Callable[[MeasuredRun], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPlan:
    """What is replayed, and how; the fields are the options of ``coati replay``."""

    strategies: Sequence[str] = DEFAULT_STRATEGIES
    seeds: int = 1
    seed: int = 0
    types: str | None = None
    start_urls: Sequence[str] = ()
    as_of: float | None = None
    budget: Budget = field(default_factory=Budget)
    early_stop: str = "off"
    examples: Sequence[Path] = ()
    link_cache: bool = True
    goal: Sequence[str] = ()
    scope: str = Scope.DOMAIN.value
    shortcuts: str = "off"

    def wanted(self) -> list[tuple[str, int | None]]:
        """List the runs: each strategy with each seed, once."""
        if self.seeds < 1:
            raise ConfigError(f"--seeds is {self.seeds}: it must be at least 1")
        names = [name if ":" in name else name.lower() for each in self.strategies if (name := each.strip())]
        if not names:
            raise ConfigError("no strategy given; `coati strategies` lists them")
        seeds = range(self.seed, self.seed + self.seeds)
        return [(name, seed) for name in dict.fromkeys(names) for seed in seeds_for(name, seeds)]


def replay(  # noqa: PLR0913 - one argument per option of the command
    archive: PathText,
    strategies: str | Iterable[str] = DEFAULT_STRATEGIES,
    *,
    seeds: int = 1,
    seed: int = 0,
    types: str | None = None,
    start_urls: str | Iterable[str] = (),
    as_of: str | float | None = None,
    max_requests: int | None = None,
    max_bytes: int | str | None = None,
    max_time: float | str | None = None,
    max_targets: int | None = None,
    early_stop: str = "off",
    examples: PathText | Iterable[PathText] = (),
    goal: str | Iterable[str] = (),
    scope: str = Scope.DOMAIN.value,
    shortcuts: str = "off",
    on_run: OnRun | None = None,
) -> ReplayResults:
    """Run strategies over an archived site, and return their traces and measures; nothing is fetched.

    ``strategies`` are names, or paths of your own (``my_module:MyStrategy``). ``on_run`` is called with the
    strategy, its seed, and the requests and targets so far. With ``goal``, pages that meet it are targets;
    an archive of many hosts needs the ``scope`` "any". With ``shortcuts`` "auto", strategies that can use
    them are offered the APIs whose answers the archive holds; with "only", nothing else is followed.
    """
    names = texts_of("strategies", strategies)
    if scope not in set(Scope):
        raise unknown_name("scope", text_of("scope", scope), set(Scope))
    budget = Budget(
        None if max_requests is None else count_of("max_requests", max_requests),
        parse_bytes(max_bytes) if isinstance(max_bytes, str) else max_bytes,
        parse_seconds(max_time) if isinstance(max_time, str) else max_time,
        None if max_targets is None else count_of("max_targets", max_targets),
    )
    plan = ReplayPlan(
        strategies=[name for each in names for name in each.split(",")],
        seeds=count_of("seeds", seeds),
        seed=seed,
        types=None if types is None else text_of("types", types),
        start_urls=texts_of("start_urls", start_urls),
        as_of=parse_moment(as_of, end_of_day=True) if isinstance(as_of, str) else as_of,
        budget=budget,
        early_stop=text_of("early_stop", early_stop),
        examples=[Path(each) for each in texts_of("examples", examples)],
        goal=texts_of("goal", goal),
        scope=scope,
        shortcuts=shortcuts,
    )
    return replay_archive(path_of("archive", archive), plan, ReplayCallbacks(on_run=on_run))


def replay_archive(archive: Path, plan: ReplayPlan, callbacks: ReplayCallbacks) -> ReplayResults:
    """Carry a replay out."""
    wanted = plan.wanted()
    with _site(archive, plan, callbacks) as (opened, site):
        if callbacks.on_site is not None:
            callbacks.on_site(site)
        types = None if plan.types is None else parse_types(plan.types)
        options = SiteRunOptions(
            settings=StrategySettings()
            if types is None
            else StrategySettings(likely_extensions=likely_extensions(types)),
            budget=plan.budget,
            early_stop=lambda: build_early_stop(plan.early_stop),
            examples=_example_pages(opened, [name for name, _ in wanted], plan.examples),
            on_run=callbacks.on_run,
        )
        runs = []
        for run in compare_on_site(site, wanted, options):
            runs.append(run)
            if callbacks.on_result is not None:
                callbacks.on_result(run)
        return ReplayResults(
            site.name, str(site.definition), tuple(site.start_urls), tuple(runs), tuple(site.remarks.values())
        )


@contextmanager
def _site(
    archive: Path, plan: ReplayPlan, callbacks: ReplayCallbacks
) -> Iterator[tuple[Archive, ReplaySite]]:
    with Archive.open(archive) as opened:
        span = opened.span()
        if plan.as_of is not None and (span is None or plan.as_of < span[0]):
            begins = "has no capture times" if span is None else f"begins at {to_iso(span[0])}"
            raise UsageError(f"--as-of: the archive {opened.meta.name} {begins}")
        yield (
            opened,
            ReplaySite(
                opened,
                start_urls=plan.start_urls,
                types=None if plan.types is None else parse_types(plan.types),
                as_of=plan.as_of,
                use_link_cache=plan.link_cache,
                progress=callbacks.on_links,
                goal=all_of(tuple(build_goal(text) for text in plan.goal)) if plan.goal else None,
                scope=Scope(plan.scope),
                shortcuts=build_shortcuts(plan.shortcuts, "scent"),
            ),
        )


def _example_pages(
    archive: Archive, strategies: Sequence[str], examples: Sequence[Path]
) -> TresExamples | None:
    """Read the example pages of other archives, if a strategy needs them and there are any."""
    if not examples or not any(Need.EXAMPLES in strategy_row(name).needs for name in strategies):
        return None
    found = []
    for folder in examples:
        with Archive.open(folder) as other:
            if other.digest() == archive.digest():
                raise UsageError(
                    f"--examples {folder}: this is the replayed site itself; examples must come from other"
                    f" sites"
                )
            found.append(example_pages(ReplaySite(other)))
    return join_examples(found)
