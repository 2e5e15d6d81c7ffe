"""Generated histories: what the parameters promise."""

from __future__ import annotations

import numpy as np

from coati.model import Method, Page, Request
from coati.testing.page_histories import HistoryParameters, generate_history

SMALL = HistoryParameters(sites=6, pages=40, cycles=400, links_per_hour=12.0)


def first_seen(parameters: HistoryParameters, seed: int) -> dict[str, int]:
    """Return the cycle in which each link is first there."""
    history = generate_history(parameters, seed)
    first: dict[str, int] = {}
    for url in history.pages:
        for cycle in range(parameters.cycles):
            answer = history.respond(Request(0, Method.GET, url), parameters.begin + 3600 * cycle, {})
            assert isinstance(answer, Page)
            for link in answer.links.urls:
                first[link] = min(cycle, first.get(link, cycle))
    return first


def test_the_same_seed_makes_the_same_history() -> None:
    assert first_seen(SMALL, 3) == first_seen(SMALL, 3)
    assert first_seen(SMALL, 3) != first_seen(SMALL, 4)


def test_links_come_by_day_and_week() -> None:
    cycles = np.array(list(first_seen(SMALL, 3).values()))
    counts = np.bincount(cycles, minlength=400)
    assert abs(counts.mean() - 12) < 1
    hours = np.arange(400)
    assert counts[hours % 24 == 14].mean() > 2 * counts[hours % 24 == 2].mean()
    weekend = hours % 168 >= 120
    assert counts[weekend].mean() < 0.8 * counts[~weekend].mean()


def test_pages_and_sites_are_as_many_as_asked_for() -> None:
    pages = generate_history(SMALL, 1).pages
    assert len(pages) == 40
    assert len({url.split("/")[2] for url in pages}) == 6
