"""Compare watches over histories: the tables and figures of ``experiments/wsdm2018``.

    python -m benchmarks.watch_study run --generated --per-cycle 50 --out results.jsonl
    python -m benchmarks.watch_study run --archive news --relevant label=politics --per-cycle 5 --out r.jsonl
    python -m benchmarks.watch_study draw results.jsonl figures/

Each run is one line of JSON, appended as soon as it is there, with the coverage after each cycle and how many
links were found at which age. A run that the file holds already is not made again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
from matplotlib.figure import Figure

from coati.archive.archive import Archive
from coati.assembly import StrategySettings, build_strategy
from coati.jobs.replaying_watches import watched_pages
from coati.replaying.driver import Answering
from coati.replaying.site import ReplaySite
from coati.replaying.watching import WatchRun, WatchStudy, WatchTruth, snapshot_times
from coati.strategies.revisits.relevance import parse_relevance
from coati.strategies.revisits.watch import WatchSettings
from coati.testing.page_histories import HistoryKnobs, generate_history

NAMES = "rr,od-win,cov,cliq-win,reg,reg-rr,bandit,ltr,arrivals,arrivals-thompson,greedy"
_POINTS = 100
_AGES = (0.5, 1, 2, 4, 8, 16, 24, 48, 96, 1e9)


@click.group()
def main() -> None:
    """Compare watches over histories."""


@main.command()
@click.option("--archive", type=click.Path(path_type=Path), help="An archive that is a history.")
@click.option("--generated", is_flag=True, help="The generated history.")
@click.option("--strategy", "names", default=NAMES, show_default=True)
@click.option("--per-cycle", multiple=True, type=int, required=True)
@click.option("--relevant", multiple=True, default=[""])
@click.option("--seed", default=1, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def run(  # noqa: PLR0913, PLR0917 - one parameter per option
    archive: Path | None,
    generated: bool,  # noqa: FBT001 - a switch of the command
    names: str,
    per_cycle: tuple[int, ...],
    relevant: tuple[str, ...],
    seed: int,
    out: Path,
) -> None:
    """Run strategies over one history."""
    if generated:
        knobs = HistoryKnobs()
        history = generate_history(knobs, seed)
        moments = tuple(knobs.begin + 3600.0 * cycle for cycle in range(knobs.cycles))
        _study(history, history.pages, moments, names.split(","), per_cycle, relevant, seed, out)
    elif archive is not None:
        with Archive.open(archive) as opened:
            site = ReplaySite(opened, start_urls=watched_pages(opened))
            moments = snapshot_times(opened.moments())
            _study(site, site.start_urls, moments, names.split(","), per_cycle, relevant, seed, out)


def _study(  # noqa: PLR0913, PLR0917 - what the options say
    site: Answering,
    urls: Any,  # noqa: ANN401 - a list or a tuple
    moments: tuple[float, ...],
    names: list[str],
    per_cycle: tuple[int, ...],
    relevant: tuple[str, ...],
    seed: int,
    out: Path,
) -> None:
    done = {_key(row) for row in _rows(out)}
    for text in relevant:
        truth = WatchTruth(site, urls, moments, parse_relevance(text, ()))
        for k in per_cycle:
            settings = StrategySettings(watch=WatchSettings(per_cycle=k, moments=moments), relevant=text)
            for name in names:
                if (site.name, name, text, k) in done:
                    continue
                strategy = build_strategy(name, urls, seed, settings=settings, page_truth=truth)
                found = WatchStudy(site, truth, moments, text).run(name, seed, strategy)
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(_row(site.name, found, truth, len(moments))) + "\n")
                click.echo(f"{site.name} {text} {k} {name}: {found.coverage}", err=True)


def _row(history: str, found: WatchRun, truth: WatchTruth, cycles: int) -> dict[str, Any]:
    places = np.linspace(0, cycles - 1, _POINTS).astype(int)
    new = np.bincount(list(truth.first_cycle.values()), minlength=cycles)
    counts = np.histogram(found.ages, [0, *_AGES])[0]
    return {
        "history": history,
        **found.row(),
        "curve": [[int(place), round(float(found.curve[place]), 4)] for place in places],
        "ages": [[edge, int(count)] for edge, count in zip(_AGES, counts, strict=True)],
        "new_per_cycle": new.tolist() if found.strategy == "rr" else [],
    }


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def _key(row: dict[str, Any]) -> tuple[object, ...]:
    return row["history"], row["strategy"], row["relevant"], row["per_cycle"]


@main.command()
@click.argument("results", type=click.Path(path_type=Path, exists=True))
@click.argument("folder", type=click.Path(path_type=Path))
def draw(results: Path, folder: Path) -> None:
    """Draw the figures of the paper from results: new links per hour, coverage over time, against k, ages."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = _rows(results)
    for history in dict.fromkeys(row["history"] for row in rows):
        own = [row for row in rows if row["history"] == history]
        for relevant in dict.fromkeys(row["relevant"] for row in own):
            _draw_setting([row for row in own if row["relevant"] == relevant], folder)


def _draw_setting(rows: list[dict[str, Any]], folder: Path) -> None:
    per_cycle = max(row["per_cycle"] for row in rows)
    shown = [row for row in rows if row["per_cycle"] == per_cycle]
    kind = rows[0]["relevant"].partition("=")[2] or "all links"
    figure = Figure(figsize=(11, 7.5), layout="constrained")
    (new, time), (against, ages) = figure.subplots(2, 2)
    for row in shown:
        if row["new_per_cycle"]:
            new.plot(row["new_per_cycle"], linewidth=0.8)
        style = {"color": "black", "linestyle": "--"} if row["strategy"] == "greedy" else {}
        cycles, coverage = zip(*row["curve"], strict=True)
        time.plot(cycles, coverage, label=row["strategy"], linewidth=1.4, **style)
        counts = np.cumsum([count for _, count in row["ages"]])
        edges = [edge for edge, _ in row["ages"]][:-1]
        ages.plot(edges, counts[:-1] / max(counts[-1], 1), label=row["strategy"], linewidth=1.4, **style)
    for name in dict.fromkeys(row["strategy"] for row in rows):
        points = sorted((row["per_cycle"], row["coverage"]) for row in rows if row["strategy"] == name)
        style = {"color": "black", "linestyle": "--"} if name == "greedy" else {}
        against.plot(*zip(*points, strict=True), marker="o", label=name, linewidth=1.2, **style)
    new.set(title="New links", xlabel="cycle", ylabel="links per cycle")
    time.set(title=f"Coverage over time, k={per_cycle}", xlabel="cycle", ylim=(0, 1.02))
    against.set(title="Coverage against k", xlabel="pages per cycle", ylim=(0, 1.02))
    ages.set(
        title=f"Age when found, k={per_cycle}",
        xlabel="hours",
        ylabel="share of the links found",
        xscale="log",
    )
    time.legend(frameon=False, fontsize=7, ncols=2)
    figure.suptitle(f"{rows[0]['history']}, {kind}")
    name = f"{rows[0]['history']}-{kind.replace(' ', '-')}"
    figure.savefig(folder / f"{name}.png", dpi=110)


if __name__ == "__main__":
    main()
