"""A strategy behind Scrapy's scheduler interface.

Scrapy's engine wants to own the queue: it asks for the next request before the callback of the last one has
run, even at concurrency 1. So this scheduler itself limits what is chosen and not yet observed, in all and by
host. It says that it has pending requests while any is open, takes retries back, and wakes the engine when a
host may be asked again, since after an empty answer the engine would sleep until its 5-second heartbeat.

In a Scrapy project of one's own it takes two settings::

    SCHEDULER = "coati.live.scheduler.StrategyScheduler"
    COATI_STRATEGY = "bfs"

The strategy then decides which links are followed, from the spider's start URLs on. The spider's own
callback sees every successful response. Requests that it yields without a callback of their own are links,
and are left to the strategy; those with one are sent as usual, before anything that the strategy chooses.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import urlsplit

from scrapy import Request as ScrapyRequest
from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.asyncio import call_later
from scrapy.utils.misc import build_from_crawler, load_object

from coati.errors import CoatiError, ConfigError
from coati.live.adaptive_delay import AdaptiveDelayMiddleware
from coati.live.drive import Drive
from coati.live.outcomes import LIST, ResponseReader
from coati.live.plan import CrawlPlan
from coati.live.progress import Wait
from coati.live.retry_after import TOO_LONG, RetryAfterMiddleware
from coati.live.robots import RobotsAnswerMiddleware
from coati.live.settings import LiveSettings
from coati.live.stop import StopReason
from coati.model import Later, Refused, Request
from coati.runs.reasons import SkipReason
from coati.web.media import parse_types
from coati.web.rules import Rules, Scope
from coati.web.urls import host_of, is_query, normalise, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter
    from scrapy.http import Response
    from scrapy.utils.asyncio import CallLaterResult

    from coati.live.failures import FailureReason
    from coati.strategies.strategy import Strategy

# By this key of its meta a Scrapy request is known as a strategy's.
REQUEST = "coati_request"

# A request that is never sent: handing it to the engine makes the engine ask us again.
_WAKE: Final = "coati_wake"

_SUCCESS = range(200, 300)
_REDIRECTS = range(300, 400)

# The mark of a request that is made once more, with the cookie that it was given.
_WITH_COOKIE: Final = "coati_with_cookie"

_LONG_REST_SECONDS = 2.0

# A request is handed over this long before it may leave, since its way through the engine takes several turns
# of the loop. Scrapy's downloader and our middlewares hold it back to the moment.
_EARLY_SECONDS = 0.02

# A crawl that is stopping waits for what is being transferred, not for hosts that rest. One in which nothing
# was transferred for so many checks in a row has only such requests left.
_CHECK_SECONDS = 0.25

# How often the crawl says where it stands while nothing happens.
_PROGRESS_SECONDS = 1.0
_QUIET_CHECKS = 4

# A site may have names without end. Whether one of them may be asked is found out for the last ones only.
_REMEMBERED_HOSTS = 64


class CaughtError(Protocol):
    """An error as Scrapy hands it over: Twisted's Failure, with the request that it belongs to."""

    value: BaseException | None
    request: ScrapyRequest


