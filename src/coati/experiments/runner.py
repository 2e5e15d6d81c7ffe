"""Run every trial of an experiment in parallel, and resume where an earlier attempt ended.

Each finished run is one file, written whole, named by all that decides its result. So an experiment that was
killed loses the runs that were under way and no other, and tables that need the same runs share them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coati.assembly import Need, strategy_row
from coati.experiments.budget_trials import Records, describe_together, record_crawls, run_budget_trial
from coati.experiments.deciding_code import forget_digests, modules_of, require_unchanged
from coati.experiments.errors import ExperimentError
from coati.experiments.examples import ExampleFile, collect_examples, read_examples
from coati.experiments.recording import RecordingStrategy
from coati.experiments.search_trials import describe_topic, run_search_trial
from coati.experiments.site_runs import PLAIN, SiteRunOptions, built_for, run_on_site
from coati.experiments.site_specs import (
    GENERATED,
    ArchivedSite,
    GeneratedSite,
    GeneratedWeb,
    SearchedTopic,
    SitesTogether,
    WatchedHistory,
)
from coati.experiments.sites import Generators, Places, SiteFacts, describe, open_site
from coati.experiments.spec import BOUNDS, Experiment, Variant
from coati.experiments.trials import Trial, TrialResult, measured
from coati.experiments.watch_trials import describe_history, run_watch_trial
from coati.experiments.web_trials import describe_web, run_web_trial
from coati.experiments.workers import Job, LostJob, WorkerCache, Workers
from coati.replaying.measures import SiteTotals

StepCallback = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""

_CELLS_FOLDER = "cells"
SITES_FOLDER = "sites"


@dataclass(frozen=True, slots=True)
class Study:
    """A finished experiment: its sites and the result of each run, by site, row and seed."""

    experiment: Experiment
    sites: tuple[SiteFacts, ...]
    results: dict[tuple[str, str, int | None], TrialResult]
    reused: int

    def of(self, site: str, variant: Variant) -> list[TrialResult]:
        """List the results of a row on a site, by seed."""
        seeds = self.experiment.seeds_of(variant.strategy)
        return [self.results[site, variant.label, seed] for seed in seeds]

    def reference(self, site: str, strategy: str) -> TrialResult | None:
        """Return the run of a strategy that needs no seed."""
        return self.results.get((site, strategy, None))


def run_experiment(
    experiment: Experiment, places: Places, out: Path, jobs: int, progress: StepCallback
) -> Study:
    """Make every run that has no result yet; with ``jobs`` of 0, in this process."""
    if jobs:
        # Processes of their own import the code as it is now; this one still runs what it imported once.
        forget_digests()
    else:
        deciding = {name for variant in rows(experiment) for name in modules_of(variant.strategy)}
        require_unchanged(sorted(deciding), ", or let another process make the runs: jobs=1")
    workers = Workers(jobs)
    records = record_crawls(experiment, places, out, workers, progress)
    sites = _prepare(experiment, places, records, workers, progress)
    examples = collect_examples(experiment, places, out, workers, progress)
    folder = out / _CELLS_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    wanted = _trials(experiment, sites, examples, records, folder)
    found = {file: TrialResult.read(file) for file in set(wanted.values())}
    # Rows with the same settings share their runs.
    missing = {file: trial for trial, file in wanted.items() if found[file] is None}
    reused, total = len(found) - len(missing), len(found)
    progress("runs", reused, total)
    trials = list(missing.values())
    tasks = [
        replace(_job(trial, file, places.generators), name=str(trial)) for file, trial in missing.items()
    ]
    for done, (number, result) in enumerate(workers.run(tasks), start=reused + 1):
        if isinstance(result, LostJob):
            raise ExperimentError(
                f"{trials[number]} failed: {result.reason}; the same command resumes from here"
            )
        found[wanted[trials[number]]] = result
        progress("runs", done, total)
    # A copy of an archive under another name has the same results.
    results = {
        (trial.site, trial.label, trial.seed): replace(result, site=trial.site)
        for trial, file in wanted.items()
        if (result := found[file]) is not None
    }
    return Study(experiment, sites, results, reused)


def _job(trial: Trial, file: Path, generators: Generators) -> Job:
    spec = trial.spec
    if isinstance(spec, WatchedHistory):
        where = f"{trial.archive} {spec.setting} {spec.seed}"
        return Job(_kept, (file, run_watch_trial, (trial, spec, generators.open_history)), where)
    where = f"{trial.site} {trial.seed}"
    if isinstance(spec, SearchedTopic):
        return Job(_kept, (file, run_search_trial, (trial, spec, generators.open_topic)), where)
    if isinstance(spec, SitesTogether):
        return Job(_kept, (file, run_budget_trial, (trial, spec)))
    if isinstance(spec, GeneratedWeb):
        return Job(_kept, (file, run_web_trial, (trial, spec, generators.open_web)), where)
    return Job(_kept, (file, _run_trial, (trial,)), str(trial.archive))


def _kept(
    cache: WorkerCache, task: tuple[Path, Callable[..., TrialResult], tuple[object, ...]]
) -> TrialResult:
    """Make one run and keep its result; called in a process of its own."""
    file, run, arguments = task
    result = run(cache, *arguments)
    result.write(file)
    return result


def _trials(
    experiment: Experiment,
    sites: Sequence[SiteFacts],
    examples: Sequence[ExampleFile],
    records: Records,
    folder: Path,
) -> dict[Trial, Path]:
    """List every run of an experiment, with the file that keeps its result."""
    trials = []
    for spec, site in zip(experiment.sites, sites, strict=True):
        others = tuple(each for each in examples if each.archive != site.digest)
        budget = experiment.budget
        if experiment.until_all_found and site.totals.targets:
            budget = replace(budget, max_targets=site.totals.targets)
        for variant in rows(experiment):
            given = others if Need.EXAMPLES in strategy_row(variant.strategy).needs else ()
            for seed in experiment.seeds_of(variant.strategy):
                played = records.of(spec, variant, seed) if isinstance(spec, SitesTogether) else ()
                where = spec, site.archive, site.digest
                trials.append(Trial(*where, variant, seed, budget, given, experiment.classify, played))
    return {trial: folder / f"{trial.key()}.json" for trial in trials}


def rows(experiment: Experiment) -> list[Variant]:
    """List what is run: the rows of the table, and the references that are not among them."""
    listed = list(experiment.variants)
    labels = {variant.label for variant in listed}
    references = [*BOUNDS, PLAIN] if experiment.bounds else []
    return listed + [Variant(name) for name in references if name not in labels]


def _run_trial(cache: WorkerCache, trial: Trial) -> TrialResult:
    site = open_site(cache, trial.archive, trial.types)
    name = trial.variant.strategy
    examples = read_examples(trial.examples) if Need.EXAMPLES in strategy_row(name).needs else None
    options = SiteRunOptions(settings=trial.settings, budget=trial.budget, examples=examples)
    watched = RecordingStrategy(built_for(site, name, trial.seed, options), site.truth)
    run = run_on_site(site, name, trial.seed, options, watched)
    return measured(trial, run, watched, SiteTotals.of(site.truth))


def _prepare(
    experiment: Experiment, places: Places, records: Records, workers: Workers, progress: StepCallback
) -> tuple[SiteFacts, ...]:
    found: dict[int, SiteFacts] = {}
    folders: dict[int, tuple[str, Path, str]] = {}
    for number, site in enumerate(experiment.sites):
        progress("finding sites", number, len(experiment.sites))
        if isinstance(site, GeneratedWeb):
            found[number] = describe_web(site, places.generators.open_web(site, experiment.seeds[0]))
            continue
        if isinstance(site, SearchedTopic):
            found[number] = describe_topic(site, places.generators.open_topic(site, experiment.seeds[0]))
            continue
        if isinstance(site, SitesTogether):
            first = experiment.variants[0], experiment.seeds[0]
            found[number] = describe_together(site, records.of(site, *first))
            continue
        if isinstance(site, WatchedHistory):
            folder = None if site.folder == GENERATED else places.find(site)
            found[number] = describe_history(site, folder, places.generators.open_history)
            continue
        types = site.types if isinstance(site, ArchivedSite) else ""
        folders[number] = (site.name, places.find(site), types)
    numbers = list(folders)
    for place, facts in workers.run(
        Job(describe, folder, name=f"reading the site {folder[0]}") for folder in folders.values()
    ):
        number = numbers[place]
        if isinstance(facts, LostJob):
            raise ExperimentError(f"the site {folders[number][0]} cannot be read: {facts.reason}")
        site = experiment.sites[number]
        generated = isinstance(site, GeneratedSite)
        scale = f"{site.pages:,} pages, seed {site.seed}" if isinstance(site, GeneratedSite) else ""
        found[number] = replace(facts, generated=generated, scale=scale)
        progress("reading sites", len(found), len(experiment.sites))
    return tuple(found[number] for number in range(len(experiment.sites)))
