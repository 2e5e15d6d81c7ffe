"""Undoing what servers do to a body on its way: chunks, gzip, deflate, Brotli, Zstandard.

Archives of other tools hold bodies as they came over the wire, or undone with the headers left as
they were. So a body that does not unpack from its first byte is taken as undone already.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable
from typing import NamedTuple, Protocol

from fastwarc.stream_io import BrotliReader, ZstdReader

_CHUNK_BYTES = 64 * 1024
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,12})[ \t]*(?:;[^\r\n]{0,1024})?\r?\n")
# How many codings may lie on top of each other; honest servers use one.
_MAX_CODINGS = 4


class Decoded(NamedTuple):
    """A body without its codings; ``whole`` is False where it ended early or was cut at the limit."""

    body: bytes
    whole: bool


def decode_body(body: bytes, *, transfer_coding: str, content_coding: str, max_bytes: int) -> Decoded:
    r"""Undo the codings that the two headers name; never fails.

    >>> body = b"3\r\nabc\r\n0\r\n\r\n"
    >>> decode_body(body, transfer_coding="chunked", content_coding="", max_bytes=100)
    Decoded(body=b'abc', whole=True)
    """
    decoded = Decoded(body, whole=True)
    codings = _names(content_coding)[:_MAX_CODINGS] + _names(transfer_coding)[:_MAX_CODINGS]
    for coding in reversed(codings):
        step = _decode(decoded.body, coding, max_bytes)
        decoded = Decoded(step.body, decoded.whole and step.whole)
    return decoded


def _names(header: str) -> list[str]:
    return [name for part in header.split(",") if (name := part.strip().lower())]


def _decode(body: bytes, coding: str, max_bytes: int) -> Decoded:
    if body and coding == "chunked":
        return _dechunk(body)
    if body and coding in _WRAPPINGS:
        for window_bits in _WRAPPINGS[coding]:
            if decoded := _inflate(body, window_bits, max_bytes):
                return decoded
    if body and coding in _READERS:
        return _unpack(_READERS[coding](io.BytesIO(body)), body, max_bytes)
    return Decoded(body, whole=True)


class _Reader(Protocol):
    def read(self, size: int = ..., /) -> bytes: ...


_READERS: dict[str, Callable[[io.BytesIO], _Reader]] = {"br": BrotliReader, "zstd": ZstdReader}

# The standard means zlib's wrapping by "deflate"; many servers send the bare stream.
_GZIP = (16 + zlib.MAX_WBITS,)
_WRAPPINGS = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": (zlib.MAX_WBITS, -zlib.MAX_WBITS)}


def _unpack(reader: _Reader, packed: bytes, max_bytes: int) -> Decoded:
    parts: list[bytes] = []
    size = 0
    try:
        while size <= max_bytes and (part := reader.read(_CHUNK_BYTES)):
            parts.append(part)
            size += len(part)
    except OSError:
        if not parts:
            return Decoded(packed, whole=True)
        return Decoded(b"".join(parts), whole=False)
    return Decoded(b"".join(parts)[:max_bytes], whole=size <= max_bytes)


def _inflate(packed: bytes, window_bits: int, max_bytes: int) -> Decoded | None:
    """Unpack a stream of zlib's; None where it is none from its first byte on."""
    unpacker = zlib.decompressobj(window_bits)
    parts: list[bytes] = []
    size = 0
    pending = packed
    try:
        while pending and not unpacker.eof and size <= max_bytes:
            parts.append(unpacker.decompress(pending, _CHUNK_BYTES))
            size += len(parts[-1])
            pending = unpacker.unconsumed_tail
    except zlib.error:
        if not any(parts):
            return None
    whole = unpacker.eof and size <= max_bytes
    return Decoded(b"".join(parts)[:max_bytes], whole)


def _dechunk(body: bytes) -> Decoded:
    """Join the chunks; a body that does not begin with a chunk was joined already."""
    parts: list[bytes] = []
    position = 0
    while head := _CHUNK_SIZE.match(body, position):
        size = int(head[1], 16)
        if size == 0:
            return Decoded(b"".join(parts), whole=True)
        parts.append(body[head.end() : head.end() + size])
        position = head.end() + size
        if body.startswith(b"\r\n", position):
            position += 2
        elif body.startswith(b"\n", position):
            position += 1
        elif position < len(body):
            # What looked like the size of a chunk was text: "200\n" may begin a page.
            return Decoded(body, whole=True)
    return Decoded(b"".join(parts), whole=False) if parts else Decoded(body, whole=True)
