"""A strategy behind Scrapy's scheduler interface.

Scrapy's engine wants to own the queue: it asks for the next request before the callback of the last one has
run, even at concurrency 1. So this scheduler itself limits what is chosen and not yet observed
(`coati.pacing.paced_choices`). It says that it has pending requests while any is open, takes retries back,
and wakes the engine when a host is ready again, since after an empty answer the engine would sleep until
its 5-second heartbeat.

In a Scrapy project of one's own it takes two settings::

    SCHEDULER = "coati.live.scheduler.StrategyScheduler"
    COATI_STRATEGY = "bfs"

The strategy then decides which links are followed, from the spider's start URLs on. The spider's own
callback sees every successful response. Requests that it yields without a callback of their own are links,
and are left to the strategy with all that they carry (`coati.live.spider_links`); those with one are sent as
usual, before anything that the strategy chooses.
"""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final, Protocol, Self
from urllib.parse import urlsplit

from scrapy import Request as ScrapyRequest
from scrapy import Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.asyncio import CallLaterResult, call_later
from scrapy.utils.misc import build_from_crawler, load_object

from coati.errors import CoatiError
from coati.live.drive import Drive
from coati.live.event_loop import count_stalls_from_here
from coati.live.header_texts import header_text
from coati.live.origin_headers import sent_headers
from coati.live.outcomes import API, LIST, REQUEST, FetchResult, ResponseReader
from coati.live.pace import PaceMiddleware, pace_settings
from coati.live.project_plan import plan_of_project
from coati.live.robots import ObeyRobotsMiddleware, RobotsAnswerMiddleware
from coati.live.spider import drive_of
from coati.live.spider_links import SpiderLinks
from coati.model import Later, Method, Outcome, Page, Redirect, Refused, Request
from coati.pacing.host_pace import HostPace, Wait
from coati.pacing.paced_choices import PacedChoices
from coati.runs.skip_reasons import SkipReason
from coati.stop_reasons import StopReason
from coati.web.rules import Scope
from coati.web.urls import host_of, is_query, normalise, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter
    from scrapy.http import Response

    from coati.live.failures import FailureReason
    from coati.live.plan import CrawlPlan

# A request that is never sent: handing it to the engine makes the engine ask us again.
_WAKE: Final = "coati_wake"

_SUCCESS = range(200, 300)
_REDIRECTS = range(300, 400)

# The mark of a request that is made once more, with the cookie that it was given.
_WITH_COOKIE: Final = "coati_with_cookie"

# A request is handed over this long before it may leave, since its way through the engine takes several turns
# of the loop. `PaceMiddleware` holds it back to the moment.
EARLY_SECONDS = 0.02

# A crawl that is stopping waits for what is being transferred, not for hosts that rest. One in which nothing
# was transferred for this many checks in a row has only such requests left.
_CHECK_SECONDS = 0.25

# After the last second of the budget, what is nearly there is waited for this long. The rest is given back.
_GRACE_SECONDS = 1.0

# How often the crawl says where it stands while nothing happens.
_PROGRESS_SECONDS = 1.0
_QUIET_CHECKS = 4


class CaughtError(Protocol):
    """An error as Scrapy hands it over: Twisted's Failure, with the request that it belongs to."""

    value: BaseException | None
    request: ScrapyRequest


