"""Run strategies over an archived site, and measure them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path

from coati.archive.archive import Archive
from coati.assembly import (
    DISCOVERY,
    Need,
    StrategySettings,
    build_early_stop,
    build_goal,
    build_shortcuts,
    strategy_row,
)
from coati.budget import Budget
from coati.errors import ConfigError, UsageError, unknown_name
from coati.experiments.site_runs import OnRun, SiteRunOptions, compare_on_site, seeds_for
from coati.jobs.arguments import (
    PathText,
    Seconds,
    bytes_of,
    checked_arguments,
    count_of,
    number_of,
    path_of,
    seconds_of,
    text_of,
    texts_of,
)
from coati.jobs.own_code import require_current
from coati.jobs.progress_bar import progress_of_steps
from coati.jobs.replay_results import ReplayCallbacks, ReplayResults, WatchReplayResults
from coati.jobs.replaying_watches import WatchReplayPlan, are_watches, replay_watches
from coati.jobs.stopping import unless_stopped
from coati.live.stop_signal import StopSignal
from coati.replaying.comparison import MeasuredRun
from coati.replaying.example_pages import example_pages, join_examples
from coati.replaying.measures import SiteTotals
from coati.replaying.site import ReplaySite
from coati.replaying.watch_replay import WatchRun
from coati.strategies.tres.tres import TresExamples
from coati.times import parse_moment, to_iso
from coati.web.likely_extensions import likely_extensions
from coati.web.markup.goals import all_of
from coati.web.media import parse_types
from coati.web.rules import Scope

DEFAULT_STRATEGIES = ("scent", "sb-classifier", "bfs", "clairvoyant")


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
        # A name in capitals is one of ours; a path keeps them, also one that is written with a dot.
        names = [
            name if {":", "."} & set(name) else name.lower()
            for each in self.strategies
            if (name := each.strip())
        ]
        if not names:
            raise ConfigError("no strategy given; `coati strategies` lists them")
        if searching := next((name for name in names if name in DISCOVERY), None):
            raise ConfigError(
                f"{searching} searches the web for repositories: it works only in `coati discover`"
            )
        seeds = range(self.seed, self.seed + self.seeds)
        return [(name, seed) for name in dict.fromkeys(names) for seed in seeds_for(name, seeds)]


@checked_arguments
def replay(  # noqa: PLR0913 - one argument per option of the command
    archive: PathText,
    strategies: str | Iterable[str] = DEFAULT_STRATEGIES,
    *,
    seeds: int = 1,
    seed: int = 0,
    types: str | None = None,
    start_url: str | Iterable[str] = (),
    as_of: str | float | None = None,
    max_requests: int | None = None,
    max_bytes: int | str | None = None,
    max_time: Seconds | None = None,
    max_targets: int | None = None,
    early_stop: str = "off",
    examples: PathText | Iterable[PathText] = (),
    goal: str | Iterable[str] = (),
    scope: str = Scope.DOMAIN.value,
    shortcuts: str = "off",
    per_cycle: int | None = None,
    per_site: int | None = None,
    every: Seconds | None = None,
    relevant: str = "",
    cold: bool = False,
    link_cache: bool = True,
    out: PathText | None = None,
    on_ready: Callable[[str], None] | None = None,
    on_progress: Callable[[str, int, int], None] | None = None,
    on_run: OnRun | None = None,
    on_result: Callable[[MeasuredRun | WatchRun], None] | None = None,
    stop: StopSignal | None = None,
    show_progress: bool | None = None,
) -> ReplayResults | WatchReplayResults:
    """Run strategies over an archived site, and return their measures; nothing is fetched.

    ``strategies`` are names, or paths of your own (``my_module:MyStrategy``). Those that watch pages run over
    the history of the archive, in cycles; ``per_cycle``, ``per_site``, ``every``, ``relevant`` and ``cold``
    are for them, and most other options for those that crawl. With ``goal``, pages that meet it are targets;
    an archive of many hosts needs the ``scope`` "any". With ``shortcuts`` "auto", strategies that can use
    them are offered the APIs whose answers the archive holds; with "only", nothing else is followed. The
    results are written to the folder ``out``, if there is one.

    ``on_ready`` gets in words what is replayed, ``on_progress`` which step is done, how far it is and of how
    much, ``on_run`` the strategy of a crawl, its seed, and its requests and targets so far, and ``on_result``
    gets each finished run. With ``stop``, it raises `coati.jobs.stopping.StoppedError` once that is set.
    """
    names = texts_of("strategies", strategies)
    if scope not in set(Scope):
        raise unknown_name("scope", text_of("scope", scope), set(Scope))
    plan = ReplayPlan(
        strategies=[name for each in names for name in each.split(",")],
        seeds=count_of("seeds", seeds),
        seed=count_of("seed", seed, least=0),
        types=None if types is None else text_of("types", types),
        start_urls=texts_of("start_url", start_url),
        as_of=None if as_of is None else _moment("as_of", as_of),
        budget=Budget(
            None if max_requests is None else count_of("max_requests", max_requests),
            None if max_bytes is None else bytes_of("max_bytes", max_bytes),
            None if max_time is None else seconds_of("max_time", max_time),
            None if max_targets is None else count_of("max_targets", max_targets),
        ),
        early_stop=text_of("early_stop", early_stop),
        examples=[Path(each) for each in texts_of("examples", examples)],
        goal=texts_of("goal", goal),
        scope=scope,
        shortcuts=shortcuts,
        link_cache=link_cache,
    )
    wanted = plan.wanted()
    require_current((name for name, _ in wanted), plan.goal)
    watching = WatchReplayPlan(
        wanted=wanted,
        start_urls=plan.start_urls,
        per_cycle=None if per_cycle is None else count_of("per_cycle", per_cycle),
        per_site=None if per_site is None else count_of("per_site", per_site),
        every=None if every is None else seconds_of("every", every),
        relevant=relevant,
        cold=cold,
        link_cache=link_cache,
    )
    place, folder = path_of("archive", archive), None if out is None else path_of("out", out)
    watches = are_watches(wanted)
    _require_fitting(plan, watching, watches=watches)
    if folder is not None:
        _make_folder(folder)
    with progress_of_steps(show_progress, on_progress) as step:
        callbacks = ReplayCallbacks(
            on_ready=on_ready or (lambda _words: None),
            on_progress=unless_stopped(stop, step),
            on_run=on_run,
            on_result=unless_stopped(stop, on_result or (lambda _run: None)),
        )
        results = (
            replay_watches(place, watching, callbacks) if watches else _replay_crawls(place, plan, callbacks)
        )
    if folder is not None:
        results.write(folder)
    return results


def _moment(name: str, value: str | float) -> float:
    return parse_moment(value, end_of_day=True) if isinstance(value, str) else number_of(name, value)


# Options that both kinds of strategies have.
_SHARED = frozenset({"wanted", "strategies", "seeds", "seed", "start_urls", "link_cache"})


def _require_fitting(plan: ReplayPlan, watching: WatchReplayPlan, *, watches: bool) -> None:
    """Refuse options that the strategies have no use for."""
    unused: ReplayPlan | WatchReplayPlan = plan if watches else watching
    usual: ReplayPlan | WatchReplayPlan = ReplayPlan() if watches else WatchReplayPlan(wanted=())
    for field_ in fields(unused):
        given, default = getattr(unused, field_.name), getattr(usual, field_.name)
        if field_.name not in _SHARED and (given or None) != (default or None):
            name = field_.name
            if isinstance(given, Budget):
                name = next(each.name for each in fields(given) if getattr(given, each.name) is not None)
            for_whom = "crawl a site" if watches else "watch pages"
            option = name.replace("max_seconds", "max_time").replace("_", "-")
            raise ConfigError(f"--{option} is for strategies that {for_whom}")


def _make_folder(folder: Path) -> None:
    """Make the folder for results before the work begins, so that no result is lost for want of one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {folder}: the folder cannot be created ({error.strerror})") from error


