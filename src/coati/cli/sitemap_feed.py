"""``--sitemaps``: what a site's sitemaps list, as further links of its start page.

The sitemaps are fetched before the crawl begins. Their links are written into the run's log with the first
page, under a tag path of their own, and so is what they cost. From there on they are links like all others:
every strategy can use them, and a run that goes on finds them in its log.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coati.budget import Budget
from coati.cli.errands import run_errand
from coati.live.stop import StopReason
from coati.model import LinkList, Method, Page
from coati.runs.store import RunStore
from coati.settings.asking import live_settings
from coati.web.sitemaps import SitemapWalk

if TYPE_CHECKING:
    from coati.cli.errands import Answer
    from coati.live.progress import OnEvent
    from coati.model import Link
    from coati.runs.fetched import Fetched
    from coati.runs.store import Recorded
    from coati.settings.run_settings import RunSettings
    from coati.web.rules import Refusal


class FedStore(RunStore):
    """A run whose first page is given further links; without `feed`, any run."""

    _links: tuple[Link, ...] = ()
    _refused: tuple[tuple[str, Refusal], ...] = ()
    _cost = 0

    def feed(self, links: list[Link], refused: list[tuple[str, Refusal]], cost: int) -> None:
        """Keep links, and the requests that they cost, for the first page that is recorded."""
        self._links, self._refused, self._cost = tuple(links), tuple(refused), cost

    def record(self, fetched: Fetched) -> Recorded:
        """Record as ever; the first page takes what was fed."""
        page = fetched.outcome
        if self._cost and isinstance(page, Page) and fetched.request.method is Method.GET:
            own = [page.links.link(index) for index in range(len(page.links.urls))]
            fetched = replace(
                fetched,
                outcome=replace(page, links=LinkList([*own, *self._links])),
                refused=(*fetched.refused, *self._refused),
                charged=fetched.charged + self._cost,
            )
            self.feed([], [], 0)
        return super().record(fetched)


class _SitemapErrand:
    def __init__(self, walk: SitemapWalk) -> None:
        self._walk = walk

    def next_url(self) -> str | None:
        return self._walk.next_url()

    def take(self, url: str, answer: Answer) -> None:
        self._walk.take(url, answer.good_body)


def feed_sitemaps(store: FedStore, settings: RunSettings, on_event: OnEvent | None) -> tuple[int, int]:
    """Fetch the sitemaps of a run that has no page yet; gives the number of links and what they cost.

    At most half of the budget of requests goes into it.
    """
    limit = settings.max_requests
    if limit == 1:
        return 0, 0
    walk = SitemapWalk(settings.url)
    budget = Budget(None if limit is None else limit // 2, max_seconds=settings.max_time)
    result = run_errand(_SitemapErrand(walk), settings.url, live_settings(settings), budget, on_event)
    if result.stop is StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    rules = settings.rules
    links, refused = [], []
    for link in walk.links():
        refusal = rules.refusal(link.url)
        if refusal is None:
            links.append(link)
        else:
            refused.append((link.url, refusal))
    cost = result.progress.requests
    store.feed(links, refused, cost)
    return len(links), cost
