"""Runs that spend one budget over many sites.

Each site is crawled and recorded once per strategy and seed, and the records are kept beside the results.
Every way of spending a budget is then played on the records (`coati.experiments.spending`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coati.assembly import build_strategy, strategy_row
from coati.budget import Budget
from coati.errors import ConfigError
from coati.experiments.deciding_code import modules_digest, strategy_digest
from coati.experiments.errors import ExperimentError
from coati.experiments.site_runs import SiteRunOptions, built_for, run_on_site
from coati.experiments.site_specs import ArchivedSite, SitesTogether
from coati.experiments.sites import OpenMemberSite, Places, SiteFacts, open_site
from coati.experiments.spec import Variant
from coati.experiments.spending import found
from coati.experiments.trials import Trial, TrialResult
from coati.experiments.workers import Job, LostJob
from coati.replaying.driver import replay
from coati.replaying.measures import SiteTotals
from coati.replaying.site_records import PromiseRecorder, SiteRecord
from coati.stop_reasons import StopReason

if TYPE_CHECKING:
    from coati.experiments.spec import Experiment
    from coati.experiments.workers import WorkerCache, Workers

_FOLDER = "records"
_GENERATOR = ("coati.testing.rich_and_poor",)
_RECORDING = ("coati.replaying.site_records",)
_SPENDING = ("coati.experiments.spending",)


@dataclass(frozen=True, slots=True)
class _Crawl:
    """A crawl to be recorded: of an archive, or of the generated site of a number."""

    together: SitesTogether
    variant: Variant
    seed: int
    archive: Path | None
    number: int

    @property
    def place(self) -> str:
        """What crawls of the same site have in common."""
        return f"{self.archive} {self.seed if self.archive is None else ''} {self.number}"

    def __str__(self) -> str:
        site = f"the generated site {self.number}" if self.archive is None else self.archive.name
        return f"the crawl of {site} by {self.variant.label}, seed {self.seed},"


class Records:
    """The files of recorded crawls, in the order of the sites that share a budget."""

    def __init__(self, files: Mapping[tuple[object, ...], Sequence[Path]]) -> None:
        self._files = files

    def of(self, together: SitesTogether, variant: Variant, seed: int | None) -> tuple[Path, ...]:
        """Return the records that a run is played on."""
        return tuple(self._files[_kind(together, variant, seed or 0)])


def record_crawls(
    experiment: Experiment,
    places: Places,
    out: Path,
    workers: Workers,
    progress: Callable[[str, int, int], None],
) -> Records:
    """Record each crawl of the sites that share a budget, as far as there is no record of it yet."""
    shared = [site for site in experiment.sites if isinstance(site, SitesTogether)]
    if not shared:
        return Records({})
    if experiment.bounds:
        raise ConfigError("sites that share a budget have no bounds of single sites: say bounds = false")
    folder = out / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    crawls: dict[tuple[object, ...], list[_Crawl]] = {}
    for together in shared:
        for variant in experiment.variants:
            for seed in experiment.seeds_of(variant.strategy):
                kind = _kind(together, variant, seed or 0)
                crawls.setdefault(kind, list(_crawls(together, variant, seed or 0, places)))
    listed = [crawl for each in crawls.values() for crawl in each]
    open_member = places.generators.open_member_site
    jobs = [Job(_record, (crawl, folder, open_member), crawl.place, str(crawl)) for crawl in listed]
    files: dict[int, Path] = {}
    for number, result in workers.run(jobs):
        if isinstance(result, LostJob):
            raise ExperimentError(f"{listed[number]} was not recorded: {result.reason}")
        files[number] = result
        progress("recording crawls", len(files), len(jobs))
    numbers = iter(range(len(listed)))
    return Records({kind: [files[next(numbers)] for _ in each] for kind, each in crawls.items()})


def _kind(together: SitesTogether, variant: Variant, seed: int) -> tuple[object, ...]:
    row = strategy_row(variant.strategy)
    settings = json.dumps(row.settings_read(variant.settings), sort_keys=True)
    if together.folders and not row.seeded:
        seed = 0
    return together.members, variant.strategy, settings, seed


def _crawls(together: SitesTogether, variant: Variant, seed: int, places: Places) -> list[_Crawl]:
    if not together.folders:
        return [_Crawl(together, variant, seed, None, number) for number in range(together.made)]
    if not strategy_row(variant.strategy).seeded:
        seed = 0
    archives = [places.find(ArchivedSite(name)) for name in together.folders]
    return [_Crawl(together, variant, seed, archive, number) for number, archive in enumerate(archives)]


def _record(cache: WorkerCache, task: tuple[_Crawl, Path, OpenMemberSite]) -> Path:
    """Record one crawl, unless there is a record of it; called in a process of its own."""
    crawl, folder, open_member = task
    if crawl.archive is None:
        what = f"{crawl.together.members} {crawl.seed} {crawl.number} {modules_digest(_GENERATOR)}"
    else:
        open_site(cache, crawl.archive)
        what = str(cache["digest"])
    file = folder / f"{_key(crawl, what)}.npz"
    if not file.is_file():
        is_generated = crawl.archive is None
        record = _generated_record(crawl, open_member) if is_generated else _archive_record(cache, crawl)
        record.write(file)
    return file


def _key(crawl: _Crawl, what: str) -> str:
    variant = crawl.variant
    facts = [
        modules_digest(_RECORDING),
        strategy_digest(variant.strategy),
        what,
        variant.strategy,
        strategy_row(variant.strategy).settings_read(variant.settings),
        crawl.seed,
        crawl.together.most,
    ]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def _archive_record(cache: WorkerCache, crawl: _Crawl) -> SiteRecord:
    site = open_site(cache, crawl.archive or Path())
    budget = Budget(max_requests=crawl.together.most)
    options = SiteRunOptions(settings=crawl.variant.settings, budget=budget)
    noted = PromiseRecorder(built_for(site, crawl.variant.strategy, crawl.seed, options))
    run_on_site(site, crawl.variant.strategy, crawl.seed, options, noted)
    totals = SiteTotals.of(site.truth)
    return noted.record(totals.urls, totals.targets)


def _generated_record(crawl: _Crawl, open_member: OpenMemberSite) -> SiteRecord:
    site = open_member(crawl.together, crawl.seed, crawl.number)
    strategy = build_strategy(
        crawl.variant.strategy, [site.start_url], crawl.seed, settings=crawl.variant.settings
    )
    noted = PromiseRecorder(strategy)
    run = replay(site, noted, Budget(max_requests=crawl.together.most))
    # Nothing waits at the end: what was found is all that can be.
    return noted.record(site.urls, run.trace.targets[-1] if len(run.trace) else 0)


def describe_together(together: SitesTogether, files: Sequence[Path]) -> SiteFacts:
    """Sum up the sites that share a budget, from their records."""
    records = [SiteRecord.read(file) for file in files]
    urls, targets = sum(each.urls for each in records), sum(each.targets for each in records)
    scale, generated = f"{len(records)} sites", not together.folders
    return SiteFacts.without_archive(together, _SPENDING, (urls, targets), scale, generated=generated)


def run_budget_trial(_: WorkerCache, trial: Trial, together: SitesTogether) -> TrialResult:
    """Spend a budget over recorded sites."""
    records = [SiteRecord.read(each) for each in trial.records]
    budget = round(sum(each.urls for each in records) * together.budget_pct / 100)
    if trial.budget.max_requests is not None:
        budget = min(budget, trial.budget.max_requests)
    shares = trial.variant.spending.shares(records, budget)
    stop = StopReason.BUDGET_REQUESTS if sum(shares) >= budget else StopReason.FINISHED
    return TrialResult.of(trial, stop.value, {"requests": sum(shares), "targets": found(records, shares)})
