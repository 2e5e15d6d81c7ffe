"""Drive a strategy over the web, on Scrapy, politely."""

from coati.live.crawl import crawl, crawl_async, crawl_many
from coati.live.plan import CrawlPlan, CrawlResult
from coati.live.progress import ArmYield, Event, Happening, Progress, Wait
from coati.live.settings import LiveSettings
from coati.live.stop import StopReason

__all__ = [
    "ArmYield",
    "CrawlPlan",
    "CrawlResult",
    "Event",
    "Happening",
    "LiveSettings",
    "Progress",
    "StopReason",
    "Wait",
    "crawl",
    "crawl_async",
    "crawl_many",
]
