"""Removes links that lead into a trap from a page, before the strategy and the log see them.

When a run is resumed, the watch counts again from its last ten thousand requests (`RunStore.last_answers`).
That is not exactly what it knew: the pages themselves are not compared again, so a trap may take up to
``max_equal_pages`` requests more. It never makes the watch stricter.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace
from typing import TYPE_CHECKING

from coati.live.outcomes import FetchResult
from coati.model import Link, Method, NearbyText, Page, PageLinks, Refused, Request, is_wanted
from coati.runs.last_answers import last_answers
from coati.runs.seen_urls import SeenUrls
from coati.runs.skip_reasons import SkipReason
from coati.web.traps import TrapSettings, TrapWatch
from coati.web.urls import is_query

if TYPE_CHECKING:
    from coati.runs.store import RunStore

TrapFilter = Callable[["Request", FetchResult, bool], FetchResult]
"""Takes what came of a request, and whether the run had been answered by its URL before."""

# A link that was left out stands on many pages. This many are remembered, to be counted once.
_REMEMBERED_DROPS = 100_000


def trap_filter(settings: TrapSettings, store: RunStore | None) -> TrapFilter:
    """Return the filter of one crawl, which knows what the run did in earlier sessions."""
    return _Filter(settings, store).filter_links if settings.enabled else _unfiltered


def _unfiltered(_request: Request, result: FetchResult, _visited: bool) -> FetchResult:  # noqa: FBT001 - a `TrapFilter`
    return result


class _Filter:
    def __init__(self, settings: TrapSettings, store: RunStore | None) -> None:
        self._watch = TrapWatch(settings)
        self._dropped = SeenUrls()
        # Without a run folder nobody else knows which URLs were met.
        self._own = SeenUrls()
        self._known: SeenUrls | RunStore = self._own if store is None else store
        for past in last_answers(store.log) if store is not None else ():
            if is_query(past.url):
                continue
            self._watch.answered(past.url, is_target=past.is_target)
            if past.links:
                self._watch.relearn(past.url, past.links)

    def filter_links(self, request: Request, result: FetchResult, visited: bool) -> FetchResult:  # noqa: FBT001 - a `TrapFilter`
        """Leave out what leads into a trap; each URL that is left out is listed and counted once.

        Queries are of no site, and pages of results are all alike.
        """
        outcome = result.outcome
        if request.method is not Method.GET or isinstance(outcome, Refused) or is_query(request.url):
            return result
        if not visited:
            # A page that is visited again is not one more of its kind.
            self._watch.answered(request.url, is_target=is_wanted(outcome))
        if self._known is self._own:
            self._own.add((request.url,))
        if not isinstance(outcome, Page):
            return result
        urls = outcome.links.urls
        fresh = self._known.fresh(urls)
        traps = self._watch.filter_links(request.url, result.body or b"", urls, fresh, visited=visited)
        if self._known is self._own:
            self._own.add(urls[place] for place in fresh if place not in traps)
        if not traps:
            return result
        reasons = {urls[place]: SkipReason(trap.value) for place, trap in traps.items()}
        new = [(url, reason) for url, reason in reasons.items() if url not in self._dropped]
        if len(self._dropped) < _REMEMBERED_DROPS:
            self._dropped.add(url for url, _ in new)
        return replace(
            result,
            outcome=replace(outcome, links=_Without(outcome.links, reasons.keys())),
            skipped=(*result.skipped, *new),
            drops=(*result.drops, *(reason.value for _, reason in new)),
        )


class _Without:
    """The links of a page without those to some URLs."""

    def __init__(self, links: PageLinks, left_out: Container[str]) -> None:
        self._links = links
        self.title = links.title
        self._places = [place for place, url in enumerate(links.urls) if url not in left_out]
        self.urls = [links.urls[place] for place in self._places]

    def link(self, index: int) -> Link:
        """Return the link at this position, whole."""
        return self._links.link(self._places[index])

    def nearby_text(self, index: int) -> NearbyText:
        return self._links.nearby_text(self._places[index])
