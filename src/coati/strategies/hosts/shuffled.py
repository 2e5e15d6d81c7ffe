"""Breadth-first over many hosts, as the CIKM 2014 paper has it: the links of each page in any order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coati.model import Link, LinkList, Page
from coati.strategies.baselines import FrontierStrategy
from coati.strategies.chance import draw
from coati.strategies.frontier import Fifo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Outcome, Settlement


class ShuffledBreadthFirst(FrontierStrategy):
    """Requests in the order of discovery; links that were found together are in random order.

    Only new links are shuffled: a log keeps no others, and a restored crawl must find the same order.
    """

    def __init__(self, start_urls: Sequence[str], seed: int) -> None:
        super().__init__(start_urls, Fifo())
        self._seed = seed

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Queue the new links of a page, shuffled."""
        if isinstance(outcome, Page):
            urls = outcome.links.urls
            new = list(dict.fromkeys(urls[place] for place in self._known.new_indices(urls)))
            self._shuffle(new, request_id)
            outcome = replace(outcome, links=LinkList([Link(url, ()) for url in new]))
        return super().observe(request_id, outcome, now)

    def _shuffle(self, urls: list[str], turn: int) -> None:
        seed = draw(self._seed, turn, 1 << 62)
        for last in range(len(urls) - 1, 0, -1):
            other = draw(seed, last, last + 1)
            urls[last], urls[other] = urls[other], urls[last]
