"""The study of scent: against every baseline, part by part, with parameters chosen on other sites.

    python experiments/scent/study.py --archives DIR --seeds 10 --out experiments/scent/results

Each cell (site, variant, seed) is one file under OUT/cells, so that a study that was stopped goes on where it
was. Main variants run to the end of the site; parts and parameters stop at 90 % of the targets, which is what
they are compared by.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import platform
import statistics
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coati.archive.archive import Archive
from coati.assembly import build_strategy
from coati.budget import Budget
from coati.learners.value_chains import ChainSettings
from coati.replay.driver import replay
from coati.replay.measures import SHARE, Measures, SiteTotals
from coati.replay.site import ReplaySite
from coati.strategies.scent import CHAINS, Scent, ScentSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from coati.strategies.strategy import Strategy

BASELINES = ("bfs", "dfs", "clairvoyant")
CHANCE = ("random", "sb-classifier", "scent")

PLAIN = ScentSettings()

# One part taken out or put back at a time.
PARTS = {
    "URL chain alone": replace(PLAIN, chains=CHAINS[:1]),
    "tag-path chain alone": replace(PLAIN, chains=CHAINS[3:4]),
    "no name of the folder": replace(PLAIN, chains=CHAINS[:1] + CHAINS[2:]),
    "no look ahead": replace(PLAIN, discount=0.0),
    "no doubt": replace(PLAIN, exploration=0.0),
    "no error model": replace(PLAIN, expect_errors=False),
    "no forgetting": replace(PLAIN, values=replace(PLAIN.values, memory=1e9)),
    "parents count visits": replace(PLAIN, values=replace(PLAIN.values, fresh=1e9)),
    "no extensions known": replace(PLAIN, file_odds=0.0, page_odds=0.0),
    "no words known": replace(PLAIN, word_visits=0.0),
    "no sweep": replace(PLAIN, sweep_every=0),
    "scores refreshed 8 times as seldom": replace(PLAIN, refresh_every=8 * PLAIN.refresh_every),
}

# What is chosen from on one half of the sites, to be reported on the other.
CHOICES = {
    f"exploration {exploration}, strength {strength}": replace(
        PLAIN, exploration=exploration, values=ChainSettings(strength=strength)
    )
    for exploration in (0.15, 0.3, 0.5)
    for strength in (1.0, 2.0, 4.0)
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One run."""

    archive: Path
    variant: str
    seed: int
    out: Path

    @property
    def file(self) -> Path:
        name = f"{self.archive.name}--{self.variant}--{self.seed}".replace(" ", "_").replace(",", "")
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
    cells = list(_cells(archives, options.seeds, options.part_seeds, options.out))
    if not options.tables_only:
        missing = [cell for cell in cells if not cell.file.exists()]
        # A site's cells one after the other: a worker keeps the last site that it read.
        with ProcessPoolExecutor(options.processes) as pool:
            for done, cell in enumerate(pool.map(_run, missing), 1):
                print(f"{done}/{len(missing)} {cell.file.stem}", file=sys.stderr)
    _write(archives, [cell for cell in cells if cell.file.exists()], options.out)


def _cells(archives: Sequence[Path], seeds: int, part_seeds: int, out: Path) -> Iterable[Cell]:
    for variants, count in ((BASELINES, 1), (CHANCE, seeds), ((*CHOICES, *PARTS), part_seeds)):
        for archive in archives:
            for variant in variants:
                for seed in range(count):
                    yield Cell(archive, variant, seed, out)


@lru_cache(maxsize=1)
def _site(archive: Path) -> ReplaySite:
    return ReplaySite(Archive.open(archive))


def _strategy(cell: Cell, site: ReplaySite) -> Strategy:
    settings = {"scent": PLAIN, **PARTS, **CHOICES}.get(cell.variant)
    if settings is not None:
        return Scent(site.start_url, cell.seed, settings)
    return build_strategy(cell.variant, site.start_url, cell.seed, site.truth)


