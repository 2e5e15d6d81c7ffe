"""One budget over many sites, on recorded crawls: how much of what the knowing choice gets do others get?

    python -m experiments.many_sites.study --archives DIR --records FOLDER --out OUT

Every site is crawled once per seed and strategy, request by request, and the record is kept in FOLDER; a
study that was stopped continues there. Then each way of spending a budget is played on the records. Sites are
the archives below DIR together, and fifty generated sites of which ten are rich (``--made-seeds`` sets).
"""

from __future__ import annotations

import csv
import statistics
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.reporting import circumstances
from experiments.many_sites import simulation
from experiments.many_sites.made_sites import SITES, record_made
from experiments.many_sites.recording import record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from experiments.many_sites.recording import RecordedSite

    Spending = Callable[[Sequence[RecordedSite], int], list[int]]

REAL_PCT = (2, 5, 10, 20)
MADE_PCT = (10, 20, 30, 50)

WAYS: dict[str, Spending] = {
    "knows each site's curve": simulation.knowing,
    "coati harvest": simulation.by_promise,
    "coati harvest --fair": partial(simulation.by_promise, fair=True),
    "harvest by yield alone": partial(simulation.by_promise, told=False),
    "harvest without doubt": partial(simulation.by_promise, doubt=0.0),
    "highest promise, nothing else": partial(simulation.by_promise, doubt=0.0, prior_targets=1e9),
    "round robin": simulation.round_robin,
    "equal split": simulation.equal_split,
}

_COLUMNS = (
    "sites",
    "seed",
    "budget_pct",
    "requests",
    "way",
    "strategy",
    "targets",
    "of_knowing",
    "of_equal_split",
)


def played(
    name: str, seed: int, sites: Sequence[RecordedSite], plain: Sequence[RecordedSite], pct: int
) -> list[dict[str, object]]:
    """Spend one budget in every way; ``plain`` are the same sites crawled breadth-first."""
    budget = sum(site.urls for site in sites) * pct // 100
    found = {way: ("scent", simulation.targets(sites, spend(sites, budget))) for way, spend in WAYS.items()}
    if plain:
        found["round robin, breadth-first"] = (
            "bfs",
            simulation.targets(plain, simulation.round_robin(plain, budget)),
        )
    best, equal = found["knows each site's curve"][1], found["equal split"][1]
    return [
        dict(
            zip(
                _COLUMNS,
                (
                    name,
                    seed,
                    pct,
                    budget,
                    way,
                    strategy,
                    targets,
                    round(targets / best, 4),
                    round(targets / equal, 3),
                ),
                strict=True,
            )
        )
        for way, (strategy, targets) in found.items()
    ]


@click.command()
@click.option("--archives", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--records", type=click.Path(path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--seeds", default=1, show_default=True)
@click.option("--made-seeds", default=5, show_default=True)
@click.option("--most", default=40_000, show_default=True, help="Requests that are recorded of one site.")
def main(archives: Path, records: Path, out: Path, seeds: int, made_seeds: int, most: int) -> None:
    """Record what is missing, play every way, and write the tables."""
    rows: list[dict[str, object]] = []
    folders = sorted(path for path in archives.iterdir() if (path / "archive.toml").exists())
    for seed in range(seeds):
        sites = [record(folder, "scent", seed, most, records) for folder in folders]
        plain = [record(folder, "bfs", 0, most, records) for folder in folders]
        for pct in REAL_PCT:
            rows += played(f"{len(sites)} real sites", seed, sites, plain, pct)
        click.echo(f"real sites, seed {seed}", err=True)
    for seed in range(made_seeds):
        sites = [record_made(seed, number, "scent", records) for number in range(SITES)]
        for pct in MADE_PCT:
            rows += played(f"{SITES} generated sites", seed, sites, (), pct)
        click.echo(f"generated sites, seed {seed}", err=True)
    out.mkdir(parents=True, exist_ok=True)
    with (out / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    (out / "RESULTS.md").write_text(_page(rows), encoding="utf-8")


def _page(rows: Sequence[dict[str, object]]) -> str:
    about = ", ".join(f"{name} {value}" for name, value in circumstances().items())
    note = (
        f"Written by `python -m experiments.many_sites.study` ({about}). Budgets are a share of the URLs of"
        " all sites together. Each number is the targets found as a share of what the choice finds that knows"
        " each site's curve beforehand, the mean over seeds.\n"
    )
    parts = ["# One budget over many sites\n", note]
    for name in dict.fromkeys(str(row["sites"]) for row in rows):
        mine = [row for row in rows if row["sites"] == name]
        parts.append(f"## {name}, {len({row['seed'] for row in mine})} seeds\n")
        parts.append(_table(mine))
    return "\n".join(parts)


def _table(rows: Sequence[dict[str, object]]) -> str:
    budgets = list(dict.fromkeys(row["budget_pct"] for row in rows))
    lines = [
        "| way | " + " | ".join(f"{pct} %" for pct in budgets) + " | mean | times equal split |",
        "|---|" + "---:|" * (len(budgets) + 2),
    ]
    for way in dict.fromkeys(row["way"] for row in rows):
        own = [row for row in rows if row["way"] == way]
        shares = [_mean(row["of_knowing"] for row in own if row["budget_pct"] == pct) for pct in budgets]
        cells = " | ".join(f"{share:.3f}" for share in (*shares, statistics.fmean(shares)))
        lines.append(f"| {way} | {cells} | {_mean(row['of_equal_split'] for row in own):.2f} |")
    return "\n".join(lines) + "\n"


def _mean(values: object) -> float:
    return statistics.fmean(float(str(value)) for value in values)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
