"""Undo what servers do to a body in transit: chunks, gzip, deflate, Brotli, Zstandard.

Archives of other tools hold bodies as they came over the wire, or undone with the headers left as
they were. So a body that does not unpack from its first byte is taken as undone already.
"""

from __future__ import annotations

import io
import re
from typing import NamedTuple

from coati.web.content_codings import CodingError, Unpacking, can_undo, codings_of

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
    codings = codings_of(content_coding)[:_MAX_CODINGS] + codings_of(transfer_coding)[:_MAX_CODINGS]
    for coding in reversed(codings):
        step = _decode(decoded.body, coding, max_bytes)
        decoded = Decoded(step.body, decoded.whole and step.whole)
    return decoded


def _decode(body: bytes, coding: str, max_bytes: int) -> Decoded:
    if body and coding == "chunked":
        return _dechunk(body)
    return _unpack(body, coding, max_bytes) if body and can_undo((coding,)) else Decoded(body, whole=True)


def _unpack(packed: bytes, coding: str, max_bytes: int) -> Decoded:
    """Undo a coding; what does not unpack from its first byte on stays as it is."""
    unpacking = Unpacking((coding,))
    # What is written there is handed out without a copy: it may be hundreds of megabytes.
    unpacked = io.BytesIO()
    fits = True
    try:
        for part in unpacking.feed(packed):
            fits = unpacked.tell() + len(part) <= max_bytes
            unpacked.write(part[: max_bytes - unpacked.tell()])
            if not fits:
                break
    except CodingError:
        return Decoded(unpacked.getvalue(), whole=False) if unpacked.tell() else Decoded(packed, whole=True)
    return Decoded(unpacked.getvalue(), unpacking.whole and fits)


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
