"""The study of scent: against every baseline, part by part, with parameters chosen on other sites.

    python -m experiments.scent.study --archives DIR --out experiments/scent/results

Each cell (site, variant, seed) is one file under OUT/cells, so that a study that was stopped goes on where it
was. Main variants run to the last target; parts and parameters stop at 90 % of the targets, which is what
they are compared by. Generated sites (`GENERATED`) are made under OUT/generated, and reported apart.
"""

from __future__ import annotations

import argparse
import json
from bisect import bisect_left
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.reporting import circumstances
from coati.archive.archive import Archive
from coati.assembly import StrategySettings, build_strategy
from coati.budget import Budget
from coati.cli.generated_sites import write_generated
from coati.experiments.spec import GeneratedSite
from coati.learners.value_chains import ChainSettings
from coati.replaying.driver import replay
from coati.replaying.measures import Measures, SiteTotals
from coati.replaying.site import ReplaySite
from coati.strategies.scent.scent import CHAINS, Scent, ScentSettings
from coati.web.likely_extensions import likely_extensions
from coati.web.media import parse_types
from experiments.scent.curves import draw_curves
from experiments.scent.results_file import made_sections, one_type_sections, replica_sections, write_files
from experiments.scent.summary import Results, Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coati.replaying.trace import Trace
    from coati.strategies.strategy import Strategy

_SHARE_PCT = 90

WITHOUT_CHANCE = ("bfs", "dfs", "focused", "clairvoyant")
CHANCE = ("sb-classifier", "scent")
BYTES = ("random", "scent-bytes", "scent-volume")

# Somebody who wants one type of file: the same sites with most of what they hold being of no use.
ONE_TYPE = {
    "cfconv": ("application/pdf", "application/xml"),
    "networkx": ("application/zip",),
    "nilearn": ("application/zip", "text/plain"),
    "openoffice": (
        "application/pdf",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.sun.xml.writer",
    ),
    "skimage": ("application/zip", "text/x-python"),
}
ONE_TYPE_VARIANTS = ("bfs", "dfs", "sb-classifier", "scent", "clairvoyant")

# Sites with figures of the EDBT 2026 paper's Table 1, as far as `coati.testing` can make them.
GENERATED = ("be", "cl", "ju", "qa")
GENERATED_PAGES = 1200

PLAIN = ScentSettings()

# One part taken out at a time.
PARTS = {
    "URL chain alone": replace(PLAIN, chains=CHAINS[:1]),
    "tag-path chain alone": replace(PLAIN, chains=CHAINS[3:4]),
    "no path without its first directory": replace(PLAIN, chains=CHAINS[:1] + CHAINS[2:]),
    "no look ahead": replace(PLAIN, discount=0.0),
    "no doubt": replace(PLAIN, exploration=0.0),
    "no error model": replace(PLAIN, expect_errors=False),
    "no forgetting": replace(PLAIN, values=replace(PLAIN.values, memory=1e9)),
    "parents count visits": replace(PLAIN, values=replace(PLAIN.values, fresh=1e9)),
    "no extensions known": replace(PLAIN, file_odds=0.0, page_odds=0.0),
    "no words known": replace(PLAIN, word_visits=0.0),
    "no sweep": replace(PLAIN, sweep_every=0),
    "kinds in order of discovery": replace(PLAIN, leaps=False),
    "no chance for untried extensions": replace(PLAIN, untried=0.0),
    "no sweep where all is poor": replace(PLAIN, poor=0.0),
    "good news is not spread": replace(PLAIN, spread_news=False),
    "scores refreshed 8 times as seldom": replace(PLAIN, refresh_every=8 * PLAIN.refresh_every),
}

# What is chosen from on one half of the sites, to be reported on the other.
CHOICES = {
    f"exploration {exploration}, tail {tail}": replace(
        PLAIN, exploration=exploration, values=ChainSettings(tail=tail)
    )
    for exploration in (0.2, 0.4, 0.6)
    for tail in (0.0, 0.2, 0.4)
}


@dataclass(frozen=True, slots=True)
class Trial:
    """One run."""

    archive: Path
    variant: str
    seed: int
    out: Path
    only: str = ""

    @property
    def site(self) -> str:
        """What is crawled, and what for."""
        return f"{self.archive.name}, {self.only}" if self.only else self.archive.name

    @property
    def file(self) -> Path:
        name = f"{self.site}--{self.variant}--{self.seed}"
        for awkward, plain in ((" ", "_"), (",", ""), ("/", "-")):
            name = name.replace(awkward, plain)
        return self.out / "cells" / f"{name}.json"


