"""``--sitemaps``: what a site's sitemaps list, as further links of its start page.

The sitemaps are fetched before the crawl begins, each with a row of its own in the run's log
(`coati.runs.errands`). Their links are written with the first page, under a tag path of their own. From there
on they are links like all others: every strategy can use them, and a run that goes on finds them in its log.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from coati.budget import Budget
from coati.cli.errands import run_errand, run_kept_errand
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

    def feed(self, links: list[Link], refused: list[tuple[str, Refusal]]) -> None:
        """Keep links for the first page that is recorded."""
        self._links, self._refused = tuple(links), tuple(refused)

    def record(self, fetched: Fetched) -> Recorded:
        """Record as ever; the first page takes what was fed."""
        page = fetched.outcome
        fed = self._links or self._refused
        if fed and isinstance(page, Page) and fetched.request.method is Method.GET:
            places = range(len(page.links.urls))
            own = [page.links.link(place) for place in places]
            around = [page.links.surroundings(place) for place in places]
            fetched = replace(
                fetched,
                outcome=replace(page, links=LinkList([*own, *self._links], page.links.title, around)),
                refused=(*fetched.refused, *self._refused),
            )
            self.feed([], [])
        return super().record(fetched)


class _RobotsErrand:
    """robots.txt, which names the sitemaps. It is asked for on our own account, and charged to nobody."""

    def __init__(self, walk: SitemapWalk) -> None:
        self._walk = walk
        self._url = walk.next_url()

    def next_url(self) -> str | None:
        url, self._url = self._url, None
        return url

    def take(self, url: str, answer: Answer) -> None:
        self._walk.take(url, answer.good_body)


class _SitemapErrand:
    def __init__(self, walk: SitemapWalk) -> None:
        self._walk = walk

    def next_url(self) -> str | None:
        return self._walk.next_url()

    def take(self, url: str, answer: Answer) -> None:
        self._walk.take(url, answer.good_body)


class SitemapsRead(NamedTuple):
    """How many links the sitemaps gave, for how many requests, and whether the user has had enough."""

    links: int
    requests: int
    interrupted: bool


def feed_sitemaps(store: FedStore, settings: RunSettings, on_event: OnEvent | None) -> SitemapsRead:
    """Fetch the sitemaps of a run that has no page yet.

    At most half of the budget of requests goes into it.
    """
    limit = settings.max_requests
    if limit == 1:
        return SitemapsRead(0, 0, interrupted=False)
    walk = SitemapWalk(settings.url)
    asked = live_settings(settings)
    time_left = Budget(max_seconds=settings.max_time)
    robots = run_errand(_RobotsErrand(walk), settings.url, replace(asked, robots=False), time_left)
    stop = robots.stop
    if stop is not StopReason.INTERRUPTED:
        budget = replace(time_left, max_requests=None if limit is None else limit // 2)
        stop = run_kept_errand(_SitemapErrand(walk), store, settings.url, asked, budget, on_event)
    rules = settings.rules
    links, refused = [], []
    for link in walk.links():
        refusal = rules.refusal(link.url)
        if refusal is None:
            links.append(link)
        else:
            refused.append((link.url, refusal))
    store.feed(links, refused)
    requests = sum(errand.charged for errand in store.errands())
    return SitemapsRead(len(links), requests, interrupted=stop is StopReason.INTERRUPTED)