def _replay_crawls(archive: Path, plan: ReplayPlan, callbacks: ReplayCallbacks) -> ReplayResults:
    wanted = plan.wanted()
    with _site(archive, plan, callbacks) as (opened, site):
        starts = " and ".join(site.start_urls)
        callbacks.on_ready(f"{site.name}: starts at {starts}; targets are {site.definition}")
        urls = SiteTotals.of(site.truth).urls

        def tell(name: str, seed: int | None, requests: int, targets: int) -> None:
            label = name if seed is None else f"{name} seed {seed}"
            callbacks.on_progress(f"{label}: {targets} targets", requests, urls)
            if callbacks.on_run is not None:
                callbacks.on_run(name, seed, requests, targets)

        types = None if plan.types is None else parse_types(plan.types)
        options = SiteRunOptions(
            settings=StrategySettings()
            if types is None
            else StrategySettings(likely_extensions=likely_extensions(types)),
            budget=plan.budget,
            early_stop=lambda: build_early_stop(plan.early_stop),
            examples=_example_pages(opened, [name for name, _ in wanted], plan.examples),
            on_run=tell,
        )
        runs = []
        for run in compare_on_site(site, wanted, options):
            runs.append(run)
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
                progress=lambda *step: callbacks.on_progress("extracting links", *step),
                goal=all_of(tuple(build_goal(text) for text in plan.goal)) if plan.goal else None,
                scope=Scope(plan.scope),
                shortcuts=build_shortcuts(plan.shortcuts),
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
