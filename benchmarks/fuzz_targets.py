"""Every reader of outside bytes, as a function of bytes: what the fuzzer feeds.

A reader takes whatever comes. The few errors that one may raise are named beside it; any other is a defect.
Where a reader takes several things (a header and a body, a URL and a name), the first line of the bytes is
the one and the rest the other.
"""

from __future__ import annotations

import asyncio
import io
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from protego import Protego

from benchmarks import fuzz_words as words
from coati.archive.gzip_members import member_length
from coati.archive.sources.captures import address_of, to_record
from coati.archive.sources.content_coding import decode_body
from coati.archive.sources.file_types import media_type_of
from coati.archive.sources.source import unreported
from coati.archive.sources.wacz import read_wacz
from coati.archive.sources.warc_stream import WarcFile, read_captures
from coati.archive.warc_record import read_member
from coati.errors import CoatiError
from coati.live.connections import AnswerConnector
from coati.live.outcomes import forbids_following
from coati.live.pace import parse_retry_after
from coati.readers.formats import HEAD_BYTES, Format, format_of
from coati.readers.registry import PageReader
from coati.readers.robots import named_sitemaps
from coati.readers.unpacking import unpack_text
from coati.runs.file_names import file_name, folder_name
from coati.shortcuts.api_answer import ApiAnswer
from coati.shortcuts.registry import PROFILES
from coati.shortcuts.seen_page import SeenPage
from coati.web.charset import decode_page
from coati.web.content_codings import CodingError, Unpacking, codings_of
from coati.web.facts import EXTRACTORS, facts_of
from coati.web.media import PRESETS, essence
from coati.web.own_titles import own_title
from coati.web.rules import Rules
from coati.web.sniffing import sniffed_type
from coati.web.urls import normalise, resolve

_URL: Final = "http://example.org/folder/page"
_QUERY: Final = "search://engine/?q=data"
_API_URL: Final = "http://example.org/api/records?q=data&page=1&start=0&rows=100&offset=0&limit=100&size=100"
_LINKS_READ: Final = 200
_MAX_UNPACKED: Final = 1 << 20


class Target(NamedTuple):
    """A reader, the errors that it may raise, and what its inputs are made of."""

    read: Callable[[bytes], object]
    tokens: tuple[bytes, ...]
    may_raise: tuple[type[BaseException], ...] = ()


def _page(form: Format, content_type: str = "", url: str = _URL) -> Callable[[bytes], object]:
    reader = PageReader(Rules(_URL))

    def read(body: bytes) -> None:
        page = reader.read(form, body, url, content_type)
        for place in range(min(len(page.links.urls), _LINKS_READ)):
            page.links.link(place)
            page.links.nearby_text(place)
        _ = page.links.title

    return read


def _facts(body: bytes) -> None:
    facts_of(EXTRACTORS, body, "text/html")


def _api(body: bytes) -> None:
    """Let every profile read the answer of an API, and look at it as a page."""
    answer = ApiAnswer.of(_API_URL, body, "application/json", {"x-wp-totalpages": "3"})
    page = SeenPage.of(_URL, (), body)
    for profile in PROFILES:
        list(islice(profile.read(answer), _LINKS_READ))
        list(profile.recognise(page) or ())


def _rules(body: bytes) -> None:
    text = body.decode("utf-8", "replace")
    rules = Protego.parse(text)
    rules.can_fetch(_URL, "Coati")
    rules.crawl_delay("Coati")
    list(islice(named_sitemaps(text), _LINKS_READ))


def _answer(data: bytes) -> None:
    asyncio.run(_parse_answer(data))


async def _parse_answer(data: bytes) -> None:
    connector = AnswerConnector()
    protocol = connector._factory()  # noqa: SLF001 - what every connection is made of
    protocol.connection_made(_Wire())
    protocol.set_response_params(timer=None, read_until_eof=True)
    for at in range(0, len(data), 5_000):
        protocol.data_received(data[at : at + 5_000])
    protocol.connection_lost(None)
    error = protocol.exception()
    if error is not None and not isinstance(error, Exception):
        raise error
    await connector.close()


