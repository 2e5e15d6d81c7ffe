"""The body of a response as its bytes arrive: unpacked piece by piece, fast enough, whole or in part."""

from __future__ import annotations

import asyncio
import re
import time
from http import HTTPStatus
from typing import TYPE_CHECKING

from coati.live.failures import DownloadError, FailureReason
from coati.web.content_codings import CodingError, GzipFileUnpacking, Unpacking, can_undo, codings_of
from coati.web.downloads import download_type
from coati.web.sniffing import is_text
from coati.web.urls import extension_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    import aiohttp
    from scrapy import Request

SUCCESS = range(200, 300)

_GZIP_TYPES = frozenset({"application/gzip", "application/x-gzip", "application/x-gtar-compressed"})
_GZIP_EXTENSIONS = frozenset({"gz", "tgz"})

# What a part says of itself that is all there is.
_WHOLE_RANGE = re.compile(r"bytes 0-(\d{1,18})/(\d{1,18})\Z")


class BodySpeed:
    """Gives up on a body that arrives too slowly, measured over each stretch of time."""

    def __init__(self, least: int, window: float) -> None:
        self._least, self._window = least, window
        self._checked_at, self._checked_bytes = time.monotonic(), 0

    def exclude_pause(self, seconds: float) -> None:
        """Leave a pause of our own out of the measurement."""
        self._checked_at += seconds

    def check(self, size_bytes: int) -> None:
        """Look at how much has come; raises `DownloadError`."""
        now = time.monotonic()
        if now - self._checked_at < self._window:
            return
        if size_bytes - self._checked_bytes < self._least * self._window:
            raise DownloadError(FailureReason.TOO_SLOW, f"fewer than {self._least} bytes per second")
        self._checked_at, self._checked_bytes = now, size_bytes


async def unpacked_pieces(
    answer: aiohttp.ClientResponse, taken: Callable[[int], Awaitable[None]]
) -> AsyncGenerator[bytes]:
    """Return the body piece by piece, without its codings; raises where it is not all there.

    ``taken`` is awaited with the size of each piece as it came.
    """
    for_the_way = _named(answer, "Transfer-Encoding")
    codings = _named(answer, "Content-Encoding") + for_the_way
    unknown = not can_undo(codings)
    packing = f"{answer.url}: packed as {', '.join(codings)[:100]}"
    is_file = codings == ("gzip",) and not for_the_way and _is_gzip_file(answer)
    unpacking = GzipFileUnpacking() if is_file else Unpacking(() if unknown else codings)
    if unknown and answer.status in SUCCESS and "html" not in type_of(answer):
        raise DownloadError(FailureReason.UNKNOWN_ENCODING, packing)
    async for packed in answer.content.iter_any():
        await taken(len(packed))
        if unknown and not is_text(packed):
            raise DownloadError(FailureReason.UNKNOWN_ENCODING, packing)
        try:
            for number, piece in enumerate(unpacking.feed(packed)):
                if number:
                    # A few bytes may unpack to very many.
                    await asyncio.sleep(0)
                yield piece
        except CodingError as error:
            raise DownloadError(FailureReason.NOT_DECOMPRESSED, f"{answer.url}: {error}") from error
    if isinstance(unpacking, GzipFileUnpacking) and (rest := unpacking.rest()):
        yield rest
    if not unpacking.whole:
        about = f"{answer.url}: the body ends before what is packed in it does"
        raise DownloadError(FailureReason.PACKED_PART, about)


def _named(answer: aiohttp.ClientResponse, header: str) -> tuple[str, ...]:
    """Return the codings that a header names; chunks are joined already."""
    if header not in answer.headers:
        return ()
    named = codings_of(",".join(answer.headers.getall(header)))
    return tuple(coding for coding in named if coding != "chunked")


def _is_gzip_file(answer: aiohttp.ClientResponse) -> bool:
    """Tell by its type or name whether the file itself is a gzip file."""
    return answer.content_type in _GZIP_TYPES or extension_of(str(answer.url)) in _GZIP_EXTENSIONS


def type_of(answer: aiohttp.ClientResponse) -> str:
    """Return the media type of an answer; of one that is sent to be saved, that of a file."""
    return download_type(answer.content_type, answer.headers.get("Content-Disposition", ""))


def is_part(request: Request, answer: aiohttp.ClientResponse) -> bool:
    """Tell whether an answer says that it is not all of what was requested."""
    if answer.status == HTTPStatus.ACCEPTED:
        return "html" not in type_of(answer)
    if answer.status != HTTPStatus.PARTIAL_CONTENT or "Range" in request.headers:
        return False
    sent = _WHOLE_RANGE.match(answer.headers.get("Content-Range", ""))
    return sent is None or int(sent[1]) + 1 != int(sent[2])