def _run(cell: Cell) -> Cell:
    site = _site(cell.archive)
    totals = SiteTotals.of(site.truth)
    whole = cell.variant in (*BASELINES, *CHANCE)
    budget = Budget() if whole else Budget(max_targets=max(1, math.ceil(SHARE * totals.targets - 1e-9)))
    run = replay(site, _strategy(cell, site), budget)
    measures = Measures.of(run.trace, totals)
    step = max(1, len(run.trace) // 200)
    result = {
        "urls": totals.urls,
        "targets_total": totals.targets,
        "requests": measures.requests,
        "targets": measures.targets,
        "requests_to_90_pct": measures.requests_to_90_pct,
        "auc": measures.auc if whole else None,
        "cpu_us_a_request": round(1e6 * run.cpu_seconds / max(1, measures.requests), 1),
        "curve": [step, run.trace.targets[::step].tolist()] if whole else None,
    }
    partial = cell.file.with_suffix(".partial")
    partial.write_text(json.dumps(result))
    partial.replace(cell.file)
    return cell


# --- tables -------------------------------------------------------------------------------------


class Results:
    """What the cells say, by site and variant."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self.rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for cell in cells:
            key = (cell.archive.name, cell.variant)
            self.rows.setdefault(key, []).append(json.loads(cell.file.read_text()))
        self.sites = sorted({site for site, _ in self.rows})

    def values(self, site: str, variant: str, measure: str = "requests_to_90_pct") -> list[float]:
        """Give a measure over the seeds; what was never reached is infinite."""
        return [
            math.inf if row[measure] is None else row[measure] for row in self.rows.get((site, variant), [])
        ]

    def median(self, site: str, variant: str, measure: str = "requests_to_90_pct") -> float:
        """Give the median over the seeds; not a number if there is none."""
        values = self.values(site, variant, measure)
        return statistics.median(values) if values else math.nan

    def gap_closed(self, site: str, variant: str) -> float:
        """Give how much of the way from breadth-first to CLAIRVOYANT was made."""
        plain, best = self.median(site, "bfs"), self.median(site, "clairvoyant")
        return (plain - self.median(site, variant)) / (plain - best)

    def mean_gap(self, variant: str, sites: Sequence[str] | None = None) -> float:
        """Give the mean over sites."""
        return statistics.fmean(self.gap_closed(site, variant) for site in sites or self.sites)

    def mean_ratio(self, variant: str) -> float:
        """Give the geometric mean of the ratio to CLAIRVOYANT."""
        return statistics.geometric_mean(
            self.median(site, variant) / self.median(site, "clairvoyant") for site in self.sites
        )

    def mean_auc_ratio(self, variant: str) -> float:
        """Give the mean ratio of the areas under the curves."""
        return statistics.fmean(
            self.median(site, variant, "auc") / self.median(site, "clairvoyant", "auc") for site in self.sites
        )


def _write(archives: Sequence[Path], cells: Sequence[Cell], out: Path) -> None:
    results = Results(cells)
    with (out / "cells.csv").open("w", newline="", encoding="utf-8") as file:
        names = [
            "urls",
            "targets_total",
            "requests",
            "targets",
            "requests_to_90_pct",
            "auc",
            "cpu_us_a_request",
        ]
        writer = csv.writer(file)
        writer.writerow(["site", "variant", "seed", *names])
        for cell in cells:
            row = json.loads(cell.file.read_text())
            writer.writerow([cell.archive.name, cell.variant, cell.seed, *[row[name] for name in names]])
    facts = {
        "commit": _commit(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "archives": {archive.name: _digest(archive) for archive in archives},
        "settings": repr(PLAIN),
    }
    (out / "facts.json").write_text(json.dumps(facts, indent=1) + "\n")
    sections: list[Callable[[Results], list[str]]] = [_sites, _worst, _halves, _parts]
    lines = [
        "# Scent: results",
        "",
        f"Commit {facts['commit']}, Python {facts['python']}, {facts['machine']}.",
        "",
    ]
    for section in sections:
        lines += section(results)
    lines += ["## Archives", "", *[f"- {name}: `{digest}`" for name, digest in facts["archives"].items()]]  # type: ignore[attr-defined]
    (out / "results.md").write_text("\n".join(lines) + "\n")


def _sites(results: Results) -> list[str]:
    columns = ("bfs", "dfs", "random", "sb-classifier", "scent", "clairvoyant")
    lines = [
        "## Requests to 90 % of the targets, as % of the site's URLs",
        "",
        "Medians over seeds, in brackets the quartiles.",
        "",
        "| site | " + " | ".join(columns) + " | gap closed | AUC ratio |",
        "|---|" + "---|" * (len(columns) + 2),
    ]
    for site in results.sites:
        cells = [_with_quartiles(results.values(site, variant)) for variant in columns]
        auc = results.median(site, "scent", "auc") / results.median(site, "clairvoyant", "auc")
        lines.append(
            f"| {site} | {' | '.join(cells)} | {results.gap_closed(site, 'scent'):.2f} | {auc:.3f} |"
        )
    lines.append("")
    for variant in ("sb-classifier", "scent"):
        lines.append(
            f"{variant}: mean gap closed {results.mean_gap(variant):.3f}, geometric mean of the ratio to "
            f"CLAIRVOYANT {results.mean_ratio(variant):.3f}, mean AUC ratio {results.mean_auc_ratio(variant):.3f}."
        )
        lines.append("")
    return lines


def _worst(results: Results) -> list[str]:
    lines = [
        "## Worst cases",
        "",
        "| site | best simple | which | scent | ratio | quartile range |",
        "|---|" * 1 + "---|" * 5,
    ]
    for site in results.sites:
        name = min(("bfs", "dfs", "sb-classifier"), key=lambda variant: results.median(site, variant))
        best, own = results.median(site, name), results.median(site, "scent")
        low, high = _quartiles(results.values(site, "scent"))
        lines.append(f"| {site} | {best:.1f} | {name} | {own:.1f} | {own / best:.3f} | {high - low:.2f} |")
    worst = min(results.sites, key=lambda site: results.gap_closed(site, "scent"))
    lines += [
        "",
        f"The worst case is {worst}: {results.gap_closed(worst, 'scent'):.2f} of the gap closed.",
        "",
    ]
    return lines


def _halves(results: Results) -> list[str]:
    """Choose on one half, report on the other; the halves are every other site by name."""
    halves = results.sites[::2], results.sites[1::2]
    lines = ["## Parameters chosen on the other half of the sites", ""]
    gaps: list[float] = []
    for chosen_on, reported_on in (halves, halves[::-1]):
        best = max(CHOICES, key=lambda variant: results.mean_gap(variant, chosen_on))
        own = [results.gap_closed(site, best) for site in reported_on]
        gaps += own
        lines.append(
            f"- chosen on {', '.join(chosen_on)}: {best} (mean gap closed there "
            f"{results.mean_gap(best, chosen_on):.3f}); on {', '.join(reported_on)}: {statistics.fmean(own):.3f}"
        )
    lines += [
        "",
        f"Mean gap closed over all sites with parameters from the other half: {statistics.fmean(gaps):.3f}.",
        "",
    ]
    lines += _gap_table(results, "parameters", CHOICES)
    return lines


def _parts(results: Results) -> list[str]:
    return ["## Without each part", "", *_gap_table(results, "variant", ["scent", *PARTS])]


def _gap_table(results: Results, head: str, variants: Iterable[str]) -> list[str]:
    lines = [f"| {head} | mean gap closed | ratio | " + " | ".join(results.sites) + " |"]
    lines.append("|---|" + "---|" * (len(results.sites) + 2))
    for variant in variants:
        if any(not results.values(site, variant) for site in results.sites):
            continue
        gaps = " | ".join(f"{results.gap_closed(site, variant):.2f}" for site in results.sites)
        mean, ratio = results.mean_gap(variant), results.mean_ratio(variant)
        lines.append(f"| {variant} | {mean:.3f} | {ratio:.3f} | {gaps} |")
    return [*lines, ""]


def _quartiles(values: list[float]) -> tuple[float, float]:
    if len(values) < 2 or math.inf in values:
        return (min(values, default=math.nan), max(values, default=math.nan))
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def _with_quartiles(values: list[float]) -> str:
    if not values:
        return "-"
    middle = f"{statistics.median(values):.1f}"
    if len(values) == 1:
        return middle
    low, high = _quartiles(values)
    return f"{middle} ({low:.1f} to {high:.1f})"


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def _digest(archive: Path) -> str:
    with Archive.open(archive) as opened:
        return opened.digest()


if __name__ == "__main__":
    main()
