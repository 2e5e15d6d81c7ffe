"""Which pages of a database file have changed since the last look: pure functions on bytes.

A log grows by some pages at a time, and an index is touched here and there. So what is sent to the store
after the first time are the pages that differ. Putting them over the older image gives back the newer one,
byte for byte.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

PAGE_BYTES: Final = 4096

_MAGIC: Final = b"coati-pages-1\n"
_HEAD: Final = struct.Struct("<QI")
_NUMBER: Final = struct.Struct("<I")
_MAX_BYTES: Final = 1 << 40


def digests_of(pages: Iterable[bytes]) -> list[bytes]:
    """Return the digest of each page."""
    return [hashlib.blake2b(page, digest_size=16).digest() for page in pages]


def split_pages(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut a file that comes in chunks into pages; the last may be shorter."""
    rest = b""
    for chunk in chunks:
        rest += chunk
        whole = len(rest) - len(rest) % PAGE_BYTES
        for at in range(0, whole, PAGE_BYTES):
            yield rest[at : at + PAGE_BYTES]
        rest = rest[whole:]
    if rest:
        yield rest


def changed_pages(before: Sequence[bytes], digests: Sequence[bytes]) -> list[int]:
    """Return the numbers of the pages that differ, given the digests of all pages before and now."""
    return [
        number for number, digest in enumerate(digests) if number >= len(before) or before[number] != digest
    ]


def pack_pages(pages: Iterable[bytes], numbers: Collection[int]) -> bytes:
    """Return those of a file's pages that have the given numbers, packed.

    >>> len(apply(b"", pack_pages([b"a" * PAGE_BYTES, b"b"], {0, 1})))
    4097
    """
    packer = zlib.compressobj(level=1)
    body: list[bytes] = []
    size = 0
    for number, page in enumerate(pages):
        size += len(page)
        if number in numbers:
            body.append(packer.compress(_NUMBER.pack(number) + page.ljust(PAGE_BYTES, b"\0")))
    body.append(packer.flush())
    return b"".join([_MAGIC, _HEAD.pack(size, len(numbers)), *body])


def apply(image: bytes | bytearray, packed: bytes) -> bytearray:
    """Put packed pages over an image; raises `ValueError` where they are damaged."""
    head_end = len(_MAGIC) + _HEAD.size
    if not packed.startswith(_MAGIC) or len(packed) < head_end:
        raise ValueError("these are not packed pages")
    size, changed = _HEAD.unpack(packed[len(_MAGIC) : head_end])
    record = _NUMBER.size + PAGE_BYTES
    if size > _MAX_BYTES or changed > size // PAGE_BYTES + 1:
        raise ValueError("packed pages promise more than there can be")
    unpacker = zlib.decompressobj()
    try:
        body = unpacker.decompress(packed[head_end:], changed * record + 1)
    except zlib.error as error:
        raise ValueError(f"packed pages are damaged: {error}") from None
    if len(body) != changed * record or not unpacker.eof:
        raise ValueError("packed pages are not whole")
    whole = bytearray(image)
    room = -(-size // PAGE_BYTES) * PAGE_BYTES
    whole.extend(bytes(max(0, room - len(whole))))
    for at in range(0, len(body), record):
        (number,) = _NUMBER.unpack_from(body, at)
        if number * PAGE_BYTES >= size:
            raise ValueError("packed pages hold one that is beyond the end")
        whole[number * PAGE_BYTES : (number + 1) * PAGE_BYTES] = body[at + _NUMBER.size : at + record]
    del whole[size:]
    return whole
