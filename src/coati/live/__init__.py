"""Drive a strategy over the web, on Scrapy, politely."""

from typing import TYPE_CHECKING

from coati.lazy_names import names_from

if TYPE_CHECKING:
    from coati.live.plan import CrawlPlan, CrawlResult
    from coati.live.progress import ArmYield, Event, EventKind, Progress
    from coati.live.running import crawl, crawl_async, crawl_many
    from coati.live.settings import LiveSettings
    from coati.pacing.host_pace import Wait
    from coati.stop_reasons import StopReason

__all__ = [
    "ArmYield",
    "CrawlPlan",
    "CrawlResult",
    "Event",
    "EventKind",
    "LiveSettings",
    "Progress",
    "StopReason",
    "Wait",
    "crawl",
    "crawl_async",
    "crawl_many",
]

# Imported on first use: Scrapy takes a second, and most commands only read what a crawl left.
_PLACES = {
    "coati.live.plan": ["CrawlPlan", "CrawlResult"],
    "coati.live.progress": ["ArmYield", "Event", "EventKind", "Progress"],
    "coati.live.running": ["crawl", "crawl_async", "crawl_many"],
    "coati.live.settings": ["LiveSettings"],
    "coati.stop_reasons": ["StopReason"],
    "coati.pacing.host_pace": ["Wait"],
}

__getattr__ = names_from(__name__, _PLACES)
