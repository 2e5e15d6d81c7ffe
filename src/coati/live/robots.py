"""robots.txt by RFC 9309, in front of Scrapy's own robots middleware.

Scrapy parses whatever answers under /robots.txt as if it were rules, also a server error, and takes a failed
download for permission. This middleware hands it what the standard means instead:

- a server error, 429, or no answer at all: nothing may be fetched. `RobotsAnswerMiddleware.silence` says why,
  since such a host refuses nobody, and `ObeyRobotsMiddleware.forget` lets it be requested again;
- any other error status: there are no rules, everything may be;
- of the rules, the first 500 KiB are read.

Usable in any Scrapy project, beside ``ROBOTSTXT_OBEY = True``::

    DOWNLOADER_MIDDLEWARES = {"coati.live.robots.RobotsAnswerMiddleware": 110}

110 is on the engine's side of retries and redirects, so that it sees how they end.

Redirects of a robots.txt are followed within the scope of the crawl and within the domain that its host
belongs to, five at most; one that leads elsewhere means that there are no rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit

from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response, TextResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import RobotParser

from coati.live.cookies import registered_domain
from coati.live.failures import SILENCE, FailureReason, PrivateAddressError, failure_reason
from coati.live.outcomes import KNOWN_RULES, LIST
from coati.live.spider import drive_of
from coati.runs.skip_reasons import SkipReason
from coati.web.rules import Refusal

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from coati.live.drive import Drive

MAX_RULES_BYTES: Final = 500 * 1024
# As many as RFC 9309 asks for.
MAX_ROBOTS_REDIRECTS: Final = 5

_TOO_MANY_REQUESTS = 429
_SERVER_ERRORS = range(500, 600)
_SUCCESS = range(200, 300)
_REDIRECTS = range(300, 400)
# Names without end lead to a host that does not answer; of this many it is known why.
_REMEMBERED_HOSTS = 10_000
_FORBID_ALL = b"User-agent: *\nDisallow: /\n"
# The mark of rules that no host sent.
_OURS = "no rules"


def lists_robots(request: Request) -> bool:
    """Tell whether a request is the strategy's own for a robots.txt, which lists the site's sitemaps."""
    return bool(request.meta.get(LIST)) and urlsplit(request.url).path == "/robots.txt"


def asks_for_robots(request: Request) -> bool:
    """Tell whether a request is Scrapy's own for a robots.txt, be it redirected."""
    if request.callback is not NO_CALLBACK or not request.meta.get("dont_obey_robotstxt"):
        return False
    first: str = request.meta.get("redirect_urls", [request.url])[0]
    return urlsplit(first).path == "/robots.txt"


class ObeyRobotsMiddleware(RobotsTxtMiddleware):
    """Scrapy's own, which fetches the rules and keeps to them; robots.txt itself may always be requested."""

    def process_request_2(self, rp: RobotParser | None, request: Request) -> None:
        """Refuse what the rules forbid, to any of the names that we go by."""
        if lists_robots(request):
            return
        super().process_request_2(rp, request)
        agents: list[str] = self.crawler.settings.getlist("COATI_ROBOTS_AGENTS")
        if rp is not None and not all(rp.allowed(request.url, agent) for agent in agents[1:]):
            raise IgnoreRequest("Forbidden by robots.txt")

    def forget(self, netloc: str) -> None:
        """Have the rules of a host (with its port) requested again before its next request."""
        # What is being requested at this moment stands for a parser that is not there yet.
        if isinstance(self._parsers.get(netloc), RobotParser):
            del self._parsers[netloc]


class RobotsRedirectMiddleware(RedirectMiddleware):
    """Follows redirects, for crawls whose own requests carry ``dont_redirect``: robots.txt may move, too.

    Scrapy's own asks for a spider middleware that such a crawl does not have, to keep Referer headers.
    """

    def process_response(  # type: ignore[override]
        self, request: Request, response: Response
    ) -> Request | Response:
        """Follow a redirect, unless it leads away from the site."""
        followed = super().process_response(request, response)
        if isinstance(followed, Response) or self._belongs(request.url, followed.url):
            return followed
        raise IgnoreRequest(f"{request.url} leads to another site")

    def _belongs(self, url: str, location: str) -> bool:
        here, there = (urlsplit(one).hostname or "" for one in (url, location))
        if registered_domain(here) == registered_domain(there):
            return True
        drive = drive_of(self.crawler)
        return drive is not None and drive.plan.rules.refusal(location) is not Refusal.SCOPE

    def handle_referer(self, request: Request, response: Response) -> None:
        """Send no Referer."""
        request.headers.pop("Referer", None)

    def _engine_started(self) -> None:
        """Look for no other middleware."""