class _Hosts:
    """Which hosts may be asked now (`coati.model.Hosts`)."""

    def __init__(self, ready: Callable[[str], bool]) -> None:
        self.ready = ready

    def woken(self) -> Sequence[str]:
        return ()


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
        self._per_host = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") or 1
        self._request_meta: dict[str, Any] = settings.getdict("COATI_REQUEST_META")
        self._drive: Drive
        self._reader: ResponseReader
        self._own: deque[ScrapyRequest] = deque()
        self._retries: deque[ScrapyRequest] = deque()
        self._held: Request | None = None
        self._open_by_host: Counter[str] = Counter()
        # The hosts that were asked, the last of them at the end.
        self._hosts: dict[str, None] = {}
        self._wake_call: CallLaterResult | None = None
        self._wake_at = float("inf")
        # Whether a host that must rest keeps the strategy from choosing.
        self._resting = False
        self._deadline_call: CallLaterResult | None = None
        self._progress_call: CallLaterResult | None = None
        self._filter: BaseDupeFilter | None = None
        self._retry_after: RetryAfterMiddleware | None = None
        self._adaptive: AdaptiveDelayMiddleware | None = None
        self._robots: RobotsAnswerMiddleware | None = None
        # Retries that came back while the crawl was stopping: open, and not to be waited for.
        self._left_open = 0
        self._quiet_checks = 0
        self._check_call: CallLaterResult | None = None
        self._spider_parses = True

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the scheduler; Scrapy calls this."""
        return cls(crawler)

    def open(self, spider: Spider) -> None:
        """Get the crawl that the spider brings, or make one from the settings."""
        drive = getattr(spider, "drive", None)
        if drive is None:
            drive = Drive(plan_of_project(spider, self._crawler))
            filter_class = load_object(self._crawler.settings["DUPEFILTER_CLASS"])
            self._filter = build_from_crawler(filter_class, self._crawler)
            self._filter.open()
        else:
            self._spider_parses = False
        self._drive = drive
        self._drive.waits = self._waits
        self._drive.wake = self.wake
        self._reader = ResponseReader(drive.plan.rules, drive.plan.types)
        self._retry_after = self._crawler.get_downloader_middleware(RetryAfterMiddleware)
        self._adaptive = self._crawler.get_downloader_middleware(AdaptiveDelayMiddleware)
        self._robots = self._crawler.get_downloader_middleware(RobotsAnswerMiddleware)
        self._restore_pauses()
        self._crawler.signals.connect(self._on_spider_error, signals.spider_error)
        drive.tally.start_clock()
        left = drive.seconds_left()
        if left is not None:
            self._deadline_call = call_later(max(0.0, left), self._on_deadline)
        if drive.plan.on_progress is not None:
            self._tell_progress()

    def _restore_pauses(self) -> None:
        """Go on as slowly as an earlier session of the run had to."""
        for host, pause in self._drive.host_pauses().items():
            if self._adaptive is not None and pause.delay_seconds is not None:
                self._adaptive.restore(host, pause.delay_seconds)
            if self._retry_after is not None and pause.rests_until is not None:
                longest = self._drive.plan.settings.max_retry_after_seconds
                seconds = min(pause.rests_until - time.time(), longest)
                if seconds > 0:
                    self._retry_after.let_rest(host, seconds)
                    self._hosts[host] = None

    def _tell_progress(self) -> None:
        """Say where the crawl stands again and again: during a long wait nothing else would."""
        try:
            self._drive.tell_progress()
        except Exception as error:  # noqa: BLE001 - the loop would only log it
            self._drive.abort(error)
            return
        self._progress_call = call_later(_PROGRESS_SECONDS, self._tell_progress)

    def close(self, reason: str) -> None:
        """Let the timers go."""
        for call in (self._wake_call, self._deadline_call, self._check_call, self._progress_call):
            if call is not None:
                call.cancel()
        if self._filter is not None:
            self._filter.close(reason)
        if self._spider_parses:
            progress = self._drive.close().progress
            for name in ("requests", "pages", "targets", "errors", "refused"):
                self._crawler.stats.set_value(f"coati/{name}", getattr(progress, name))

    def has_pending_requests(self) -> bool:
        """Say whether the crawl goes on, be it by waiting."""
        if self._drive.stopping:
            # Waiting retries are not in flight: they stay open, and a resumed run sends them again.
            waiting = len(self._retries) + self._left_open + (self._held is not None)
            return self._drive.open_count > waiting and not self._drive.aborted
        return bool(self._drive.open_count or self._own or self._resting)

    def enqueue_request(self, request: ScrapyRequest) -> bool:
        """Take back a retry, or a request of the spider's own."""
        if _WAKE in request.meta:
            return True
        chosen: Request | None = request.meta.get(REQUEST)
        if chosen is not None:
            self._leave(chosen)
            if not self._drive.retry(chosen.id):
                self._left_open += self._drive.is_open(chosen.id)
                return False
            self._retries.append(request)
            return True
        if not self._spider_parses or self._is_link(request):
            return False
        if self._filter is not None and not request.dont_filter and self._filter.request_seen(request):
            return False
        self._own.append(request)
        return True

    def next_request(self) -> ScrapyRequest | None:
        """Give what may be sent now."""
        try:
            return self._next_request()
        except Exception as error:  # noqa: BLE001 - the engine would swallow it and wait for ever
            self._drive.abort(error)
            return None

    def _next_request(self) -> ScrapyRequest | None:
        if self._drive.aborted:
            return None
        self._wake_at = float("inf")
        self._resting = False
        retry = self._next_retry()
        if retry is not None:
            return retry
        if self._own and not self._drive.stopping:
            return self._own.popleft()
        chosen = self._next_choice()
        return None if chosen is None else self._enter(chosen)

    def _next_retry(self) -> ScrapyRequest | None:
        if self._drive.stopping:
            return None
        for _ in range(len(self._retries)):
            request = self._retries.popleft()
            chosen: Request = request.meta[REQUEST]
            if self._ready(host_of(chosen.url)):
                self._occupy(chosen)
                return request
            self._retries.append(request)
        return None

    def _next_choice(self) -> Request | None:
        held, self._held = self._held, None
        if held is None:
            if self._drive.open_count >= self._concurrency or not self._worth_asking():
                return None
            # From here on it means those hosts that the strategy itself asks about.
            self._resting = False
            chosen = self._drive.choose(_Hosts(self._ready))
            if isinstance(chosen, Later):
                self._resting = True
                self._wake_in(max(0.0, chosen.at - self._drive.now()))
            if not isinstance(chosen, Request):
                return None
            held = chosen
        if self._ready(host_of(held.url)) and not self._drive.stopping:
            return held
        # Nothing else is chosen until this one can be sent: what comes back meanwhile should count.
        self._held = held
        return None

    def _worth_asking(self) -> bool:
        """Hold back while no host of a site may be asked: the later a choice, the more it knows.

        A strategy over many hosts is told by ``ready`` instead, since it may know hosts that we do not.
        """
        if not self._hosts or not self._drive.plan.one_site:
            return True
        # All of them, first: every host that must rest is to enter the time of waking.
        ready = [self._ready(host) for host in self._hosts]
        if any(ready):
            return True
        # Nothing is to be learnt during a long rest without anything in flight, except that all is done.
        rests = self._wake_at - time.monotonic()
        return not self._drive.open_count and _LONG_REST_SECONDS < rests < float("inf")

    def _ready(self, host: str) -> bool:
        """Tell whether a host may be asked now; if it only has to rest, we wake when it has."""
        if self._open_by_host[host] >= self._per_host:
            return False
        seconds = self._rest_seconds(host) - _EARLY_SECONDS
        if seconds <= 0:
            return True
        self._resting = True
        self._wake_in(seconds)
        return False

    def _rest_seconds(self, host: str) -> float:
        key = host.strip("[]")
        rest = 0.0
        slot = self._crawler.engine.downloader.slots.get(key)
        if slot is not None and slot.delay:
            rest = slot.lastseen + slot.delay - time.monotonic()
        if self._retry_after is not None:
            rest = max(rest, self._retry_after.rest_seconds(key))
        return rest

    def _waits(self) -> dict[str, Wait]:
        rests = {host: self._rest_seconds(host) for host in self._hosts}
        return {host: Wait(round(rest, 1), self._why(host)) for host, rest in rests.items() if rest > 0}

    def _why(self, host: str) -> str:
        """Say why a host rests: the reason that is the user's to know, should there be several."""
        key = host.strip("[]")
        if self._retry_after is not None and self._retry_after.rest_seconds(key) > 0:
            return self._retry_after.why(key)
        grown = None if self._adaptive is None else self._adaptive.grown(key)
        if grown is not None:
            return grown.why
        return "Crawl-delay" if key in self._crawler.engine.downloader.per_slot_settings else "delay"

    def _enter(self, chosen: Request) -> ScrapyRequest:
        self._occupy(chosen)
        return ScrapyRequest(
            chosen.url,
            callback=self._on_response,
            errback=self._on_error,  # type: ignore[arg-type]  # Twisted's Failure has what we need
            method=chosen.method,
            # The URL is in normal form, which is the form that pages and archives are compared in. A
            # redirect is an outcome, and so is an error.
            meta={
                "verbatim_url": True,
                "dont_redirect": True,
                "handle_httpstatus_all": True,
                **(_query_meta(chosen.url) if is_query(chosen.url) else {}),
                **self._request_meta,
                REQUEST: chosen,
                LIST: chosen.url in self._drive.lists,
            },
            cookies=dict(self._drive.plan.settings.cookies),
            dont_filter=True,
        )

    def _occupy(self, chosen: Request) -> None:
        host = host_of(chosen.url)
        self._open_by_host[host] += 1
        self._hosts.pop(host, None)
        self._hosts[host] = None
        if len(self._hosts) > _REMEMBERED_HOSTS:
            del self._hosts[next(iter(self._hosts))]

    def _leave(self, chosen: Request) -> None:
        host = host_of(chosen.url)
        self._open_by_host[host] -= 1
        if not self._open_by_host[host]:
            del self._open_by_host[host]

    def _on_response(self, response: Response) -> Iterable[Any] | None:
        request = response.request
        chosen: Request = response.meta[REQUEST]
        if request is not None and _is_cookie_gate(chosen, response):
            again = request.copy()
            again.meta[_WITH_COOKIE] = True
            return [again]
        self._leave(chosen)
        try:
            reading = self._reader.read(chosen, response)
            self._drive.finish(chosen.id, reading, from_archive="archived" in response.flags)
        except Exception as error:  # noqa: BLE001 - the engine would log it and wait for ever
            self._drive.abort(error)
            return None
        if request is not None and TOO_LONG in request.meta and self._drive.plan.one_site:
            self._drive.stop(StopReason.RATE_LIMITED)
        if self._spider_parses and response.status in _SUCCESS and self._crawler.spider is not None:
            parsed: Iterable[Any] | None = self._crawler.spider.parse(response)
            return parsed
        return None

    def _on_error(self, failure: CaughtError) -> None:
        chosen: Request = failure.request.meta[REQUEST]
        self._leave(chosen)
        why = failure.value or Exception()
        if isinstance(why, CoatiError):
            # No fault of the site: the disk is full, for one.
            self._drive.abort(why)
            return
        try:
            reading = self._reader.read_error(chosen, why)
            silence = self._silence(chosen) if reading.outcome == Refused(SkipReason.ROBOTS) else None
            if silence is not None:
                reading = self._reader.read_silence(silence)
            self._drive.finish(chosen.id, reading)
        except Exception as error:  # noqa: BLE001 - the engine would log it and wait for ever
            self._drive.abort(error)
            return
        plan = self._drive.plan
        if silence is not None and plan.one_site and _same_server(chosen.url, plan.rules.start_url):
            # All that is known would fail in the same way, without even being tried.
            self._drive.stop(StopReason.SITE_SILENT)

    def _silence(self, chosen: Request) -> FailureReason | None:
        """Say why the host of a request never told its rules; None if it did."""
        return None if self._robots is None else self._robots.silence(urlsplit(chosen.url).netloc)

    def _check_transfers(self) -> None:
        """Let the crawl go that has nothing left but requests that wait: for a retry, for a host's rest."""
        engine = self._crawler.engine
        busy = any(slot.transferring for slot in engine.downloader.slots.values())
        self._quiet_checks = 0 if busy else self._quiet_checks + 1
        if self._quiet_checks >= _QUIET_CHECKS:
            self._drive.let_go()
        elif not self._drive.aborted:
            self._check_call = call_later(_CHECK_SECONDS, self._check_transfers)

    def _on_spider_error(self, failure: CaughtError) -> None:
        """A spider's own mistakes are its own; ours end the crawl."""
        if not self._spider_parses:
            self._drive.abort(failure.value)

    def _on_deadline(self) -> None:
        self._drive.stop(StopReason.BUDGET_SECONDS)

    def _wake_in(self, seconds: float) -> None:
        at = time.monotonic() + seconds
        if at >= self._wake_at:
            return
        self._wake_at = at
        if self._wake_call is not None:
            self._wake_call.cancel()
        self._wake_call = call_later(seconds, self.wake)

    def wake(self) -> None:
        """Make the engine ask for a request now, by its public door; it also learns that it must stop."""
        if self._drive.stopping and self._check_call is None:
            self._check_call = call_later(_CHECK_SECONDS, self._check_transfers)
        if self._crawler.engine.spider is not None:
            self._crawler.engine.crawl(ScrapyRequest("data:,", meta={_WAKE: True}))

    def _is_link(self, request: ScrapyRequest) -> bool:
        """Tell a link, which the strategy knows from the page, from a request with a purpose of its own."""
        plain = request.method == "GET" and not request.body
        default = getattr(self._crawler.spider, "parse", None)
        return plain and request.callback in {None, default}


