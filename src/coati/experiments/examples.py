"""Example pages for strategies that need some: read once per archive, and stored beside the results.

A run on a site is given those of every other archive of the experiment, never its own, nor those of a copy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coati.assembly import Need, strategy_row
from coati.errors import UsageError
from coati.experiments.deciding_code import modules_digest
from coati.experiments.errors import ExperimentError
from coati.experiments.site_specs import ArchivedSite
from coati.experiments.sites import Places, open_site
from coati.experiments.spec import Experiment
from coati.experiments.workers import Job, LostJob, WorkerCache, Workers
from coati.replaying.example_pages import example_pages, join_examples
from coati.runs.durable import write_whole
from coati.strategies.tres.tres import TresExamples
from coati.units import format_count

_FOLDER = "examples"


@dataclass(frozen=True, slots=True)
class ExampleFile:
    """The example pages of one archive: where they are kept, and the digests of archive and texts."""

    site: str
    archive: str
    file: Path
    content: str


def collect_examples(
    experiment: Experiment,
    places: Places,
    out: Path,
    workers: Workers,
    progress: Callable[[str, int, int], None],
) -> tuple[ExampleFile, ...]:
    """Read the example pages of an experiment; none where no strategy needs any."""
    needing = _needing(experiment)
    if not needing:
        return ()
    if not experiment.examples:
        raise UsageError(
            f"{needing[0]} needs example pages of other sites: name archives that have some, as"
            ' examples = ["a", "b"], or among the sites'
        )
    if missing := places.missing(experiment.examples):
        raise _missing(needing[0], missing, places)
    folder = out / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    archives = [(name, places.find(ArchivedSite(name)), folder) for name in experiment.examples]
    found: dict[int, ExampleFile] = {}
    for number, result in workers.run(
        Job(_collect, archive, name=f"reading the example pages of {archive[0]}") for archive in archives
    ):
        if isinstance(result, LostJob):
            raise ExperimentError(f"the archive {archives[number][0]} cannot be read: {result.reason}")
        found[number] = result
        progress("reading example pages", len(found), len(archives))
    return tuple(found[number] for number in range(len(archives)))


def without_examples(experiment: Experiment, places: Places) -> tuple[Experiment, tuple[str, ...]]:
    """Leave out the rows that need example pages, where an archive that has some is missing; name them."""
    if not places.missing(experiment.examples):
        return experiment, ()
    kept = tuple(v for v in experiment.variants if Need.EXAMPLES not in strategy_row(v.strategy).needs)
    left_out = tuple(variant.label for variant in experiment.variants if variant not in kept)
    return (replace(experiment, variants=kept), left_out) if kept else (experiment, ())


def with_examples_there(experiment: Experiment, places: Places) -> Experiment:
    """Let a part of an experiment learn from the example pages that are there; it says how many are not.

    Raises `UsageError` where a site would be left without any: those of the site itself are never given.
    """
    needing, missing = _needing(experiment), places.missing(experiment.examples)
    if not needing or not missing:
        return experiment
    there = tuple(name for name in experiment.examples if name not in missing)
    for site in experiment.sites:
        if not any(name != (site.folder if isinstance(site, ArchivedSite) else "") for name in there):
            raise _missing(needing[0], missing, places)
    of_all = format_count(len(experiment.examples), "archive")
    part = f"{experiment.part}, example pages of {len(there)} of {of_all}"
    return replace(experiment, examples=there, part=part)


def _needing(experiment: Experiment) -> list[str]:
    return sorted(
        {v.strategy for v in experiment.variants if Need.EXAMPLES in strategy_row(v.strategy).needs}
    )


def _missing(strategy: str, missing: Sequence[str], places: Places) -> UsageError:
    return UsageError(
        f"{strategy} needs example pages of other archives, and these are not there: {', '.join(missing)};"
        f" {places.where}"
    )


def read_examples(files: Sequence[ExampleFile]) -> TresExamples:
    """Return the examples for a run, from the files of other archives."""
    return join_examples(json.loads(each.file.read_bytes()) for each in files)


def _collect(cache: WorkerCache, task: tuple[str, Path, Path]) -> ExampleFile:
    name, archive, folder = task
    site = open_site(cache, archive)
    digest = str(cache["digest"])
    code = modules_digest(("coati.replaying.example_pages", "coati.replaying.site"))
    file = folder / f"{digest[:16]}-{code[:8]}.json"
    if not file.is_file():
        write_whole(file, [json.dumps(example_pages(site)).encode()])
    return ExampleFile(name, digest, file, hashlib.sha256(file.read_bytes()).hexdigest()[:16])
