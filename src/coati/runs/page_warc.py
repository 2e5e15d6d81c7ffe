"""The pages of a run as one WARC file: each response a gzip member of its own, appended and never changed.

The database says where each record stands, and is written after the record. So a process that dies between
the two leaves a tail that nobody knows; it is cut off when the run is opened again. After a power cut it may
be the other way round, since the two files reach the disk at different times: then the last records are
checked, and those that did not make it are struck from the database.
"""

from __future__ import annotations

import os
import re
import uuid
import zlib
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# Twice as fast as the usual 6 for a sixth more bytes: compressing is the dearest part of keeping a page.
_COMPRESSION_LEVEL = 1
_GZIP = 31  # zlib's name for the gzip format with the largest window

_MAX_HEADER_BYTES = 64 * 1024
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
# These describe the bytes on the wire. The body is kept as it was after decoding, so they would be wrong.
_WIRE_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_ORIGINAL = "X-Archive-Orig-"
_PHRASES = {status.value: status.phrase for status in HTTPStatus}

Headers = tuple[tuple[str, str], ...]


class Place(NamedTuple):
    """Where a record stands in the file."""

    offset: int
    length: int


class PageWarc:
    """Appends records. A file that is new or empty begins with a ``warcinfo`` record."""

    def __init__(self, path: Path, software: str) -> None:
        path.parent.mkdir(exist_ok=True)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        self._end = os.fstat(self._descriptor).st_size
        self._synced = 0
        self._software = software

    @property
    def end(self) -> int:
        """How many bytes the file has."""
        return self._end

    def cut(self, end: int) -> None:
        """Drop what stands after ``end``."""
        if end < self._end:
            os.ftruncate(self._descriptor, end)
            self._end = end

    def holds(self, place: Place) -> bool:
        """Tell whether a whole record stands at a place."""
        try:
            member = os.pread(self._descriptor, place.length, place.offset)
            reader = zlib.decompressobj(_GZIP)
            reader.decompress(member)
        except zlib.error:
            return False
        return reader.eof and len(member) == place.length and not reader.unused_data

    def append(self, url: str, status: int, headers: Headers, body: bytes, at: float) -> Place:
        """Write one response; if the disk is full, the file stays as it was."""
        if self._end == 0:
            self._write(_member(_warcinfo(self._software, at)))
        return self._write(_member(_response(url, status, headers, body, at)))

    def sync(self) -> None:
        """Wait until everything is on the disk."""
        if self._synced != self._end:
            os.fsync(self._descriptor)
            self._synced = self._end

    def close(self) -> None:
        os.close(self._descriptor)

    def _write(self, member: bytes) -> Place:
        place = Place(self._end, len(member))
        at = 0
        try:
            while at < len(member):
                at += os.pwrite(self._descriptor, member[at:] if at else member, self._end + at)
        except OSError:
            os.ftruncate(self._descriptor, self._end)
            raise
        self._end += len(member)
        return place


def _member(record: Iterable[bytes]) -> bytes:
    packer = zlib.compressobj(_COMPRESSION_LEVEL, zlib.DEFLATED, _GZIP)
    return b"".join([*map(packer.compress, record), packer.flush()])


def _response(url: str, status: int, headers: Headers, body: bytes, at: float) -> tuple[bytes, ...]:
    lines = [f"HTTP/1.1 {status} {_PHRASES.get(status, '')}".rstrip(), *_header_lines(headers)]
    lines.append(f"Content-Length: {len(body)}")
    http = ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")
    fields = {"WARC-Target-URI": url, "Content-Type": "application/http; msgtype=response"}
    return (_warc_head("response", fields, len(http) + len(body), at), http, body, b"\r\n\r\n")


def _warcinfo(software: str, at: float) -> tuple[bytes, ...]:
    block = f"software: {software}\r\nformat: WARC File Format 1.1\r\n".encode()
    fields = {"Content-Type": "application/warc-fields"}
    return (_warc_head("warcinfo", fields, len(block), at), block, b"\r\n\r\n")


def _warc_head(kind: str, fields: dict[str, str], length: int, at: float) -> bytes:
    date = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    lines = [
        "WARC/1.1",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <urn:uuid:{uuid.uuid4()}>",
        f"WARC-Date: {date}",
        *(f"{name}: {_CONTROL.sub(' ', value)}" for name, value in fields.items()),
        f"Content-Length: {length}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")


def _header_lines(headers: Headers) -> list[str]:
    lines = []
    size = 0
    for name, value in headers:
        size += len(name) + len(value)
        if size > _MAX_HEADER_BYTES:
            break
        if _HEADER_NAME.match(name):
            prefix = _ORIGINAL if name.lower() in _WIRE_HEADERS else ""
            # A line break in a value would start a header of its own.
            lines.append(f"{prefix}{name}: {_CONTROL.sub(' ', value).strip()}")
    return lines
