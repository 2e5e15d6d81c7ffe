"""A strategy that mixes pages and queries, for tests of what lies between them."""

from __future__ import annotations

from collections.abc import Sequence

from coati.model import Link, Outcome, Page, Settlement
from coati.strategies.baselines.simple_orders import FrontierStrategy
from coati.strategies.frontier import Fifo
from coati.web.queries import Ability, Query, parse_query
from coati.web.urls import is_query

ENGINE = "stub"
MOST_PAGES_OF_RESULTS = 3


class Prospector(FrontierStrategy):
    """Breadth-first over links and queries.

    It begins with a query, turns the page of results that brought something new, and asks of each new link
    in turn what is written about it, what is like it, and what links to it.
    """

    def __init__(self, start_urls: Sequence[str], words: str) -> None:
        super().__init__([*start_urls, Query(ENGINE, words).address], Fifo())

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        url = self._known[self._in_flight[request_id]]
        new: list[Link] = []
        if isinstance(outcome, Page):
            new = [outcome.links.link(place) for place in self._known.new_indices(outcome.links.urls)]
        settled = super().observe(request_id, outcome, now)
        if new and is_query(url):
            asked = parse_query(url)
            if asked.page < MOST_PAGES_OF_RESULTS:
                self._add_url(Query(ENGINE, asked.text, asked.ability, asked.page + 1).address)
        elif new:
            self._add_url(_about(new[0], request_id).address)
        return settled


def _about(link: Link, turn: int) -> Query:
    ability = list(Ability)[turn % len(Ability)]
    if ability is Ability.KEYWORDS:
        return Query(ENGINE, link.anchor[:50] or "data")
    return Query(ENGINE, link.url, ability)