class StrategyScheduler(BaseScheduler):
    """Gives Scrapy's engine the requests that a strategy chooses.

    A spider with an attribute ``drive`` brings its crawl along (`coati.live.running`). For any other one the
    crawl is made from the project's settings.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        settings = crawler.settings
        # 0 means no limit to Scrapy; a strategy that chose without end would learn nothing.
        self._concurrency = settings.getint("CONCURRENT_REQUESTS") or 16
        self._request_meta: dict[str, Any] = settings.getdict("COATI_REQUEST_META")
        self._drive: Drive
        self._reader: ResponseReader
        self._own: deque[ScrapyRequest] = deque()
        self._retries: dict[int, ScrapyRequest] = {}
        self._pace: HostPace
        self._choices: PacedChoices
        # Whether a middleware tells the pace what is sent, and what came of it.
        self._paced = False
        self._wake_call: CallLaterResult | None = None
        self._wake_at = 0.0
        # Whether nothing can be sent before a time that comes by itself.
        self._resting = False
        self._deadline_call: CallLaterResult | None = None
        self._progress_call: CallLaterResult | None = None
        self._filter: BaseDupeFilter | None = None
        self._robots: RobotsAnswerMiddleware | None = None
        self._rules: ObeyRobotsMiddleware | None = None
        # What will not be sent any more, and is not to be waited for: a resumed run sends it.
        self._left_open = 0
        self._quiet_checks = 0
        self._check_call: CallLaterResult | None = None
        # The links of a spider that parses itself; None in our own crawls.
        self._links: SpiderLinks | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the scheduler; Scrapy calls this."""
        return cls(crawler)

    def open(self, spider: Spider) -> None:
        """Get the crawl that the spider brings, or make one from the settings."""
        drive = drive_of(self._crawler)
        if drive is None:
            drive = Drive(plan_of_project(spider, self._crawler))
            filter_class = load_object(self._crawler.settings["DUPEFILTER_CLASS"])
            self._filter = build_from_crawler(filter_class, self._crawler)
            self._filter.open()
            self._links = SpiderLinks(drive.plan.start_urls, spider.logger)
        self._drive = drive
        self._drive.waits = self._waits
        self._drive.wake = self.wake
        self._reader = ResponseReader(
            drive.plan.rules,
            drive.plan.types,
            drive.plan.extractors,
            drive.plan.goal,
            drive.plan.shortcuts,
            drive.plan.settings.robots_agents,
        )
        self._set_pace(drive.plan)
        self._drive.give_up_host = self._pace.give_up
        self._drive.ended_hosts = self._pace.ended_hosts
        for host in drive.host_ends.used_up():
            self._pace.give_up(host, SkipReason.HOST_BUDGET)
        self._robots = self._crawler.get_downloader_middleware(RobotsAnswerMiddleware)
        self._rules = self._crawler.get_downloader_middleware(ObeyRobotsMiddleware)
        self._crawler.signals.connect(self._on_spider_error, signals.spider_error)
        drive.counts.start_clock()
        count_stalls_from_here()
        left = drive.seconds_left()
        if left is not None:
            self._deadline_call = call_later(max(0.0, left), self._on_deadline)
        if drive.plan.on_progress is not None:
            self._tell_progress()

    def _set_pace(self, plan: CrawlPlan) -> None:
        """Take over the pace that the middleware keeps; a project without it has Scrapy's delay."""
        middleware = self._crawler.get_downloader_middleware(PaceMiddleware)
        self._paced = middleware is not None
        self._pace = (
            HostPace(pace_settings(self._crawler.settings, many_hosts=not plan.one_site))
            if middleware is None
            else middleware.pace
        )
        self._choices = PacedChoices(
            self._pace,
            self._concurrency,
            any_host=plan.rules.scope is Scope.ANY,
            given=map(host_of, plan.start_urls),
            early_seconds=EARLY_SECONDS,
        )

    def _tell_progress(self) -> None:
        """Say where the crawl stands again and again: during a long wait nothing else would."""
        try:
            self._drive.tell_progress()
        except Exception as error:  # noqa: BLE001 - the loop would only log it
            self._drive.abort(error)
            return
        self._progress_call = call_later(_PROGRESS_SECONDS, self._tell_progress)

    def close(self, reason: str) -> None:
        """Cancel the timers."""
        for call in (self._wake_call, self._deadline_call, self._check_call, self._progress_call):
            if call is not None:
                call.cancel()
        if self._filter is not None:
            self._filter.close(reason)
        if self._links is not None:
            progress = self._drive.close().progress
            counts = asdict(progress)
            for name in ("requests", "pages", "targets", "failures", "refused"):
                self._crawler.stats.set_value(f"coati/{name}", counts[name])

    def has_pending_requests(self) -> bool:
        """Say whether the crawl continues, be it by waiting."""
        if self._drive.stopping:
            # What waits is not in flight: it stays open, and a resumed run sends it.
            waiting = self._choices.waiting + self._left_open
            return self._drive.open_count > waiting and not self._drive.aborted
        return bool(self._drive.open_count or self._own or self._resting)

    def enqueue_request(self, request: ScrapyRequest) -> bool:
        """Take back a retry, or a request of the spider's own."""
        if _WAKE in request.meta:
            return True
        chosen: Request | None = request.meta.get(REQUEST)
        if chosen is not None:
            if self._drive.retry(chosen.id):
                self._retries[chosen.id] = request
                self._choices.again(chosen)
                return True
            self._choices.observed(chosen)
            self._left_open += self._drive.is_open(chosen.id)
            return False
        if self._links is None or self._is_left_to_strategy(request, self._links):
            return False
        if self._filter is not None and not request.dont_filter and self._filter.request_seen(request):
            return False
        self._own.append(request)
        return True

    def next_request(self) -> ScrapyRequest | None:
        """Return what may be sent now."""
        try:
            return self._next_request()
        except Exception as error:  # noqa: BLE001 - the engine would swallow it and wait for ever
            self._drive.abort(error)
            return None

    def _next_request(self) -> ScrapyRequest | None:
        self._resting = False
        if self._drive.stopping:
            return None
        if self._own:
            return self._own.popleft()
        now = self._drive.now()
        chosen = self._choices.next(now, self._drive.choose)
        if isinstance(chosen, Later):
            self._resting = True
            self._wake_at_time(chosen.at, now)
            return None
        if chosen is None:
            return None
        return self._retries.pop(chosen.id, None) or self._enter(chosen)

    def _gives_up(self, chosen: Request) -> bool:
        """Stop the crawl of a site that asks for a longer rest than we make."""
        if not self._drive.plan.one_site or not self._pace.ended(host_of(chosen.url)):
            return False
        self._drive.stop(StopReason.RATE_LIMITED)
        return True

    def _waits(self) -> dict[str, Wait]:
        waits = self._pace.waits(self._drive.now())
        return {host: Wait(round(wait.seconds, 1), wait.why) for host, wait in waits.items()}

    def _enter(self, chosen: Request) -> ScrapyRequest:
        if not self._paced:
            self._pace.sent(host_of(chosen.url), self._drive.now())
        if self._rules is not None and self._silence(chosen) is not None and self._drive.may_try(chosen):
            self._rules.forget(urlsplit(chosen.url).netloc)
        carried = None if self._links is None else self._links.carried(chosen.url)
        return ScrapyRequest(
            chosen.url,
            callback=self._on_response,
            errback=self._on_error,  # type: ignore[arg-type]  # Twisted's Failure has what we need
            method=chosen.method,
            # The URL is in normal form, which is the form that pages and archives are compared in. A
            # redirect is an outcome, and so is an error.
            headers=None if carried is None else carried.headers,
            meta={
                **({} if carried is None else carried.meta),
                "verbatim_url": True,
                "dont_redirect": True,
                "handle_httpstatus_all": True,
                **(_query_meta(chosen.url) if is_query(chosen.url) else {}),
                **_meta_for(chosen, self._request_meta),
                REQUEST: chosen,
                LIST: chosen.url in self._drive.lists,
                API: self._drive.is_api(chosen.url),
            },
            dont_filter=True,
        )

    def _on_response(self, response: Response) -> Iterable[Any] | None:
        request = response.request
        chosen: Request = response.meta[REQUEST]
        if request is not None and _is_cookie_gate(chosen, response):
            again = request.copy()
            again.meta[_WITH_COOKIE] = True
            return [again]
        self._choices.observed(chosen)
        try:
            result = self._reader.read(chosen, response)
            from_archive = "archived" in response.flags
            if request is not None and not from_archive:
                result = self._with_sent(chosen, request, result)
            self._drive.finish(chosen.id, result, from_archive=from_archive)
        except Exception as error:  # noqa: BLE001 - the engine would log it and wait for ever
            self._drive.abort(error)
            return None
        if not from_archive:
            self._gives_up(chosen)
        return None if self._links is None else self._parse(chosen, response, result.outcome, self._links)

    def _with_sent(self, chosen: Request, request: ScrapyRequest, result: FetchResult) -> FetchResult:
        """Add what was sent for a page, as far as it may be kept; a query is sent by its engine."""
        if not isinstance(result.outcome, Page) or result.unsent or is_query(chosen.url):
            return result
        return replace(result, sent=sent_headers(request, self._drive.plan.settings.origin_headers))

    def _parse(
        self, chosen: Request, response: Response, outcome: Outcome, links: SpiderLinks
    ) -> Iterable[Any] | None:
        """Let the spider parse the response, after the strategy has observed it."""
        if isinstance(outcome, Page):
            links.add_page(chosen.url, outcome.links.urls)
        elif isinstance(outcome, Redirect):
            links.add_redirect(chosen.url, outcome.location)
        if response.status not in _SUCCESS or self._crawler.spider is None:
            return None
        carried = links.carried(chosen.url)
        parsed: Iterable[Any] | None = self._crawler.spider.parse(response, **carried.cb_kwargs)
        return parsed

    def _on_error(self, failure: CaughtError) -> None:
        chosen: Request = failure.request.meta[REQUEST]
        self._choices.observed(chosen)
        why = failure.value or Exception()
        if isinstance(why, CoatiError):
            # No fault of the site: the disk is full, for one.
            self._drive.abort(why)
            return
        # Not sent, or not allowed because robots.txt itself could not be fetched.
        if isinstance(why, IgnoreRequest) and self._gives_up(chosen):
            self._left_open += 1
            return
        try:
            result = self._reader.read_error(chosen, why)
            if result.outcome == Refused(SkipReason.ROBOTS):
                result = self._without_rules(chosen, result)
            self._drive.finish(chosen.id, result)
        except Exception as error:  # noqa: BLE001 - the engine would log it and wait for ever
            self._drive.abort(error)

    def _without_rules(self, chosen: Request, result: FetchResult) -> FetchResult:
        """Say what it is where nobody forbade anything: there are no rules, or the address is private."""
        silence = self._silence(chosen)
        if silence is not None:
            return self._reader.read_silence(silence)
        if self._robots is not None and self._robots.is_private(urlsplit(chosen.url).netloc):
            return replace(result, outcome=Refused(SkipReason.PRIVATE_ADDRESS))
        return result

    def _silence(self, chosen: Request) -> FailureReason | None:
        """Say why the host of a request did not tell its rules; None if it did."""
        return None if self._robots is None else self._robots.silence(urlsplit(chosen.url).netloc)

    def _check_transfers(self) -> None:
        """Abandon a stopping crawl in which all that is open only waits: for a retry, for a host's rest."""
        engine = self._crawler.engine
        busy = any(slot.transferring for slot in engine.downloader.slots.values())
        self._quiet_checks = 0 if busy else self._quiet_checks + 1
        if self._quiet_checks >= _QUIET_CHECKS:
            self._drive.abandon()
        elif not self._drive.aborted:
            self._check_call = call_later(_CHECK_SECONDS, self._check_transfers)

    def _on_spider_error(self, failure: CaughtError) -> None:
        """A spider's own mistakes are its own; ours end the crawl."""
        if self._links is None:
            self._drive.abort(failure.value)

    def _on_deadline(self) -> None:
        self._drive.stop(StopReason.BUDGET_SECONDS)
        self._deadline_call = call_later(_GRACE_SECONDS, self._drive.abandon)

    def _wake_at_time(self, at: float, now: float) -> None:
        if self._wake_call is not None:
            if at == self._wake_at:
                return
            self._wake_call.cancel()
        self._wake_at = at
        self._wake_call = call_later(at - now, self._wake_up)

    def _wake_up(self) -> None:
        self._wake_call = None
        self.wake()

    def wake(self) -> None:
        """Make the engine ask for a request now, by its public method; it also learns that it must stop."""
        if self._drive.stopping and self._check_call is None:
            self._check_call = call_later(_CHECK_SECONDS, self._check_transfers)
        if self._crawler.engine.spider is not None:
            self._crawler.engine.crawl(ScrapyRequest("data:,", meta={_WAKE: True}))

    def _is_left_to_strategy(self, request: ScrapyRequest, links: SpiderLinks) -> bool:
        """Tell a link, which the strategy knows from the page, from a request with a purpose of its own.

        A link that no page had (made by a script, for one) the strategy cannot know: it is sent as usual, if
        the rules admit it.
        """
        spider = self._crawler.spider
        default = None if spider is None else spider.parse
        if request.method != "GET" or request.body or request.callback not in {None, default}:
            return False
        url = normalise(request.url)
        if url is None or url in links:
            links.keep(url or request.url, request)
            return True
        return self._drive.plan.rules.refusal(url) is not None


def _meta_for(chosen: Request, meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the meta that a project puts into requests; a HEAD has no page that a browser could show."""
    hidden = "playwright" if chosen.method is Method.HEAD else None
    return {name: value for name, value in meta.items() if hidden is None or not name.startswith(hidden)}


def _query_meta(url: str) -> dict[str, Any]:
    """Say that a query is of no site: it has a slot of its own, no robots.txt, and no cookies of anybody."""
    return {"download_slot": host_of(url), "dont_obey_robotstxt": True, "dont_merge_cookies": True}


def _is_cookie_gate(chosen: Request, response: Response) -> bool:
    """Tell whether a page sends a browser back to itself with a cookie: then it opens at the second try."""
    if response.status not in _REDIRECTS or _WITH_COOKIE in response.meta:
        return False
    location = header_text(response.headers, "Location")
    return "Set-Cookie" in response.headers and bool(location) and resolve(chosen.url, location) == chosen.url
