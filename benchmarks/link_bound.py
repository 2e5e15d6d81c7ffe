"""How well a site can be crawled by what is seen of its links: a bound for learners, beside CLAIRVOYANT.

    python -m benchmarks.link_bound --archives DIR [--out FOLDER] [--site NAME ...]

DIR holds one imported archive per site (`coati archive import`). For each of them, models are trained on the
site's own truth with cross-validation (`benchmarks.link_orders`), and the best of their orders is measured as
a run is. It is chosen by the truth, too: generous, and no proof, since it cannot tell what a learner gains
that adapts while it crawls. Beside it: breadth-first, SB-CLASSIFIER and scent.

Writes ``link_bound.csv``, ``link_bound.md`` and ``link_bound.png``. Needs the extra ``experiments``. Results
and what follows from them: experiments/scent/README.md.
"""

from __future__ import annotations

import csv
import statistics
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.link_orders import FOLDS, MODELS, ROUNDS, learnt_orders
from benchmarks.reporting import circumstances
from coati.archive.archive import Archive
from coati.budget import Budget
from coati.experiments.site_runs import BEST, PLAIN, SiteRunOptions, run_on_site, seeds_for
from coati.replaying.driver import replay
from coati.replaying.measures import Comparison, Measures, SiteTotals
from coati.replaying.site import ReplaySite
from coati.strategies.baselines.clairvoyant import PlannedStrategy

if TYPE_CHECKING:
    from collections.abc import Sequence

BOUND = "bound"
STRATEGIES = ("bfs", "sb-classifier", "scent")
MEASURES = ("requests_to_50_pct", "requests_to_90_pct", "curve_ratio", "auc_ratio", "gap_closed")
_DECIMALS = {"auc_ratio": 3, "curve_ratio": 2, "gap_closed": 2}

Row = dict[str, str | int | float | None]


def bound_on(site: ReplaySite, seed: int, models: Sequence[str] = tuple(MODELS)) -> tuple[str, Measures]:
    """Return the best order by the links of a site, by what made it and how it measures."""
    best = max(learnt_orders(site, seed, models), key=lambda each: each.area)
    plan = PlannedStrategy((site.truth.urls[number] for number in best.crawled.order), best.name)
    return best.name, Measures.of(replay(site, plan, Budget()).trace, SiteTotals.of(site.truth))


def rows_of(
    site: ReplaySite,
    strategies: Sequence[str],
    seeds: Sequence[int],
    fold_seeds: Sequence[int] = (0,),
    models: Sequence[str] = tuple(MODELS),
) -> list[Row]:
    """Measure the bound, with each seed of its folds, and some strategies with each of theirs."""
    totals = SiteTotals.of(site.truth)

    def measured(strategy: str, seed: int | None) -> Measures:
        return Measures.of(run_on_site(site, strategy, seed, SiteRunOptions()).trace, totals)

    references = measured(BEST, None), measured(PLAIN, None)
    rows = []
    for seed in fold_seeds:
        name, own = bound_on(site, seed, models)
        rows.append(_row(site, BOUND, seed, own, references, name))
    runs = [(strategy, seed) for strategy in (*strategies, BEST) for seed in seeds_for(strategy, seeds)]
    return rows + [
        _row(site, strategy, seed, measured(strategy, seed), references) for strategy, seed in runs
    ]