def main() -> None:
    """Run what is missing, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--archives", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--part-seeds", type=int, default=3, help="seeds for parts and parameters")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--tables-only", action="store_true")
    options = parser.parse_args()
    (options.out / "cells").mkdir(parents=True, exist_ok=True)
    archives = sorted(path for path in options.archives.iterdir() if (path / "archive.toml").exists())
    generated = [_generated(name, options.out / "generated") for name in GENERATED]
    cells = list(_cells(archives, generated, options.seeds, options.part_seeds, options.out))
    if not options.tables_only:
        missing = [cell for cell in cells if not cell.file.exists()]
        # A site's cells one after the other: a worker keeps the last site that it read.
        with ProcessPoolExecutor(options.processes) as pool:
            for done, cell in enumerate(pool.map(_run, missing, chunksize=3), 1):
                click.echo(f"{done}/{len(missing)} {cell.file.stem}", err=True)
    finished = [
        Row(cell.site, cell.variant, cell.seed, json.loads(cell.file.read_text()))
        for cell in cells
        if cell.file.exists()
    ]
    facts = {
        **circumstances(),
        "archives": {archive.name: _digest(archive) for archive in archives},
        "generated": f"{', '.join(GENERATED)} with {GENERATED_PAGES} pages each",
        "settings": repr(PLAIN),
    }
    replicas = Results(row for row in finished if row.site in facts["archives"])
    one_type = Results(row for row in finished if ", " in row.site)
    made = Results(row for row in finished if row.site in {path.name for path in generated})
    sections = [
        *replica_sections(replicas, PARTS, CHOICES),
        *one_type_sections(one_type),
        *made_sections(made),
    ]
    write_files(options.out, finished, facts, sections)
    draw_curves(replicas, options.out / "curves")
    draw_curves(made, options.out / "curves-generated")


def _cells(
    archives: Sequence[Path], generated: Sequence[Path], seeds: int, part_seeds: int, out: Path
) -> Iterable[Trial]:
    rounds: list[tuple[Sequence[Path], Iterable[str], int]] = [
        ([*archives, *generated], WITHOUT_CHANCE, 1),
        (archives, CHANCE, seeds),
        (archives, [*CHOICES, *PARTS], part_seeds),
        (generated, CHANCE, seeds),
        ([*archives, *generated], BYTES, 1),
    ]
    for sites, variants, count in rounds:
        for archive in sites:
            for variant in variants:
                for seed in range(count):
                    yield Trial(archive, variant, seed, out)
    for archive in archives:
        for only in ONE_TYPE.get(archive.name, ()):
            for variant in ONE_TYPE_VARIANTS:
                for seed in range(part_seeds if variant in CHANCE else 1):
                    yield Trial(archive, variant, seed, out, only)


def _generated(name: str, folder: Path) -> Path:
    place = folder / f"{name}-like"
    if not place.exists():
        draft = folder / f"{name}.new"
        folder.mkdir(parents=True, exist_ok=True)
        write_generated(GeneratedSite(name, GENERATED_PAGES, 0), draft)
        draft.rename(place)
    return place


@lru_cache(maxsize=1)
def _site(archive: Path, only: str) -> ReplaySite:
    return ReplaySite(Archive.open(archive), types=parse_types(only) if only else None)


def _strategy(cell: Trial, site: ReplaySite) -> Strategy:
    settings = {**PARTS, **CHOICES}.get(cell.variant)
    if settings is not None:
        return Scent([site.start_url], cell.seed, settings)
    known = StrategySettings()
    if cell.only:
        known = StrategySettings(likely_extensions=likely_extensions(parse_types(cell.only)))
    return build_strategy(cell.variant, [site.start_url], cell.seed, site.truth, known)


def _run(cell: Trial) -> Trial:
    site = _site(cell.archive, cell.only)
    totals = SiteTotals.of(site.truth)
    whole = cell.variant in {*WITHOUT_CHANCE, *CHANCE, *BYTES}
    # After the last target nothing changes any more: measures hold the last value.
    enough = totals.targets if whole else -(-_SHARE_PCT * totals.targets // 100)
    budget = Budget(max_targets=max(1, enough))
    run = replay(site, _strategy(cell, site), budget)
    measures = Measures.of(run.trace, totals)
    step = max(1, len(run.trace) // 200)
    result = {
        "urls": totals.urls,
        "targets_total": totals.targets,
        "requests": measures.requests,
        "targets": measures.targets,
        "requests_to_90_pct": measures.requests_to_90_pct,
        "volume_to_90_pct": measures.volume_to_90_pct,
        "bytes_to_90_pct": _bytes_to_share(run.trace, totals) if whole else None,
        "auc": measures.auc if whole else None,
        "cpu_us_a_request": round(1e6 * run.cpu_seconds / max(1, measures.requests), 1),
        "curve": [step, run.trace.targets[::step].tolist()] if whole else None,
    }
    partial = cell.file.with_suffix(".partial")
    partial.write_text(json.dumps(result))
    partial.replace(cell.file)
    return cell


def _bytes_to_share(trace: Trace, totals: SiteTotals) -> float | None:
    """Give the bytes fetched, in % of the site's, until 90 % of the targets were in."""
    enough = -(-_SHARE_PCT * totals.targets // 100)
    at = bisect_left(trace.targets, enough)
    if at == len(trace):
        return None
    return 100 * sum(trace.sizes[: at + 1]) / max(1, totals.target_bytes + totals.other_bytes)


def _digest(archive: Path) -> str:
    with Archive.open(archive) as opened:
        return opened.digest()


if __name__ == "__main__":
    main()
