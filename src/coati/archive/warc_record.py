"""One record as one gzip member of a WARC file, there and back.

A member is a WARC/1.1 ``response`` record that holds the status line, the headers and the decoded
body, so that any WARC tool reads it. The headers that said how the body was encoded or how long it
was on the wire are kept under the prefix ``X-Crawl-``, as Common Crawl does it: they no longer
describe the bytes that follow. A fetch without an answer is a ``metadata`` record. A body that another
record of the same URL holds already is not written again: such a capture is a ``revisit`` record. Where it is
known what was requested, a ``request`` record comes before the response, in a member of its own.

What HTTP has no word for is in WARC header fields. They are written only where they say
something that the rest does not, so that a record of ours looks like anybody's:

    WARC-Truncated: length   the body was left out (the standard's word for it)
    Coati-Kind               the label that came with the data
    Coati-Size               size_bytes, where the body here has another length
    Coati-Media-Type         media_type, where the Content-Type header differs
    Coati-Location           location, where the Location header does not lead there
    Coati-Fetched: unknown   WARC-Date, which is mandatory, is only the time of writing
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import NamedTuple

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from coati.archive.gzip_members import packed
from coati.archive.record import Entry, Record
from coati.errors import UsageError
from coati.model import Kind
from coati.times import from_iso, to_exact_iso
from coati.web.urls import resolve

# No honest server sends so much; what is beyond it is left out of the record.
_MAX_HEADER_BYTES = 256 * 1024

# What is read of a member's headers: room for the above, and for a long URL and location.
_MAX_HEADER_BYTES_READ = 512 * 1024

# No set: the library's types cannot be hashed.
_OURS = (WarcRecordType.response, WarcRecordType.metadata, WarcRecordType.revisit)
_SAME_BODY = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

_HIGHEST_STATUS = 999
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_SERVED_PREFIX = "X-Crawl-"
_WIRE_HEADERS = frozenset({"content-encoding", "transfer-encoding", "content-length"})
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_URL = re.compile(r"(?:https?|search)://[!-~]+\Z")
_FAILED_BLOCK = b"fetch: no answer\r\n"


class Member(NamedTuple):
    """A record ready to be appended to a WARC file, and what the index keeps of it.

    ``request`` is the member to be written before it; empty where the request is not known.
    """

    data: bytes
    entry: Entry
    body_bytes: int | None
    body_digest: str
    request: bytes = b""


def write_member(record: Record, holder: Entry | None = None) -> Member:
    """Write a record as one gzip member; a failed fetch keeps neither headers nor body.

    ``holder`` is another capture of the URL, which holds the same body already.
    """
    entry = _storable(record.entry)
    body = record.body if entry.status else None
    headers = _http_headers(entry, record.headers, body)
    name, at = _new_name(), to_exact_iso(_written_at() if entry.fetched_at is None else entry.fetched_at)
    fields = [("WARC-Date", at), ("WARC-Record-ID", name), ("WARC-Target-URI", entry.url)]
    digest = ""
    if entry.status:
        fields.append(("Content-Type", "application/http; msgtype=response"))
        block = _http_head(entry.status, headers)
        if body is None:
            fields.append(("WARC-Truncated", "length"))
        else:
            digest = hashlib.sha256(body).hexdigest()
            fields.append(("WARC-Payload-Digest", "sha256:" + digest))
        if holder is not None:
            fields += [("WARC-Profile", _SAME_BODY), ("WARC-Refers-To-Target-URI", holder.url)]
            if holder.fetched_at is not None:
                fields.append(("WARC-Refers-To-Date", to_exact_iso(holder.fetched_at)))
    else:
        fields.append(("Content-Type", "application/warc-fields"))
        block = _FAILED_BLOCK
    fields += _extra_fields(entry, headers, body)
    data = _member(_type(entry, holder), fields, block, (holder is None and body) or b"")
    request = b"" if record.sent is None or not entry.status else _request(entry, record.sent, name, at)
    return Member(data, entry, None if body is None else len(body), digest, request)


def _request(entry: Entry, sent: tuple[tuple[str, str], ...], answer: str, at: str) -> bytes:
    """Write the request that an answer belongs to."""
    fields = [
        ("WARC-Date", at),
        ("WARC-Record-ID", _new_name()),
        ("WARC-Target-URI", entry.url),
        ("WARC-Concurrent-To", answer),
        ("Content-Type", "application/http; msgtype=request"),
    ]
    # A URL in normal form has a path and no fragment.
    _, _, authority, path = entry.url.split("/", 3)
    lines = [
        f"GET /{path} HTTP/1.1",
        f"Host: {authority}",
        *(f"{name}: {_clean(value)}" for name, value in sent if _HEADER_NAME.match(name)),
    ]
    block = ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")[:_MAX_HEADER_BYTES]
    return _member("request", fields, block)


def _type(entry: Entry, holder: Entry | None) -> str:
    if not entry.status:
        return "metadata"
    return "response" if holder is None else "revisit"


def _written_at() -> float:
    return time.time()  # noqa: TID251 - the format needs a date, and nothing is decided by it


def _new_name() -> str:
    """Make up the name of a record: a UUID of version 4, without the object, which takes longer."""
    digits = os.urandom(16).hex()
    groups = digits[:8], digits[8:12], "4" + digits[13:16], "a" + digits[17:20], digits[20:]
    return f"<urn:uuid:{'-'.join(groups)}>"


def write_warcinfo(fields: dict[str, str]) -> bytes:
    """Write the ``warcinfo`` member that opens a WARC file."""
    head = [
        ("WARC-Date", to_exact_iso(_written_at())),
        ("WARC-Record-ID", _new_name()),
        ("Content-Type", "application/warc-fields"),
    ]
    lines = [f"{name}: {_clean(value)}\r\n" for name, value in fields.items()]
    return _member("warcinfo", head, "".join(lines).encode())


def _member(kind: str, fields: Iterable[tuple[str, str]], block: bytes, body: bytes = b"") -> bytes:
    """Write a record and pack it; the library's own writer of records takes twice as long for small ones.

    ``body`` is the rest of the block: a large one is not copied.
    """
    lines = [
        "WARC/1.1",
        f"WARC-Type: {kind}",
        *(f"{name}: {value}" for name, value in fields),
        f"Content-Length: {len(block) + len(body)}",
    ]
    head = ("\r\n".join(lines) + "\r\n\r\n").encode()
    return packed(head, block, body, b"\r\n\r\n")


def read_body(member: bytes, body_bytes: int) -> bytes | None:
    """Return the body in a member; None where another capture holds it.

    Raises `ValueError` where it is not there whole.
    """
    warc = _parse(member)
    if warc.record_type == WarcRecordType.revisit:
        return None
    body = warc.reader.read(body_bytes)
    if len(body) != body_bytes:
        raise ValueError(f"its body has {len(body)} bytes instead of {body_bytes}")
    return body


class StoredRecord(NamedTuple):
    """A record as it is in a member; ``digest_claimed`` is the hash that it carries, if any.

    ``refers`` says that another capture of the URL holds its body, under that hash.
    """

    record: Record
    digest_claimed: str
    refers: bool = False


def read_member(member: bytes) -> StoredRecord | None:
    """Read a member back; None for one that holds no record of ours, such as ``warcinfo``.

    Raises `ValueError` where it cannot be read.
    """
    warc = _parse(member)
    if warc.record_type not in _OURS:
        return None
    fields = {name.lower(): value for name, value in warc.headers.items()}
    url = fields.get("warc-target-uri", "")
    if not _URL.match(url):
        raise ValueError(f"its target URI is {url[:200]!r}")
    if warc.record_type == WarcRecordType.metadata:
        return StoredRecord(Record(_entry(url, 0, (), fields, None)), "")
    if not warc.is_http_parsed or warc.http_headers.status_code is None:
        raise ValueError("it holds no HTTP response")
    status = warc.http_headers.status_code
    headers = tuple((_decoded(name), _decoded(value)) for name, value in warc.http_headers.items_bytes())
    length = warc.content_length
    octets = warc.reader.read(length)
    if len(octets) != length:
        raise ValueError(f"its body has {len(octets)} bytes instead of {length}")
    refers = warc.record_type == WarcRecordType.revisit
    body = None if refers or fields.get("warc-truncated") == "length" else octets
    served = tuple(_as_served(headers))
    algorithm, _, digest = fields.get("warc-payload-digest", "").partition(":")
    entry = _entry(url, status, headers, fields, body)
    return StoredRecord(Record(entry, served, body), digest if algorithm == "sha256" else "", refers)


def _parse(member: bytes) -> WarcRecord:
    try:
        for warc in ArchiveIterator(
            io.BytesIO(member), parse_http=True, max_header_len=_MAX_HEADER_BYTES_READ
        ):
            return warc
    except OSError as error:
        raise ValueError(str(error)) from error
    raise ValueError("it is not a WARC record")


def _storable(entry: Entry) -> Entry:
    """Check an entry, and clean what no header line and no index could hold."""
    if not _URL.match(entry.url):
        raise UsageError(f"an archive keeps URLs in normal form, not {entry.url!r}")
    if not 0 <= entry.status <= _HIGHEST_STATUS:
        raise UsageError(f"{entry.status} is not an HTTP status ({entry.url})")
    media_type, location = _encodable(_clean(entry.media_type)), _encodable(_clean(entry.location))
    # As precise as the date of a WARC record, so that the index says what the record says.
    at = None if entry.fetched_at is None else datetime.fromtimestamp(entry.fetched_at, UTC).timestamp()
    if (media_type, location, at) == (entry.media_type, entry.location, entry.fetched_at):
        return entry
    return replace(entry, media_type=media_type, location=location, fetched_at=at)


def _encodable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _http_headers(
    entry: Entry, served: tuple[tuple[str, str], ...], body: bytes | None
) -> list[tuple[str, str]]:
    """Return the headers as the record will hold them, those that the entry implies included."""
    headers = []
    size = 0
    for name, value in served:
        size += len(name) + len(value) + 4
        if size > _MAX_HEADER_BYTES:
            break
        if _HEADER_NAME.match(name):
            wire = name.lower() in _WIRE_HEADERS
            headers.append((_SERVED_PREFIX + name if wire else name, _clean(value)))
    present = {name.lower() for name, _ in headers}
    if entry.media_type and "content-type" not in present:
        headers.append(("Content-Type", entry.media_type))
    if entry.location and "location" not in present:
        headers.append(("Location", entry.location))
    headers.append(("Content-Length", str(entry.size_bytes if body is None else len(body))))
    return headers


def _as_served(headers: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    served = []
    for name, value in headers:
        original = name.removeprefix(_SERVED_PREFIX)
        if original is not name and original.lower() in _WIRE_HEADERS:
            served.append((original, value))
        elif name.lower() not in _WIRE_HEADERS:
            served.append((name, value))
    return served


def _http_head(status: int, headers: list[tuple[str, str]]) -> bytes:
    lines = [
        f"HTTP/1.1 {status} {_PHRASES.get(status, '')}",
        *(f"{name}: {value}" for name, value in headers),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


def _extra_fields(entry: Entry, headers: list[tuple[str, str]], body: bytes | None) -> list[tuple[str, str]]:
    """Say in WARC fields what a reader could not work out from the response."""
    implied = _implied(entry.url, headers, body)
    fields = []
    if entry.kind is not None:
        fields.append(("Coati-Kind", entry.kind.value))
    if str(entry.size_bytes) != implied.size:
        fields.append(("Coati-Size", str(entry.size_bytes)))
    if entry.media_type != implied.media_type:
        fields.append(("Coati-Media-Type", entry.media_type))
    if entry.location != implied.location:
        fields.append(("Coati-Location", entry.location))
    if entry.fetched_at is None:
        fields.append(("Coati-Fetched", "unknown"))
    return fields


def _entry(
    url: str,
    status: int,
    headers: tuple[tuple[str, str], ...],
    fields: dict[str, str],
    body: bytes | None,
) -> Entry:
    """Work out the entry from a response and the WARC fields beside it."""
    implied = _implied(url, headers, body)
    kind = fields.get("coati-kind")
    return Entry(
        url=url,
        status=status,
        media_type=fields.get("coati-media-type", implied.media_type),
        size_bytes=int(fields.get("coati-size", implied.size)),
        kind=None if kind is None else Kind(kind),
        location=fields.get("coati-location", implied.location),
        fetched_at=_timestamp(fields),
    )


class _Implied(NamedTuple):
    size: str
    media_type: str
    location: str


def _implied(url: str, headers: Iterable[tuple[str, str]], body: bytes | None) -> _Implied:
    """Tell what a response says without the WARC fields beside it."""
    by_name: dict[str, str] = {}
    for name, value in headers:
        by_name.setdefault(name.lower(), value)
    location = by_name.get("location", "")
    size = by_name.get("content-length", "0") if body is None else str(len(body))
    return _Implied(size, by_name.get("content-type", ""), (location and resolve(url, location)) or "")


def _timestamp(fields: dict[str, str]) -> float | None:
    date = fields.get("warc-date")
    if date is None or fields.get("coati-fetched") == "unknown":
        return None
    return from_iso(date)


def _clean(value: str) -> str:
    # A line break in a value would start a header of its own.
    return _CONTROL.sub(" ", value).strip()


def _decoded(octets: bytes) -> str:
    # Whatever octets a server sends come back the same from `_http_head`.
    return octets.decode("utf-8", "surrogateescape")