class RobotsAnswerMiddleware:
    """Turns what came for a robots.txt into the rules that it stands for.

    A strategy that requests one, to learn of sitemaps, is handed what came: nothing is fetched twice.
    """

    def __init__(self) -> None:
        self._silent: dict[str, FailureReason] = {}
        self._private: set[str] = set()
        # Only of those that a strategy will request; None where nothing came that could be read.
        self._answers: dict[str, Response | None] = {}
        self._crawler: Crawler | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware; Scrapy calls this."""
        middleware = cls()
        middleware._crawler = crawler
        return middleware

    def is_private(self, netloc: str) -> bool:
        """Tell whether the robots.txt of a host (with its port) was not requested: its address is private."""
        return netloc in self._private

    def silence(self, netloc: str) -> FailureReason | None:
        """Say why the robots.txt of a host (with its port) never came; None if it did."""
        return self._silent.get(netloc)

    def process_request(self, request: Request) -> Response | None:
        """Count, and bound, what is fetched on our own account; answer a strategy with what is known."""
        if lists_robots(request):
            return self._known_answer(request)
        if not asks_for_robots(request):
            return None
        # Our download handler cuts the rules off where we stop reading; Scrapy's would fail there.
        request.meta["download_maxsize"] = 10 * MAX_RULES_BYTES
        drive = self._drive()
        if drive is not None:
            drive.counts.robots_requests += 1
        return None

    def _known_answer(self, request: Request) -> Response | None:
        if request.url not in self._answers:
            return None
        answer = self._answers[request.url]
        if answer is None:
            raise IgnoreRequest("Forbidden by robots.txt")
        return answer.replace(url=request.url, request=request, flags=[KNOWN_RULES])

    def _keep(self, request: Request, answer: Response | None) -> None:
        first: str = request.meta.get("redirect_urls", [request.url])[0]
        drive = self._drive()
        if drive is not None and first in drive.lists:
            self._answers[first] = answer

    def _drive(self) -> Drive | None:
        """Return the crawl that a spider of ours brings."""
        return None if self._crawler is None else drive_of(self._crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Replace an answer that holds no rules by the rules that it means."""
        if not asks_for_robots(request) or response.status in _REDIRECTS or _OURS in response.flags:
            return response
        size = len(response.body)
        if response.status in _SERVER_ERRORS or response.status == _TOO_MANY_REQUESTS:
            return self._forbid_all(request, FailureReason.NO_RULES, response.status, size)
        first: str = request.meta.get("redirect_urls", [request.url])[0]
        self._log(first, response.status, size)
        self._private.discard(urlsplit(first).netloc)
        self._silent.pop(urlsplit(first).netloc, None)
        self._keep(request, response)
        body = response.body if response.status in _SUCCESS else b""
        if len(body) > MAX_RULES_BYTES:
            body = body[:MAX_RULES_BYTES].rpartition(b"\n")[0]
        return TextResponse(response.url, body=body, encoding="utf-8", request=request)

    def process_exception(self, request: Request, exception: Exception) -> Response | None:
        """Treat no response as a ban, and keep the reason for it."""
        if not asks_for_robots(request):
            return None
        reason: FailureReason | None = failure_reason(exception)
        if isinstance(exception, PrivateAddressError):
            # That is a refusal: ours.
            reason = None
        elif reason not in SILENCE:
            reason = FailureReason.NO_RULES
        return self._forbid_all(request, reason)

    def _forbid_all(
        self, request: Request, reason: FailureReason | None, status: int = 0, size_bytes: int = 0
    ) -> Response:
        # Rules that are elsewhere are missed by the host that sent us there.
        url: str = request.meta.get("redirect_urls", [request.url])[0]
        host = urlsplit(url).netloc
        if reason is not None and len(self._silent) < _REMEMBERED_HOSTS:
            self._silent[host] = reason
        elif reason is None and len(self._private) < _REMEMBERED_HOSTS:
            self._private.add(host)
        self._log(url, status, size_bytes, reason or SkipReason.PRIVATE_ADDRESS)
        self._keep(request, None)
        return TextResponse(request.url, body=_FORBID_ALL, encoding="utf-8", request=request, flags=[_OURS])

    def _log(self, url: str, status: int, size_bytes: int, reason: str = "") -> None:
        drive = self._drive()
        if drive is not None:
            drive.robots_received(url, status, size_bytes, reason)