def _query_meta(url: str) -> dict[str, Any]:
    """Say that a query is of no site: it has a slot of its own, no robots.txt, and no cookies of anybody."""
    return {"download_slot": host_of(url), "dont_obey_robotstxt": True, "dont_merge_cookies": True}


def _is_cookie_gate(chosen: Request, response: Response) -> bool:
    """Tell whether a page sends a browser back to itself with a cookie: then it opens at the second try."""
    if response.status not in _REDIRECTS or _WITH_COOKIE in response.meta:
        return False
    location = (response.headers.get("Location") or b"").decode("latin-1")
    return "Set-Cookie" in response.headers and resolve(chosen.url, location) == chosen.url


def _same_server(one: str, other: str) -> bool:
    return urlsplit(one).netloc == urlsplit(other).netloc


def plan_of_project(spider: Spider, crawler: Crawler) -> CrawlPlan:
    """Read a crawl from the settings of a Scrapy project; see docs/how-to/use-in-scrapy.md."""
    settings = crawler.settings
    start_urls = [url for named in spider.start_urls if (url := normalise(named)) is not None]
    if not start_urls:
        raise ConfigError(f"the spider {spider.name} needs a start URL: a strategy begins there")
    wanted = settings.get("COATI_STRATEGY")
    if not wanted:
        raise ConfigError("COATI_STRATEGY names no strategy")
    return CrawlPlan(
        new_strategy=_strategy_factory(wanted, start_urls, settings.getint("COATI_SEED")),
        rules=Rules(
            start_urls[0],
            Scope(settings.get("COATI_SCOPE", "domain")),
            more_start_urls=tuple(start_urls[1:]),
        ),
        types=parse_types(settings.get("COATI_TYPES", "data")),
        settings=LiveSettings(max_redirects=settings.getint("REDIRECT_MAX_TIMES")),
    )


def _strategy_factory(wanted: object, start_urls: Sequence[str], seed: int) -> Callable[[], Strategy]:
    """Find a strategy: by its name, by the path of a function of the start URLs, or as such a function."""
    if isinstance(wanted, str) and "." not in wanted:
        # By path, as a Scrapy project names all its components: this package knows no strategy.
        build = load_object("coati.assembly.build_strategy")
        return lambda: build(wanted, start_urls, seed)
    made = load_object(wanted)  # type: ignore[arg-type]  # a path, or the function itself
    return lambda: made(start_urls)
