"""What can go wrong with a download, as a closed set of words, and the errors of our own components.

    Exception
    ├── scrapy.exceptions.IgnoreRequest
    │   └── HostEndedError       raised before a request is sent, by the pace of its host
    └── DownloadError            raised by our download handler, in place of a response
        ├── PrivateAddressError    the name leads to an address that must not be asked
        ├── TooLargeError          more bytes than we take, declared or not
        ├── BombError              a small body that decompresses to a very large one
        ├── TooSlowError           bytes that come too slowly
        ├── BadAnswerError         bytes that are no HTTP
        ├── BadEncodingError       bytes that cannot be decompressed
        ├── UnknownEncodingError   bytes that are packed as nobody here can undo
        ├── PackedPartError        packed bytes that break off
        ├── NoBudgetError          more bytes than may still be spent
        ├── OfflineError           not in the archive, and nothing else may be asked
        ├── SearchAnswerError      an answer that is none of the search engine's
        ├── QueryRefusedError      a query that is not asked at all
        └── CertificateError       a certificate that was to be verified and cannot be

None of these leaves the live driver: a strategy sees a `coati.model.Failure`, `Deferred` or `Refused`.

Some failures say nothing about the URL that was asked for: `PASSING_REASONS`, and those with a status of
`coati.archive.record.PASSING_STATUSES`. What is done about them is decided by `coati.live.outages`.
"""

from __future__ import annotations

import zlib
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from scrapy import exceptions as scrapy_errors
from scrapy.exceptions import IgnoreRequest

if TYPE_CHECKING:
    from coati.web.rules import Refusal


class DownloadError(Exception):
    """Why our download handler gave up; never worth another try."""


class PrivateAddressError(DownloadError):
    """The host leads to a private address, and the crawl began at a public one."""


class TooLargeError(DownloadError):
    """The body is larger than we take."""


class BombError(DownloadError):
    """The body grows out of all proportion when it is decompressed."""


class TooSlowError(DownloadError):
    """The body comes more slowly than we wait for."""


class BadAnswerError(DownloadError):
    """What came is not an answer that HTTP knows."""


class BadEncodingError(DownloadError):
    """The body is not packed in the way that its header says."""


class UnknownEncodingError(DownloadError):
    """The body is packed in a way that we do not know."""


class PackedPartError(DownloadError):
    """The body ends before what is packed in it does, though it is as long as was declared."""


class SearchAnswerError(DownloadError):
    """What came is not an answer of the search engine: a page for people, half an answer."""


class QueryRefusedError(DownloadError):
    """The search engine is not asked, for this reason."""

    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason)
        self.reason = reason


class CertificateError(DownloadError):
    """The server's certificate does not hold, or the two could not agree on encryption."""


class NoBudgetError(DownloadError):
    """The body is larger than the rest of the budget of bytes; it is requested again later."""


class OfflineError(DownloadError):
    """The archive does not hold it, and the crawl asks nobody else."""


class HostEndedError(IgnoreRequest):
    """Raised before the network: a host asks for a longer wait than we make, or answers no more."""


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
"""Reasons that mean that nobody spoke to us, or nobody who knew the way."""

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
    (TooSlowError, FailureReason.TOO_SLOW),
    (TooLargeError, FailureReason.TOO_LARGE),
    (BombError, FailureReason.BOMB),
    (BadAnswerError, FailureReason.BAD_ANSWER),
    (NoBudgetError, FailureReason.NO_BUDGET),
    (BadEncodingError, FailureReason.NOT_DECOMPRESSED),
    (UnknownEncodingError, FailureReason.UNKNOWN_ENCODING),
    (PackedPartError, FailureReason.PACKED_PART),
    (SearchAnswerError, FailureReason.BAD_SEARCH),
    (CertificateError, FailureReason.CERTIFICATE),
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
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return reason
    package = type(error).__module__.partition(".")[0]
    # Decoders have classes of their own, and so has the network of Scrapy's default handler.
    if package in {"brotli", "brotlicffi", "backports", "compression", "_zstd"}:
        return FailureReason.NOT_DECOMPRESSED
    return FailureReason.BROKEN_OFF if package == "twisted" else FailureReason.UNSUPPORTED