def medians(rows: Sequence[Row], measure: str) -> dict[tuple[str, str], float | None]:
    """Return the median over seeds by site and strategy; None where half of the runs never got there."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        value = row[measure]
        worst = float("-inf") if measure == "gap_closed" else float("inf")
        key = str(row["site"]), str(row["strategy"])
        found.setdefault(key, []).append(worst if value is None else float(value))
    middle = {key: statistics.median(values) for key, values in found.items()}
    return {key: value if abs(value) < float("inf") else None for key, value in middle.items()}


def table_of(rows: Sequence[Row], measure: str) -> str:
    """Write one measure as Markdown: a line per site, a column per strategy, and their means."""
    found = medians(rows, measure)
    sites = sorted({str(row["site"]) for row in rows})
    columns = list(dict.fromkeys(str(row["strategy"]) for row in rows))
    columns.sort(key=[*STRATEGIES, BOUND, BEST].index)
    lines = [["site", *columns], ["---"] * (len(columns) + 1)]
    lines += [[site, *(_text(found[site, column], measure) for column in columns)] for site in sites]
    means = [_mean([found[site, column] for site in sites]) for column in columns]
    lines.append(["**mean**", *(_text(mean, measure) for mean in means)])
    return f"## {measure}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def losses_of(rows: Sequence[Row], strategy: str = "scent") -> str:
    """Write what no learner can foresee, and what a strategy loses beyond: area, CLAIRVOYANT's being 1."""
    found = medians(rows, "auc_ratio")
    sites = sorted({site for site, name in found if name == strategy})
    lines = [["site", "nobody's", f"{strategy}'s"], ["---"] * 3]
    for site in sites:
        bound, own = found[site, BOUND] or 0.0, found[site, strategy] or 0.0
        lines.append([site, f"{1 - bound:.3f}", f"{bound - own:.3f}"])
    return "## Losses\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def draw(rows: Sequence[Row], file: Path) -> None:
    """Draw the areas under the curves: a line per site, from breadth-first to CLAIRVOYANT."""
    from matplotlib.figure import Figure

    found = medians(rows, "auc_ratio")
    sites = sorted({site for site, _ in found}, key=lambda site: found[site, BOUND] or 0)
    figure = Figure(figsize=(8, 0.36 * len(sites) + 1.4), layout="constrained")
    axes = figure.subplots()
    axes.axvline(1, color="black", linestyle="--", linewidth=1)
    for strategy, mark, colour in (
        ("bfs", "|", "grey"),
        ("sb-classifier", "s", "tab:orange"),
        ("scent", "o", "tab:blue"),
        (BOUND, "D", "black"),
    ):
        if (sites[0], strategy) in found:
            values = [found[site, strategy] or 0 for site in sites]
            places = range(len(sites))
            axes.scatter(values, places, marker=mark, color=colour, label=strategy, zorder=3)
    axes.set_yticks(range(len(sites)), sites)
    axes.set(xlabel="area under the curve, CLAIRVOYANT = 1")
    axes.grid(axis="x", color="gainsboro")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(frameon=False, loc="outside upper center", ncols=4)
    figure.savefig(file, dpi=130)


def write(rows: Sequence[Row], folder: Path, about: str) -> None:
    """Write the runs, the tables and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "link_bound.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    made = ", ".join(f"{name} {value}" for name, value in circumstances().items())
    head = (
        "# What links say: a bound for learners\n\n"
        f"Medians over {about}. The bound is the best order of models that were trained on the site's own "
        f"truth, {FOLDS} folds, {ROUNDS} rounds (`python -m benchmarks.link_bound`).\n"
        f"{made}.\n\n![areas under the curves](link_bound.png)\n"
    )
    text = "\n".join([head, losses_of(rows), *(table_of(rows, measure) for measure in MEASURES)])
    (folder / "link_bound.md").write_text(text, encoding="utf-8")
    draw(rows, folder / "link_bound.png")


def _row(
    site: ReplaySite,
    strategy: str,
    seed: int | None,
    own: Measures,
    references: tuple[Measures, Measures],
    made_by: str = "",
) -> Row:
    comparison = Comparison.of(own, *references)
    values = {**asdict(own), **asdict(comparison)}
    return {
        "site": site.name,
        "strategy": strategy,
        "seed": seed,
        "urls_total": len(site.truth.urls),
        **{
            name: value if isinstance(value, int | None) else round(value, 4)
            for name, value in values.items()
        },
        "made_by": made_by,
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if len(known) == len(values) else None


def _text(value: float | None, measure: str) -> str:
    return "∞" if value is None else f"{value:.{_DECIMALS.get(measure, 1)}f}"


@click.command()
@click.option("--archives", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("link-bound"))
@click.option("--site", "names", multiple=True, help="Only these; all archives of the folder otherwise.")
@click.option("--strategies", default=",".join(STRATEGIES), show_default=True)
@click.option("--seeds", default=3, show_default=True, help="Of the strategies.")
@click.option(
    "--fold-seeds", default=1, show_default=True, help="Of the bound: how often it is cut in folds."
)
def main(
    archives: Path, out: Path, names: Sequence[str], strategies: str, seeds: int, fold_seeds: int
) -> None:
    """Measure how much links say, on all archives of a folder."""
    folders = [file.parent for file in archives.glob("*/archive.toml")]
    # The small ones first: there is something to see soon.
    folders.sort(key=lambda folder: sum(file.stat().st_size for file in folder.iterdir()))
    rows: list[Row] = []
    for folder in folders:
        if names and folder.name not in names:
            continue
        with Archive.open(folder) as archive:
            found = rows_of(ReplaySite(archive), strategies.split(","), range(seeds), range(fold_seeds))
        rows += found
        areas = {name: value for (_, name), value in medians(found, "auc_ratio").items()}
        click.echo(f"{folder.name}: " + ", ".join(f"{name} {value}" for name, value in areas.items()))
        # Written after each site: a study that is stopped has what it came to.
        write(rows, out, f"{seeds} seeds of strategies and {fold_seeds} of the bound")
    if not rows:
        raise click.UsageError(f"{archives} holds none of these archives")


if __name__ == "__main__":
    main()
