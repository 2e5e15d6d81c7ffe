"""Fit the generated sites of the EDBT 2026 tables to their models: by crawlers that learn nothing, alone.

For each site of the paper it tries values of the two parameters that decide when plain crawlers have the
targets, and keeps those whose requests to 90 % of the targets come nearest to the paper's rows BFS, DFS and
RANDOM. What a learner does on a site does not count. The values are in `coati.testing.paper_sites`.

    python -m benchmarks.generator_fit [SITE ...]
"""

from __future__ import annotations

import csv
import math
import statistics
import sys
from dataclasses import replace
from pathlib import Path

from coati.errors import ConfigError
from coati.model import EVERY_HOST, Outcome, Refused, Request, Target
from coati.strategies.baselines.simple_orders import (
    FrontierStrategy,
    breadth_first,
    depth_first,
    uniformly_random,
)
from coati.testing import generate_site, paper_site_parameters
from coati.testing.paper_sites import PAPER_SITES
from coati.testing.responder import Responder
from coati.testing.site_parameters import SiteParameters

PUBLISHED = Path(__file__).parents[1] / "experiments" / "edbt2026" / "published" / "table2.csv"
PAGES = {"cl": 1840, "qa": 1910}
PAGES_ELSE = 2000
RANDOM_SEEDS = 3

BARREN_DEPTHS = (-0.6, -0.4, -0.2, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
RICH_LASTS = (-1.0, -0.25, 0.0, 0.25, 1.0)


def published() -> dict[str, dict[str, float]]:
    """Read the three rows that the generator may be fitted to."""
    rows: dict[str, dict[str, float]] = {}
    with PUBLISHED.open(encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            if row["strategy"] in {"bfs", "dfs", "random"}:
                rows.setdefault(row["site"], {})[row["strategy"]] = float(row["value"])
    return rows


class Crawled:
    """A generated site that remembers its answers."""

    def __init__(self, parameters: SiteParameters) -> None:
        self._site = generate_site(parameters, 0)
        self._responder = Responder(self._site)
        self._answers: dict[str, Outcome] = {}

    def to_90_pct(self, build: str) -> float:
        """Return the requests to 90 % of the targets, in % of the URLs."""
        start = self._site.start_url
        if build == "random":
            return statistics.median(
                self._run(uniformly_random([start], seed)) for seed in range(RANDOM_SEEDS)
            )
        return self._run(breadth_first([start]) if build == "bfs" else depth_first([start]))

    def _run(self, strategy: FrontierStrategy) -> float:
        found, requests = [], 0
        while isinstance(request := strategy.choose(0.0, EVERY_HOST), Request):
            outcome = self._answer(request)
            requests += not isinstance(outcome, Refused)
            if isinstance(outcome, Target):
                found.append(requests)
            strategy.observe(request.id, outcome, 0.0)
        return 100 * found[math.ceil(0.9 * len(found)) - 1] / requests

    def _answer(self, request: Request) -> Outcome:
        if request.url not in self._answers:
            self._answers[request.url] = self._responder.outcome(request)
        return self._answers[request.url]


def fit(name: str, wanted: dict[str, float]) -> tuple[SiteParameters, dict[str, float]]:
    """Try the values of one parameter after the other, twice; return the best ones and what they reach."""
    # Without most of the text, of which no crawler here takes notice: pages have the same links.
    plain = replace(
        paper_site_parameters(name, PAGES.get(name, PAGES_ELSE)),
        barren_depth=0.0,
        rich_last=0.0,
        page_bytes=100,
    )
    tried: dict[tuple[float, float], tuple[float, dict[str, float]]] = {}

    def gap(barren: float, last: float) -> float:
        if (barren, last) not in tried:
            try:
                site = Crawled(replace(plain, barren_depth=barren, rich_last=last))
            except ConfigError:  # parameters that this site cannot have
                return math.inf
            reached = {row: site.to_90_pct(row) for row in wanted}
            gaps = [abs(reached[row] - value) for row, value in wanted.items() if not math.isinf(value)]
            tried[barren, last] = statistics.fmean(gaps), reached
        return tried[barren, last][0]

    barren, last = 0.0, 0.0
    for _ in range(2):
        barren = min(BARREN_DEPTHS, key=lambda value: (gap(value, last), abs(value)))
        last = min(RICH_LASTS, key=lambda value: (gap(barren, value), abs(value)))
    return replace(plain, barren_depth=barren, rich_last=last), tried[barren, last][1]


def main() -> None:
    """Fit the sites that are named, or all, and print a line for each."""
    totals: dict[str, list[float]] = {}
    for name in sys.argv[1:] or PAPER_SITES:
        wanted = published()[name]
        parameters, reached = fit(name, wanted)
        line = f"{name}: barren_depth {parameters.barren_depth:4}, rich_last {parameters.rich_last:4}"
        for row, value in wanted.items():
            line += f"; {row} {reached[row]:.1f} (paper {value:.1f})"
            if not math.isinf(value):
                totals.setdefault(row, []).append(abs(reached[row] - value))
        print(line, flush=True)
    for row, gaps in totals.items():
        print(f"{row}: mean gap {statistics.fmean(gaps):.1f} points over {len(gaps)} sites")


if __name__ == "__main__":
    main()
