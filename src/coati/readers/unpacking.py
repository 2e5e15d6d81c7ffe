"""From the bytes of a list to its text: unpacked if it is gzip, and decoded, both within bounds."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from coati.web.charset import decode_page
from coati.web.content_codings import CodingError, Unpacking

# What the sitemap protocol allows in one file, unpacked; a larger one is read this far.
MAX_LIST_BYTES: Final = 50 * 1024 * 1024

_GZIP = b"\x1f\x8b"
_DECLARED = re.compile(rb"\s{0,100}<\?xml[^>]{0,200}?encoding\s{0,10}=\s{0,10}[\"']([\w.:-]{1,40})")


class Unpacked(NamedTuple):
    """The text of a list; ``truncated`` says that it is only the beginning."""

    text: str
    truncated: bool


def unpack_text(body: bytes, content_type: str = "", max_bytes: int = MAX_LIST_BYTES) -> Unpacked:
    r"""Return the text of a list, or of its first bytes.

    >>> import gzip
    >>> unpack_text(gzip.compress(b"caf\xc3\xa9"), max_bytes=3)
    Unpacked(text='caf', truncated=True)
    """
    truncated = False
    if body.startswith(_GZIP):
        body, truncated = _gunzipped(body, max_bytes)
    if len(body) > max_bytes:
        body, truncated = body[:max_bytes], True
    return Unpacked(decode_page(body, _with_charset(content_type, body)).text, truncated)


def _with_charset(content_type: str, body: bytes) -> str:
    """Add what the text says of its own encoding, or else the UTF-8 that XML and the protocol assume."""
    if "charset" in content_type.lower():
        return content_type
    declared = _DECLARED.match(body)
    # A text that can be read far enough to find the declaration is not in UTF-16.
    label = "utf-8" if declared is None or declared[1][:6].lower() == b"utf-16" else declared[1].decode()
    return f"charset={label}"


def _gunzipped(body: bytes, max_bytes: int) -> tuple[bytes, bool]:
    """Undo gzip up to the bound: a bomb gives its first bytes and no more, damage what was before it."""
    made = bytearray()
    unpacking = Unpacking(("gzip",))
    try:
        for part in unpacking.feed(body):
            made += part
            if len(made) > max_bytes:
                break
    except CodingError:
        return bytes(made), True
    return bytes(made), not unpacking.whole
