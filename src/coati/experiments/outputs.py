"""The files that an experiment writes into its folder, named after its table."""

from __future__ import annotations

import subprocess
from dataclasses import asdict
from pathlib import Path

from coati import version
from coati.experiments.comparing import halves_table, wins_table
from coati.experiments.deciding_code import joint_digest
from coati.experiments.figures import draw_figures
from coati.experiments.parquet import write_numbers
from coati.experiments.runner import Study, rows
from coati.experiments.tables import Table, group_table, objects, result_table, site_table
from coati.runs.durable import write_json_lines, write_whole

_PACKAGE = Path(version.__file__).parent
_GIT_SECONDS = 10


def tables_of(study: Study) -> list[Table]:
    """List the tables of an experiment: its numbers, groups, wins and halves where wanted, its sites."""
    tables = [result_table(study)] if study.experiment.measures else []
    if "groups" in study.experiment.figures:
        tables.append(group_table(study))
    experiment = study.experiment
    if experiment.compared in {variant.label for variant in experiment.variants}:
        tables.append(wins_table(study, experiment.compared))
    if experiment.halves and len(study.sites) > 1:
        tables.append(halves_table(study))
    return [*tables, site_table(study.sites)]


def write_outputs(study: Study, folder: Path, *, parquet: bool) -> list[Path]:
    """Write the numbers (JSON lines, Parquet), the tables (Markdown) and the figures; return the files."""
    name = study.experiment.file_stem
    found = objects(study)
    lines = folder / f"{name}.jsonl"
    write_json_lines(lines, found)
    page = folder / f"{name}.md"
    text = "\n".join([f"# {study.experiment.title}\n", *(table.markdown() for table in tables_of(study))])
    write_whole(page, [text.encode(), provenance(study).encode()])
    files = [lines, page]
    if parquet and found:
        files.append(folder / f"{name}.parquet")
        write_numbers(found, files[-1])
    return files + draw_figures(study, folder)


def provenance(study: Study) -> str:
    """Say in one line what the results owe to."""
    experiment = study.experiment
    named = asdict(experiment.budget).items()
    limits = [f"{name.removeprefix('max_')} {most:,}" for name, most in named if most is not None]
    budget = f" Budget: {', '.join(limits)}." if limits else ""
    first, *others = experiment.seeds
    seeds = f"seeds {first} to {others[-1]}" if others else f"seed {first}"
    code = joint_digest(variant.strategy for variant in rows(experiment))
    return f"\nCommit {_commit()}, code {code}, {seeds}.{budget}\n"


def _commit() -> str:
    """Name the commit, with a plus where files have changed since; the version where there is no checkout."""
    head = _git("rev-parse", "--short=12", "HEAD")
    if head is None:
        return f"coati {version.__version__}"
    return head + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments
            ["git", "-C", str(_PACKAGE), *arguments],  # noqa: S607 - found on the path, as everybody's
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
