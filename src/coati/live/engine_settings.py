"""What a crawl's plan means in Scrapy's own settings.

Scrapy's defaults serve many purposes. A crawl of ours needs few of its parts, and each of them costs time on
each request, so those that are needed are named here and the lists of defaults are empty. (Switching a
default off would not do: Scrapy imports it first, and that takes a second.)
"""

from __future__ import annotations

from typing import Any

from scrapy.utils.reactor import is_reactor_installed

from coati.live.plan import CrawlPlan
from coati.live.robots import MAX_ROBOTS_REDIRECTS
from coati.live.settings import RenderMode
from coati.search.engines import engine_host
from coati.web.urls import origin_of

_ACCEPT = "text/html,application/xhtml+xml,*/*;q=0.8"

_MIDDLEWARES = "scrapy.downloadermiddlewares."
_OURS = "coati.live."


def engine_settings(plan: CrawlPlan) -> dict[str, Any]:
    """Return the settings of the Scrapy engine that runs a plan."""
    own = plan.settings
    return {
        "SCHEDULER": _OURS + "scheduler.StrategyScheduler",
        "DOWNLOAD_HANDLERS": _handlers(plan),
        "DOWNLOADER_MIDDLEWARES_BASE": {},
        "DOWNLOADER_MIDDLEWARES": _downloader_middlewares(plan),
        "SPIDER_MIDDLEWARES_BASE": {},
        "EXTENSIONS_BASE": {},
        "EXTENSIONS": {_OURS + "stop_at_headers.StopAtHeaders": 0},
        # A process that has no Twisted reactor need not get one: it could not be started twice.
        "TWISTED_REACTOR_ENABLED": is_reactor_installed(),
        "USER_AGENT": own.user_agent,
        "ROBOTSTXT_USER_AGENT": own.robots_agents[0],
        "COATI_ROBOTS_AGENTS": list(own.robots_agents),
        "ROBOTSTXT_OBEY": own.robots,
        "CONCURRENT_REQUESTS": own.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": own.per_host,
        # Hosts are paced in one place, `coati.live.pace`, and by nothing of Scrapy's.
        "DOWNLOAD_DELAY": 0,
        "COATI_DELAY": own.delay_seconds,
        "COATI_DELAYS": {engine_host(engine): engine.delay_seconds for engine in plan.providers},
        "DOWNLOAD_TIMEOUT": own.download_timeout_seconds,
        "DOWNLOAD_VERIFY_CERTIFICATES": own.verify_certificates,
        "DEFAULT_REQUEST_HEADERS": {
            "Accept": _ACCEPT,
            "Accept-Encoding": "gzip, deflate, br, zstd",
            "User-Agent": own.user_agent,
            **dict(own.headers),
        },
        # Our own requests follow none: this is for robots.txt.
        "REDIRECT_MAX_TIMES": MAX_ROBOTS_REDIRECTS,
        "COATI_COOKIES": dict(own.cookies),
        "COATI_COOKIES_FOR": origin_of(plan.rules.start_url),
        "COATI_ORIGIN_HEADERS": list(own.origin_headers),
        "COATI_MAX_FILE_BYTES": own.max_file_bytes,
        "COATI_MAX_PAGE_BYTES": own.max_page_bytes,
        "COATI_STREAM_ABOVE_BYTES": own.stream_above_bytes,
        "COATI_STREAM_DIR": None if plan.store is None else str(plan.store.incoming),
        "COATI_CONNECT_TIMEOUT": own.connect_timeout_seconds,
        "COATI_ANSWER_TIMEOUT": own.answer_timeout_seconds,
        "COATI_MIN_BYTES_PER_SECOND": own.min_bytes_per_second,
        "COATI_LIMIT_RATE": own.max_bytes_per_second,
        "COATI_SLOW_WINDOW": own.slow_window_seconds,
        "COATI_ALLOW_PRIVATE": own.allows_private(plan.start_urls),
        "COATI_PROXY": own.proxy,
        "COATI_RENDER": own.render,
        "COATI_BROWSER": own.browser,
        "COATI_RENDER_SECONDS": own.render_seconds,
        "COATI_RENDER_REQUESTS": own.render_requests,
        "COATI_RENDER_MEMORY": own.render_memory_bytes,
        "COATI_MAX_RETRY_AFTER": own.max_retry_after_seconds,
        "COATI_MAX_DELAY": own.max_delay_seconds,
        # One worker takes the (empty) output of a callback; Scrapy's default starts a hundred each time.
        "CONCURRENT_ITEMS": 1,
        "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
        "LOG_FORMATTER": _OURS + "log_format.NoResponseLines",
        "WARN_ON_GENERATOR_RETURN_VALUE": False,
    }


def _handlers(plan: CrawlPlan) -> dict[str, str | None]:
    none = dict.fromkeys(("http", "https", "search", "ftp", "s3", "file", "data"))
    search = {"search": _OURS + "search_handler.SearchDownloadHandler"}
    if plan.offline:
        # Only engines in this process are queried: all else is refused before it gets here.
        return {**none, **search}
    streaming = _OURS + "streaming.StreamingDownloadHandler"
    return {**none, **search, "http": streaming, "https": streaming}


def _downloader_middlewares(plan: CrawlPlan) -> dict[str, int]:
    own = plan.settings
    chosen = {
        _MIDDLEWARES + "defaultheaders.DefaultHeadersMiddleware": 400,
        _OURS + "conditional_requests.ConditionalRequestMiddleware": 30,
        _OURS + "origin_headers.OriginHeadersMiddleware": 410,
        _OURS + "cookies.BoundedCookiesMiddleware": 700,
        _OURS + "pace.PaceMiddleware": 890,
    }
    if plan.defers:
        chosen[_OURS + "sign_of_life.SignOfLifeMiddleware"] = 105
    if own.robots:
        chosen[_OURS + "robots.ObeyRobotsMiddleware"] = 100
        chosen[_OURS + "robots.RobotsAnswerMiddleware"] = 110
        chosen[_OURS + "robots.RobotsRedirectMiddleware"] = 600
    if own.render != RenderMode.NEVER and not plan.offline:
        chosen[_OURS + "rendering.RenderMiddleware"] = 25
    if plan.archive is not None:
        chosen[_OURS + "read_through.ReadThroughMiddleware"] = 20
    return chosen
