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

from typing import TYPE_CHECKING, NamedTuple

from scrapy import signals
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

    from coati.live.drive import Drive

# What a delay of 0 is doubled from: short enough not to hurt a crawl on account of one error.
_FIRST_DELAY_SECONDS = 0.5

# Below this a delay that falls back is the floor again.
_NEAR_SECONDS = 0.05

_LATENCY_FACTOR = 2.0

# A site may have names without end; of so many it is known how slowly they are to be asked.
_REMEMBERED_HOSTS = 10_000

# What a server says, or does, when it has too much to do. A plain 500 is mostly a fault of one page.
_TROUBLED = frozenset({429, 502, 503, 504, 520, 521, 522, 523, 524})
_TROUBLES = (DownloadTimeoutError, DownloadConnectionRefusedError, DownloadFailedError)


class Grown(NamedTuple):
    """A delay that is longer than it would be by the settings, and why: "errors" or "slow answers"."""

    seconds: float
    why: str


class AdaptiveDelayMiddleware:
    """Moves the delay of each download slot.

    Slots that idle are thrown away and made anew; a delay that has grown is kept beyond that.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._grown: dict[str, Grown] = {}
        self._own_delay = crawler.settings.getfloat("DOWNLOAD_DELAY")
        self._maximum = crawler.settings.getfloat("COATI_MAX_DELAY", DEFAULT_MAX_DELAY)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware; Scrapy calls this."""
        middleware = cls(crawler)
        crawler.signals.connect(middleware.request_reached, signals.request_reached_downloader)
        return middleware

    def grown(self, host: str) -> Grown | None:
        """Say how slowly a host is asked on account of errors or of its slowness; None if it is not."""
        return self._grown.get(host)

    def restore(self, host: str, delay: float) -> None:
        """Go on with a delay that had grown in an earlier session."""
        self._grown[host] = Grown(min(delay, max(self._maximum, self._own_delay)), "errors")

    def request_reached(self, request: Request) -> None:
        """Give a slot that was made anew its delay, before it is asked when its turn is."""
        slot, grown = self._slot(request), self._grown.get(request.meta["download_slot"])
        if slot is not None and grown is not None:
            slot.delay = max(slot.delay, grown.seconds)

    def process_response(self, request: Request, response: Response) -> Response:
        """Learn from an answer."""
        slot = self._slot(request)
        if slot is None:
            return response
        if response.status in _TROUBLED:
            self._back_off(request, slot)
        else:
            floor = self._floor(request)
            latency = _latency(request)
            if slot.delay != floor or latency * _LATENCY_FACTOR > floor > 0:
                self._recover(request, slot, latency if self._own_delay else 0.0)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Learn from a failure, if it says something about the host and not about one answer."""
        slot = self._slot(request)
        if slot is not None and isinstance(exception, _TROUBLES):
            self._back_off(request, slot)

    def _slot(self, request: Request) -> Slot | None:
        key = request.meta.get("download_slot")
        return None if key is None else self._crawler.engine.downloader.slots.get(key)

    def _floor(self, request: Request) -> float:
        settings = self._crawler.engine.downloader.per_slot_settings.get(request.meta["download_slot"])
        asked: float = self._own_delay if settings is None else settings.get("delay", 0.0)
        return max(self._own_delay, asked)

    def _back_off(self, request: Request, slot: Slot) -> None:
        floor = self._floor(request)
        doubled = 2 * max(slot.delay, floor, _FIRST_DELAY_SECONDS)
        slot.delay = max(floor, min(doubled, self._maximum))
        self._note(request, slot.delay, floor, "errors")
        drive = self._drive()
        if drive is not None:
            drive.slows(request.meta["download_slot"], slot.delay, "errors")

    def _recover(self, request: Request, slot: Slot, latency: float) -> None:
        floor = self._floor(request)
        wanted = max(floor, min(_LATENCY_FACTOR * latency, self._maximum))
        delay = max(wanted, (slot.delay + wanted) / 2)
        slot.delay = wanted if delay - wanted < _NEAR_SECONDS else delay
        self._note(request, slot.delay, floor, "errors" if slot.delay > wanted else "slow answers")

    def _note(self, request: Request, delay: float, floor: float, why: str) -> None:
        """Keep what a host's delay has grown to, for new slots and for when the run goes on."""
        host: str = request.meta["download_slot"]
        before = self._grown.pop(host, None)
        if delay > floor:
            self._grown[host] = Grown(delay, why)
            if len(self._grown) > _REMEMBERED_HOSTS:
                del self._grown[next(iter(self._grown))]
        drive = self._drive()
        now = self._grown.get(host)
        if drive is not None and before != now:
            drive.keep_delay(host, None if now is None else now.seconds)

    def _drive(self) -> Drive | None:
        """Give the crawl that a spider of ours brings."""
        drive: Drive | None = getattr(self._crawler.spider, "drive", None)
        return drive


def _latency(request: Request) -> float:
    meta = request.meta
    return meta.get(ANSWER_SECONDS, meta.get("download_latency")) or 0.0
