"""Fit the generated webs of the CIKM 2021 tables to the paper: by searches with a single action, alone.

For each topic the four variants of DSDD that know one action each search the web, and their dataset pages are
set beside those of the paper's Table 1, relative to keyword search. No other method runs here: what bandits,
ACHE, DISCO or our own do on a web does not influence it. The values stand in
`coati.testing.data_web_kinds`.

    python -m benchmarks.data_web_fit [--seeds N] [--topic NAME ...] [KNOB=VALUE ...]
"""

from __future__ import annotations

import argparse
import csv
import statistics
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from coati.assembly import StrategySettings, build_strategy
from coati.replaying.searches import Search
from coati.strategies.discovery.searcher import Searcher
from coati.strategies.discovery.settings import DiscoverySettings
from coati.strategies.discovery.start_model import model_of_examples
from coati.testing.data_web import DataWeb
from coati.testing.data_web_kinds import FITTED, DataWebParameters
from coati.testing.paper_topics import PAPER_TOPICS, topic_parameters, topic_seed

PUBLISHED = Path(__file__).parents[1] / "experiments" / "cikm2021" / "published" / "table1.csv"
KEYWORDS = "dsdd-kw"
ACTIONS = (KEYWORDS, "dsdd-rl", "dsdd-fw", "dsdd-bl")
# A tenth of the paper's scale: sites, pages, and seeds and terms per pull.
SCALE, PAGES, BATCH = 0.1, 5000, 2
# How far off a ratio may be.
NEAR = 0.2


def published() -> dict[tuple[str, str], float]:
    """Read the ratios that the web may be fitted to, by topic and action."""
    with PUBLISHED.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {
        (row["site"], row["strategy"]): float(row["value"])
        for row in rows
        if row["measure"] == "dataset_pages_to_kw" and row["strategy"] in ACTIONS and row["site"]
    }


class Found(NamedTuple):
    """Dataset pages at the budget in pages of checks and in all pages, and the pages fetched, as means."""

    by_checks: float
    by_pages: float
    fetched: float


def search(web: DataWeb, action: str, seed: int) -> Found:
    """Search a web with one action."""
    engines = (web.engine,)
    discovery = DiscoverySettings(
        topic=web.topic_words,
        keyword_engines=engines,
        related_engines=engines,
        backlink_engines=engines,
        seeds_per_pull=BATCH,
        terms_per_pull=BATCH,
    )
    settings = StrategySettings(discovery=discovery, start_model=model_of_examples(web.examples()))
    searcher = build_strategy(action, [], seed, settings=settings)
    if not isinstance(searcher, Searcher):
        raise TypeError(f"{action} does not search for repositories")
    run = Search(web, searcher, discovery)
    run.run_checks(PAGES)
    pages = {host: web.dataset_pages_of(host) for host in run.found}
    early = sum(pages[host] for host, at in run.found.items() if at <= PAGES)
    return Found(sum(pages.values()), early, run.pages)


def searches(topic: str, parameters: DataWebParameters, seeds: int) -> dict[str, Found]:
    """Search several webs of a topic with each action; return the means."""
    found: dict[str, list[Found]] = {action: [] for action in ACTIONS}
    for seed in range(seeds):
        web = DataWeb(parameters, topic_seed(topic, seed))
        for action in ACTIONS:
            found[action].append(search(web, action, seed))
    return {action: Found(*map(statistics.fmean, zip(*runs, strict=True))) for action, runs in found.items()}


def main() -> None:
    """Search with each action, and print its ratios to keyword search, as the paper counts and as we do."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--topic", action="append", choices=PAPER_TOPICS)
    parser.add_argument("parameters", nargs="*", metavar="KNOB=VALUE")
    given = parser.parse_args()
    changes = {name: float(value) for name, value in (change.split("=") for change in given.parameters)}
    wanted = published()
    ratios: dict[str, list[tuple[float, float, float]]] = {action: [] for action in ACTIONS}
    for topic in given.topic or PAPER_TOPICS:
        parameters = replace(topic_parameters(topic, SCALE), fitted=replace(FITTED, **changes))
        found = searches(topic, parameters, given.seeds)
        line, keywords = topic, found[KEYWORDS]
        for action, each in found.items():
            paper = wanted[topic, action]
            ratio = each.by_checks / keywords.by_checks, each.by_pages / keywords.by_pages, paper
            ratios[action].append(ratio)
            line += "; {} {:.0f} in {:.0f} pages, {:.2f} {:.2f} (paper {:.2f})".format(
                action, each.by_checks, each.fetched, *ratio
            )
        print(line, flush=True)
    for action, rows in ratios.items():
        by_checks, by_pages, paper = (statistics.fmean(column) for column in zip(*rows, strict=True))
        near = sum(abs(row[0] / row[2] - 1) <= NEAR for row in rows)
        print(
            f"{action}: paper {paper:.2f}, by pages of checks {by_checks:.2f} ({by_checks / paper - 1:+.0%}),"
            f" by all pages {by_pages:.2f} ({by_pages / paper - 1:+.0%}); near enough on {near} topics"
        )


if __name__ == "__main__":
    main()
