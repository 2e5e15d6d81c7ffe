"""Pages at several moments, in memory: a history without an archive.

It answers as a replay of an archive with the same captures does (`coati.replaying.site.ReplaySite`): with the
newest capture that is not later than the time, `Unchanged` where the run was given that one last. A page that
could not be fetched at a moment fails until its next capture.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from coati.errors import UsageError
from coati.model import Failure, LinkList, Page, Unchanged
from coati.web.out_links import with_out_links

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coati.model import Link, Outcome, Request

_OK, _NOT_MODIFIED, _NOT_FOUND, _FAILED = 200, 304, 404, 500


class PageCapture(NamedTuple):
    """What a page showed from a moment on; None where it could not be fetched."""

    moment: float
    links: Sequence[Link] | None


class PageHistory:
    """Answers for some pages; the captures of each are in the order of time.

    >>> from coati.model import Link, Method, Request
    >>> link = Link("http://a.test/1", ("html", "body", "a"))
    >>> history = PageHistory("a", {"http://a.test/": [PageCapture(0.0, []), PageCapture(60.0, [link])]})
    >>> request = Request(0, Method.GET, "http://a.test/")
    >>> [history.respond(request, now, {}).links.urls for now in (59.0, 60.0)]
    [[], ['http://a.test/1']]
    """

    def __init__(self, name: str, captures: Mapping[str, Sequence[PageCapture]]) -> None:
        self.name = name
        self._captures = captures
        self._moments = {url: [capture.moment for capture in found] for url, found in captures.items()}
        # A page is hashed when it is first requested, once for all strategies.
        self._answers: dict[tuple[str, int], Page] = {}

    @property
    def pages(self) -> list[str]:
        """The pages that there are."""
        return list(self._captures)

    def moments(self) -> list[float]:
        """Return every moment of which there is a capture."""
        return sorted({moment for moments in self._moments.values() for moment in moments})

    def span(self) -> tuple[float, float] | None:
        """Return when the first and the last capture was made."""
        moments = self.moments()
        return (moments[0], moments[-1]) if moments else None

    def respond(
        self, request: Request, now: float | None = None, observed: dict[str, float] | None = None
    ) -> Outcome:
        """Answer a request as of a time; ``observed`` is what a run was last given of each page."""
        url = request.url
        if now is None:
            raise UsageError("a history needs a time")
        place = self._place(url, now)
        if place is None:
            return Failure(_NOT_FOUND, 0, "not in the history")
        capture = self._captures[url][place]
        observed = {} if observed is None else observed
        if capture.links is None:
            observed.pop(url, None)
            return Failure(_FAILED, 0, f"status {_FAILED}")
        if observed.get(url) == capture.moment:
            return Unchanged(_NOT_MODIFIED, 0)
        observed[url] = capture.moment
        return self._page(url, place, capture.links)

    def _place(self, url: str, now: float) -> int | None:
        moments = self._moments.get(url)
        if not moments:
            return None
        # As in an archive: what is requested before its first capture answers with that one.
        return max(bisect_right(moments, now) - 1, 0)

    def _page(self, url: str, place: int, links: Sequence[Link]) -> Page:
        page = self._answers.get((url, place))
        if page is None:
            page = with_out_links(Page(_OK, 0, LinkList(links)))
            self._answers[url, place] = page
        return page
