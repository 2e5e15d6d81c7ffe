"""The captures in one WARC file, whatever the condition of the file.

A damaged gzip member is skipped by looking for the next signature, damage in a file that is not
compressed by looking for the next version line. A capture that is not whole is damage too: half a
page would be taken for the page.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from coati.archive.gzip_members import SIGNATURE, find, member_length
from coati.archive.sources.digests import block_can_be_checked
from coati.archive.sources.source import MAX_BODY_BYTES, DamagedPart, Report

# A file may hold both: gzip members, and records that are not compressed.
_RECORD_START = re.compile(rb"\x1f\x8b\x08|WARC/1\.")
_LENGTH = re.compile(r"[0-9]{1,18}\Z")
_MAX_HEADER_BYTES = 1 << 20
_PIECE_BYTES = 1 << 20
_FALSE_STARTS = 200
_LEAP_BYTES = 1024
# No set: the library's types cannot be hashed.
_WANTED = (WarcRecordType.response, WarcRecordType.resource, WarcRecordType.revisit)


class WarcFile(NamedTuple):
    """A WARC file on disk or inside another file; ``open`` gives a seekable reader."""

    name: str
    size_bytes: int
    open: Callable[[], BinaryIO]


class Capture(NamedTuple):
    """A WARC record with its block, HTTP headers taken apart where it has them.

    ``fields`` are the WARC headers, their names in lower case. ``status`` is None where the block is
    no HTTP message. ``body`` is None where it is too large to be kept; ``body_bytes`` is its size.
    ``is_block`` says whether the block is the one that the record's digest names, None where it names none.
    """

    offset: int
    type: WarcRecordType
    fields: dict[str, str]
    status: int | None
    headers: tuple[tuple[str, str], ...]
    body: bytes | None
    body_bytes: int
    is_block: bool | None = None


def read_captures(file: WarcFile, report: Report) -> Iterator[Capture]:
    """Return responses, resources and revisits in the order of the file; report what is damaged."""
    with file.open() as data:
        start: int | None = 0
        damages = 0
        while start is not None:
            try:
                for capture in _read_from(data, start):
                    yield capture
                    damages = 0
            except _DamageError as damage:
                # The places between the damage and the next sound record are part of it.
                if not damages:
                    report(DamagedPart(f"{file.name}, byte {damage.offset}", str(damage), damage.url))
                damages += 1
                start = find(data, _RECORD_START, max(start + 1, damage.offset) + _leap(damages))
            else:
                return


def _leap(damages: int) -> int:
    """Say how much is skipped after this many false starts in a row.

    Each may be as long as headers may be. A file that is made of nothing else would be read over and over.
    """
    return max(0, damages - _FALSE_STARTS) * _LEAP_BYTES


class _DamageError(Exception):
    """What is at ``offset`` cannot be read; it never leaves this module."""

    def __init__(self, offset: int, reason: object, url: str = "") -> None:
        super().__init__(str(reason))
        self.offset = offset
        self.url = url


def _read_from(data: BinaryIO, start: int) -> Iterator[Capture]:
    """Read on until damage; a capture is held back until it is known to end well."""
    data.seek(start)
    held: Capture | None = None
    offset = start
    try:
        for record in ArchiveIterator(data, parse_http=False, max_header_len=_MAX_HEADER_BYTES):
            if held is not None:
                yield held
            held = None
            offset = record.stream_pos
            held = _capture(record)
    except OSError as error:
        end = _end_of_member(data, offset)
        if held is not None and end != offset:
            yield held
            raise _DamageError(offset + 1 if end is None else end, error) from error
        raise _DamageError(offset, error, _url(held)) from error
    # The library takes a file that ends in the middle of something for one that ends.
    end = _end_of_member(data, offset)
    if end == offset:
        raise _DamageError(offset, "it ends too early", _url(held))
    if held is not None:
        yield held
    if end is not None and end < data.seek(0, io.SEEK_END):
        raise _DamageError(end, "it ends too early")


def _end_of_member(data: BinaryIO, offset: int) -> int | None:
    """Return the end of the gzip member at ``offset``; ``offset`` if it is damaged, None if there is none."""
    data.seek(offset)
    if not SIGNATURE.match(data.read(3)):
        return None
    try:
        return offset + member_length(data, offset)
    except ValueError:
        return offset


def _capture(record: WarcRecord) -> Capture | None:
    fields = {name.lower(): value for name, value in record.headers.items()}
    url = fields.get("warc-target-uri", "")
    if not _LENGTH.match(fields.get("content-length", "")):
        # The library takes such a record for an empty one, and what follows for the next.
        raise _DamageError(record.stream_pos, "it does not say how long it is", url)
    if record.record_type not in _WANTED:
        return None
    is_block = None
    if block_can_be_checked(fields) and record.content_length <= MAX_BODY_BYTES:
        is_block = record.verify_block_digest(consume=False)
    status = None
    headers: tuple[tuple[str, str], ...] = ()
    if "application/http" in fields.get("content-type", ""):
        record.parse_http(quirks_mode=True, max_header_len=_MAX_HEADER_BYTES)
        if record.http_headers is None:
            # A block that it cannot be, though the record says so: of a type that holds none, mostly.
            raise _DamageError(record.stream_pos, "it holds no HTTP message", url)
        status = record.http_headers.status_code
        headers = tuple(
            (name.decode("latin-1"), value.decode("utf-8", "surrogateescape"))
            for name, value in record.http_headers.items_bytes()
        )
    length = record.content_length
    body = _content(record, length) if length <= MAX_BODY_BYTES else None
    if body is not None and len(body) != length:
        raise _DamageError(record.stream_pos, f"it ends {length - len(body)} bytes too early", url)
    return Capture(record.stream_pos, record.record_type, fields, status, headers, body, length, is_block)


def _content(record: WarcRecord, length: int) -> bytes:
    """Read the rest of a record; a large one in pieces, of which the library would hold a second copy."""
    if length <= _PIECE_BYTES:
        return record.reader.read(length)
    content = io.BytesIO()
    while piece := record.reader.read(min(_PIECE_BYTES, length - content.tell())):
        content.write(piece)
    return content.getvalue()


def _url(capture: Capture | None) -> str:
    return "" if capture is None else capture.fields.get("warc-target-uri", "")
