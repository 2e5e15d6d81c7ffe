"""What can go wrong with a download, as a closed set of words, and the errors of our own components.

    Exception
    ├── scrapy.exceptions.IgnoreRequest
    │   └── HostEndedError     raised before a request is sent, by the pace of its host
    ├── PrivateAddressError    the name leads to an address that must not get requests
    ├── NotAskedError          not sent: it is not in the archive, or not a query of ours
    └── DownloadError          raised by our download handler in place of a response, with the reason

None of these leaves the live driver: a strategy sees a `coati.model.Failure`, `Deferred` or `Refused`.

Some failures say nothing about the URL that was requested: `PASSING_REASONS`, and those with a status of
`coati.archive.record.PASSING_STATUSES`. What is done about them is decided by `coati.live.outages`.
"""

from __future__ import annotations

import zlib
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from scrapy import exceptions as scrapy_errors
from scrapy.exceptions import IgnoreRequest

if TYPE_CHECKING:
    from coati.runs.skip_reasons import SkipReason
    from coati.web.rules import Refusal


class PrivateAddressError(Exception):
    """The host leads to a private address, and the crawl began at a public one."""


class NotAskedError(Exception):
    """Nothing is sent, for this reason."""

    def __init__(self, reason: Refusal | SkipReason) -> None:
        super().__init__(reason)
        self.reason = reason


class DownloadError(Exception):
    """Why our download handler gave up; never worth another try."""

    def __init__(self, reason: FailureReason, about: str = "") -> None:
        super().__init__(f"{reason}: {about}" if about else reason)
        self.reason = reason


class HostEndedError(IgnoreRequest):
    """Raised before the network: a host asks for a longer wait than we make, or no longer responds."""


class FailureReason(StrEnum):
    """Why no usable answer came; an error status is told as ``status 404`` instead."""

    NO_HOST = "host not found"
    NOT_CONNECTED = "connection refused"
    CERTIFICATE = "no secure connection"
    TIMEOUT = "no response in time"
    TOO_SLOW = "body too slow"
    BROKEN_OFF = "connection lost"
    BAD_ANSWER = "response is not valid HTTP"
    BAD_SEARCH = "no usable response from the search engine"
    SEARCH_MOVED = "the search engine redirects to another address"
    SHORT_BODY = "body shorter than declared"
    TOO_LARGE = "too large"
    BOMB = "decompressed body is too large"
    NOT_DECOMPRESSED = "body cannot be decompressed"
    UNKNOWN_ENCODING = "unknown compression"
    PACKED_PART = "compressed body is incomplete"
    PART = "unrequested partial response"
    NOT_READY = "the server is still preparing it"
    NO_CONTENT = "no content"
    NO_LOCATION = "redirect without a usable location"
    REDIRECT_LOOP = "redirect loop"
    TOO_MANY_REDIRECTS = "too many redirects"
    UNREQUESTED_304 = "status 304 without a conditional request"
    NO_BUDGET = "no budget for a retry"
    NO_RULES = "robots.txt could not be fetched"
    UNSUPPORTED = "not fetched"


SILENCE: Final = frozenset(
    {
        FailureReason.NO_HOST,
        FailureReason.NOT_CONNECTED,
        FailureReason.CERTIFICATE,
        FailureReason.TIMEOUT,
        FailureReason.BROKEN_OFF,
        FailureReason.NO_RULES,
    }
)
"""Reasons that mean that no response came, neither from the host nor from anything on the way."""

PASSING_REASONS: Final = (SILENCE - {FailureReason.CERTIFICATE}) | {
    FailureReason.SHORT_BODY,
    FailureReason.PACKED_PART,
    FailureReason.PART,
    FailureReason.NOT_READY,
    FailureReason.NO_BUDGET,
}
"""Reasons that pass. A certificate that does not hold does not; `NO_BUDGET` passes with a larger one."""


# In this order: the first class that fits says the reason.
_REASONS: Final[tuple[tuple[type[BaseException], FailureReason], ...]] = (
    (scrapy_errors.DownloadTimeoutError, FailureReason.TIMEOUT),
    (scrapy_errors.CannotResolveHostError, FailureReason.NO_HOST),
    (scrapy_errors.DownloadConnectionRefusedError, FailureReason.NOT_CONNECTED),
    (scrapy_errors.ResponseDataLossError, FailureReason.SHORT_BODY),
    (scrapy_errors.DownloadCancelledError, FailureReason.BROKEN_OFF),
    (scrapy_errors.DownloadFailedError, FailureReason.BROKEN_OFF),
    (zlib.error, FailureReason.NOT_DECOMPRESSED),
    (EOFError, FailureReason.NOT_DECOMPRESSED),
    (OSError, FailureReason.NOT_DECOMPRESSED),
)


def failure_reason(error: BaseException) -> FailureReason:
    """Return the reason for an error that came in place of a response."""
    if isinstance(error, DownloadError):
        return error.reason
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return reason
    package = type(error).__module__.partition(".")[0]
    # Decoders have classes of their own, and so has the network of Scrapy's default handler.
    if package in {"brotli", "brotlicffi", "backports", "compression", "_zstd"}:
        return FailureReason.NOT_DECOMPRESSED
    return FailureReason.BROKEN_OFF if package == "twisted" else FailureReason.UNSUPPORTED
