"""A delay that grows while a host is in trouble, and shrinks back when it is well.

Scrapy's AutoThrottle follows latency only. It does not see downloads that failed, a server that answers
errors quickly is asked as often as before, it would undo a Crawl-delay, and its maximum overrides a longer
delay of the user's. Here an error doubles the delay of the host; an answer moves it half way towards what the
host's latency suggests: at most half of its time is spent on us. Where our own download handler says how much
of the latency was the host's, the rest does not count: a busy crawler is no slow host. The delay never falls
below the project's ``DOWNLOAD_DELAY`` or the host's Crawl-delay, nor grows beyond ``COATI_MAX_DELAY``
(seconds, default 60). With a ``DOWNLOAD_DELAY`` of 0 latency does not count: whoever sets that asks a server
of their own. Usable in any Scrapy project::

    DOWNLOADER_MIDDLEWARES = {"coati.live.adaptive_delay.AdaptiveDelayMiddleware": 890}

890 is next to the network, so that each attempt counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import (
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)

from coati.live.crawl_delay import DEFAULT_MAX_DELAY
from coati.live.outcomes import ANSWER_SECONDS

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.core.downloader import Slot
    from scrapy.crawler import Crawler
    from scrapy.http import Response

# What a delay of 0 is doubled from: short enough not to hurt a crawl on account of one error.
_FIRST_DELAY_SECONDS = 0.5

# Below this a delay that falls back is the floor again.
_NEAR_SECONDS = 0.05

_LATENCY_FACTOR = 2.0

# What a server says, or does, when it has too much to do. A plain 500 is mostly a fault of one page.
_TROUBLED = frozenset({429, 502, 503, 504, 520, 521, 522, 523, 524})
_TROUBLES = (DownloadTimeoutError, DownloadConnectionRefusedError, DownloadFailedError)


class AdaptiveDelayMiddleware:
    """Moves the delay of each download slot."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._own_delay = crawler.settings.getfloat("DOWNLOAD_DELAY")
        self._maximum = crawler.settings.getfloat("COATI_MAX_DELAY", DEFAULT_MAX_DELAY)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware; Scrapy calls this."""
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Learn from an answer."""
        slot = self._slot(request)
        if slot is None:
            return response
        if response.status in _TROUBLED:
            self._back_off(slot, self._floor(request))
        else:
            floor = self._floor(request)
            latency = _latency(request)
            if slot.delay != floor or latency * _LATENCY_FACTOR > floor > 0:
                self._recover(slot, floor, latency if self._own_delay else 0.0)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Learn from a failure, if it says something about the host and not about one answer."""
        slot = self._slot(request)
        if slot is not None and isinstance(exception, _TROUBLES):
            self._back_off(slot, self._floor(request))

    def _slot(self, request: Request) -> Slot | None:
        key = request.meta.get("download_slot")
        return None if key is None else self._crawler.engine.downloader.slots.get(key)

    def _floor(self, request: Request) -> float:
        settings = self._crawler.engine.downloader.per_slot_settings.get(request.meta["download_slot"])
        asked: float = self._own_delay if settings is None else settings.get("delay", 0.0)
        return max(self._own_delay, asked)

    def _back_off(self, slot: Slot, floor: float) -> None:
        doubled = 2 * max(slot.delay, floor, _FIRST_DELAY_SECONDS)
        slot.delay = max(floor, min(doubled, self._maximum))

    def _recover(self, slot: Slot, floor: float, latency: float) -> None:
        wanted = max(floor, min(_LATENCY_FACTOR * latency, self._maximum))
        delay = max(wanted, (slot.delay + wanted) / 2)
        slot.delay = wanted if delay - wanted < _NEAR_SECONDS else delay


def _latency(request: Request) -> float:
    meta = request.meta
    return meta.get(ANSWER_SECONDS, meta.get("download_latency")) or 0.0
