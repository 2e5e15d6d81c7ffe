from __future__ import annotations

from scrapy.downloadermiddlewares import cookies

from coati.live.cookies import OfflineCookiesMiddleware
from coati.live.engine_settings import engine_settings
from coati.live.plan import CrawlPlan
from coati.strategies.baselines import breadth_first
from coati.web.rules import Rules

START = "http://a.test/"


def test_nobody_is_asked_for_the_list_of_public_suffixes() -> None:
    split = cookies._split_domain  # noqa: SLF001 - what Scrapy itself uses
    assert split.suffix_list_urls == ()
    assert split("data.example.co.uk").suffix == "co.uk"


def test_crawls_use_it() -> None:
    plan = CrawlPlan(new_strategy=lambda: breadth_first([START]), rules=Rules(START))
    middlewares = engine_settings(plan)["DOWNLOADER_MIDDLEWARES"]
    name = f"{OfflineCookiesMiddleware.__module__}.{OfflineCookiesMiddleware.__qualname__}"
    assert name in middlewares