class _Wire(asyncio.Transport):
    """A connection on which nothing is sent."""

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        """Take note of nothing."""

    abort = pause_reading = resume_reading = close


def _headers(data: bytes) -> None:
    text = data.decode("latin-1")
    parse_retry_after(text, 1e9)
    forbids_following([text])
    essence(text)
    codings_of(text)
    PRESETS["data"].kind(text, _URL)
    resolve(_URL, text)


def _disposition(data: bytes) -> None:
    header, _, url = data.decode("latin-1").partition("\n")
    name = file_name(f"http://example.org/{url}", "text/csv", header)
    if "/" in name or name in {"", ".", ".."} or len(name.encode()) > 255:  # noqa: PLR2004 - of file systems
        raise ValueError(f"{name!r} is not a name of a file")
    folder_name(f"http://example.org/{url}")


def _charset(data: bytes) -> None:
    header, _, body = data.partition(b"\n")
    decode_page(body, header.decode("latin-1"))


def _mime(data: bytes) -> None:
    header, _, body = data.partition(b"\n")
    declared = header.decode("latin-1")
    found = sniffed_type(declared, body)
    format_of(_URL, found, body[:HEAD_BYTES], is_list=True, wanted=False)
    media_type_of("table", body)


def _urls(data: bytes) -> None:
    base, _, reference = data.decode("utf-8", "replace").partition("\n")
    url = normalise(base)
    if url is not None and normalise(url) != url:
        raise ValueError(f"{url!r} is not a normal form")
    resolve(_URL, reference)


def _warc(data: bytes) -> None:
    _captures(WarcFile("fuzzed", len(data), lambda: io.BytesIO(data)))
    read_member(data)


def _captures(file: WarcFile) -> None:
    for capture in read_captures(file, unreported):
        url = address_of(capture)
        if url is not None:
            to_record(capture, url)


def _wacz(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".wacz") as file:
        file.write(data)
        file.flush()
        for warc in read_wacz(Path(file.name)).files:
            _captures(warc)


def _zip(data: bytes) -> None:
    with closing(io.BytesIO(data)) as file:
        own_title(file)


def _gzip(data: bytes) -> None:
    unpack_text(data, max_bytes=_MAX_UNPACKED)
    for coding in ("gzip", "deflate", "br", "zstd"):
        decode_body(data, transfer_coding="chunked", content_coding=coding, max_bytes=_MAX_UNPACKED)
        unpacking, size = Unpacking((coding,)), 0
        try:
            for part in unpacking.feed(data):
                size += len(part)
                if size > _MAX_UNPACKED:
                    break
        except CodingError:
            pass
    with suppress(ValueError):
        member_length(io.BytesIO(data), 0)


TARGETS: Final[Mapping[str, Target]] = {
    "html": Target(_page(Format.HTML, "text/html"), words.HTML),
    "facts": Target(_facts, words.HTML),
    "sitemap": Target(_page(Format.SITEMAP), words.XML),
    "feed": Target(_page(Format.FEED), words.XML),
    "lines": Target(_page(Format.LINES), words.TEXT),
    "robots": Target(_page(Format.ROBOTS), words.TEXT),
    "hits": Target(_page(Format.HITS, url=_QUERY), words.HITS),
    "api": Target(_api, words.API),
    "rules": Target(_rules, words.TEXT),
    "answer": Target(_answer, words.ANSWER),
    "headers": Target(_headers, words.HEADER),
    "disposition": Target(_disposition, words.HEADER),
    "charset": Target(_charset, words.CHARSET),
    "mime": Target(_mime, (*words.HEADER, *words.BINARY)),
    "urls": Target(_urls, words.URLS),
    "warc": Target(_warc, words.BINARY, (ValueError,)),
    "wacz": Target(_wacz, words.BINARY, (CoatiError, ValueError)),
    "zip": Target(_zip, words.BINARY),
    "gzip": Target(_gzip, words.BINARY),
}
