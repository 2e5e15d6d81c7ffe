"""Requests that pages make inside the browser: refused, answered from memory, or fetched by the crawl.

Only scripts and data are fetched, and only by GET: pictures, styles and fonts bring no links, and whatever
else may change something on the other side. A fetch goes through the engine like a page: robots.txt, the
pace of the host, cookies, headers for an origin, private addresses. It is charged to the page, and redirects
are followed here, hop by hop, each of them under the same rules.

Scripts are the same on all pages of a site, so what came is kept for the length of the crawl, within bounds.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy import Request as ScrapyRequest
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from coati.live.browser import PageRequest, PageResponse
from coati.live.failures import PrivateAddressError
from coati.live.header_texts import header_pairs, header_text
from coati.live.outcomes import BODY_FILE, LIVE_ONLY, PAGE_REQUEST
from coati.runs.skip_reasons import Reason, SkipReason
from coati.web.urls import normalise, resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from coati.web.rules import Rules

_KEPT_BYTES = 32 * 1024 * 1024
_MAX_REDIRECTS = 5
_KINDS = frozenset({"script", "xhr", "fetch"})
_SUCCESS = range(200, 300)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# What a page may say of its own requests: the rest of the headers is ours.
_HEADERS = frozenset({"accept", "accept-language", "authorization", "origin", "x-requested-with"})
_META: Final = {
    "verbatim_url": True,
    "dont_redirect": True,
    "handle_httpstatus_all": True,
    LIVE_ONLY: True,
    PAGE_REQUEST: True,
}


class KeptAnswers:
    """Responses by request, the oldest forgotten first.

    >>> kept = KeptAnswers(10)
    >>> kept.add("a", PageResponse(200, (), b"1234567")); kept.add("b", PageResponse(200, (), b"1234567"))
    >>> kept.get("a") is None, kept.get("b") is None
    (True, False)
    """

    def __init__(self, max_bytes: int = _KEPT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._answers: OrderedDict[str, PageResponse] = OrderedDict()

    def get(self, key: str) -> PageResponse | None:
        """Return an answer that is kept."""
        return self._answers.get(key)

    def add(self, key: str, answer: PageResponse) -> None:
        """Keep an answer."""
        if key in self._answers or len(answer.body) > self._max_bytes:
            return
        self._answers[key] = answer
        self._bytes += len(answer.body)
        while self._bytes > self._max_bytes:
            _, oldest = self._answers.popitem(last=False)
            self._bytes -= len(oldest.body)


@dataclass(slots=True)
class PageRequests:
    """The requests of one page; what was refused is in ``skipped``.

    ``charge`` asks the budget for one request, and takes one that was not sent back with -1.
    """

    crawler: Crawler
    rules: Rules
    referer: str
    kept: KeptAnswers
    most: int
    charge: Callable[[int], bool]
    made: int = 0
    received_bytes: int = 0
    skipped: dict[str, Reason] = field(default_factory=dict)

    async def fetch(self, wanted: PageRequest) -> PageResponse | None:
        """Return what a page gets; None where it gets nothing."""
        if wanted.method != "GET" or wanted.kind not in _KINDS:
            return None
        key = f"{wanted.headers.get('accept', '')} {wanted.url}"
        answer = self.kept.get(key)
        if answer is None:
            url = normalise(wanted.url)
            answer = None if url is None else await self._fetch(url, wanted)
            if answer is not None and answer.status in _SUCCESS:
                self.kept.add(key, answer)
        return answer

    async def _fetch(self, url: str, wanted: PageRequest) -> PageResponse | None:
        """Fetch a URL, and where it is redirected to."""
        for _ in range(_MAX_REDIRECTS):
            response = await self._fetch_once(url, wanted)
            if response is None:
                return None
            location = header_text(response.headers, "Location").strip()
            there = resolve(url, location) if response.status in _REDIRECTS and location else None
            if there is None:
                return _answer(response)
            url = there
        return None

    async def _fetch_once(self, url: str, wanted: PageRequest) -> Response | None:
        refusal = self.rules.page_request_refusal(url)
        if refusal is not None:
            self.skipped[url] = refusal
            return None
        if self.made >= self.most or not self.charge(1):
            return None
        self.made += 1
        headers = {name: value for name, value in wanted.headers.items() if name.lower() in _HEADERS}
        headers["Referer"] = self.referer
        request = ScrapyRequest(url, callback=NO_CALLBACK, headers=headers, meta=dict(_META))
        try:
            response = await self.crawler.engine.download_async(request)
        except PrivateAddressError:
            self._take_back(url, SkipReason.PRIVATE_ADDRESS)
        except IgnoreRequest as error:
            self._take_back(url, SkipReason.ROBOTS if "robots.txt" in str(error) else SkipReason.HOST_FAILING)
        except Exception:  # noqa: BLE001 - a page lives with what does not come
            return None
        else:
            self.received_bytes += len(response.body)
            return None if _went_to_disk(request) else response
        return None

    def _take_back(self, url: str, reason: SkipReason) -> None:
        """Charge nothing for what was not sent, and say why it was not."""
        self.skipped[url] = reason
        self.made -= 1
        self.charge(-1)


def _went_to_disk(request: ScrapyRequest) -> bool:
    """Remove what was too large for memory, and tell whether it was."""
    file = request.meta.get(BODY_FILE)
    if file is None:
        return False
    Path(file).unlink(missing_ok=True)
    return True


def _answer(response: Response) -> PageResponse:
    return PageResponse(response.status, tuple(header_pairs(response.headers)), response.body)
