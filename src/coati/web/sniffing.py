r"""What a body is where its server does not say, as browsers find out (the MIME Sniffing Standard of WHATWG).

A declared type is believed, with two exceptions: none at all, or one that is not a media type or means
none, leaves it to the first bytes; and the four spellings of ``text/plain`` that servers send for whatever
they do not know are believed only of text. A type that means a download and names no format is that of any
binary file (`coati.web.downloads`). So a table without a type is ``text/plain``, a page is a page, and
a ``text/csv`` or ``application/octet-stream`` never becomes something else.

Of the standard's tables, sound without an ID3 tag is left out: it takes a decoder to recognise it, and we
collect no sound.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from coati.web.downloads import BINARY, download_type
from coati.web.media import essence

SNIFFED_BYTES: Final = 1445
"""How many bytes the standard looks at."""

_PLAIN: Final = "text/plain"

_MEDIA_TYPE = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+/[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_UNKNOWN = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})
# What old Apaches sent for every file that they did not know.
_DOUBTED = frozenset(
    {
        "text/plain",
        "text/plain; charset=ISO-8859-1",
        "text/plain; charset=iso-8859-1",
        "text/plain; charset=UTF-8",
    }
)
_BLANKS = b"\t\n\x0c\r "
_BINARY_BYTE = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")

_TAGS = (
    b"<!DOCTYPE HTML", b"<HTML", b"<HEAD", b"<SCRIPT", b"<IFRAME", b"<H1", b"<DIV", b"<FONT", b"<TABLE",
    b"<A", b"<STYLE", b"<TITLE", b"<B", b"<BODY", b"<BR", b"<P", b"<!--",
)  # fmt: skip
_HTML = re.compile(b"(?:" + b"|".join(map(re.escape, _TAGS)) + rb")[ >]", re.IGNORECASE)


class _Sign(NamedTuple):
    """Bytes at the beginning, and perhaps others at a later place, that show a media type."""

    begins: bytes
    media_type: str
    place: int = 0
    holds: bytes = b""

    def fits(self, beginning: bytes) -> bool:
        return beginning.startswith(self.begins) and beginning.startswith(self.holds, self.place)


_SIGNS = (
    _Sign(b"%PDF-", "application/pdf"),
    _Sign(b"%!PS-Adobe-", "application/postscript"),
    _Sign(b"\xfe\xff", _PLAIN),
    _Sign(b"\xff\xfe", _PLAIN),
    _Sign(b"\xef\xbb\xbf", _PLAIN),
    _Sign(b"\x00\x00\x01\x00", "image/x-icon"),
    _Sign(b"\x00\x00\x02\x00", "image/x-icon"),
    _Sign(b"BM", "image/bmp"),
    _Sign(b"GIF87a", "image/gif"),
    _Sign(b"GIF89a", "image/gif"),
    _Sign(b"RIFF", "image/webp", 8, b"WEBPVP"),
    _Sign(b"\x89PNG\r\n\x1a\n", "image/png"),
    _Sign(b"\xff\xd8\xff", "image/jpeg"),
    _Sign(b"FORM", "audio/aiff", 8, b"AIFF"),
    _Sign(b"ID3", "audio/mpeg"),
    _Sign(b"OggS\x00", "application/ogg"),
    _Sign(b"MThd\x00\x00\x00\x06", "audio/midi"),
    _Sign(b"RIFF", "video/avi", 8, b"AVI "),
    _Sign(b"RIFF", "audio/wave", 8, b"WAVE"),
    _Sign(b"\x1f\x8b\x08", "application/x-gzip"),
    _Sign(b"PK\x03\x04", "application/zip"),
    _Sign(b"Rar \x1a\x07\x00", "application/x-rar-compressed"),
    # The standard's own line is a slip of the pen: this is what such files begin with.
    _Sign(b"Rar!\x1a\x07", "application/x-rar-compressed"),
)


def sniffed_type(content_type: str, beginning: bytes, disposition: str = "") -> str:
    r"""Return the content type that counts, given the one that was declared and the first bytes of the body.

    ``disposition`` is the Content-Disposition, which shows a file that is declared as a page.

    >>> sniffed_type("", b"<!doctype html><p>"), sniffed_type("", b"a,b\n1,2\n")
    ('text/html', 'text/plain')
    >>> sniffed_type("text/csv; charset=utf-8", b"<html>")
    'text/csv; charset=utf-8'
    >>> sniffed_type("application/force-download", b"a,b\n1,2\n")
    'application/octet-stream'
    """
    content_type = download_type(content_type, disposition)
    declared = essence(content_type)
    beginning = beginning[:SNIFFED_BYTES]
    if not beginning:
        return content_type
    if declared in _UNKNOWN or not _MEDIA_TYPE.match(declared):
        return _unknown(beginning)
    if content_type in _DOUBTED:
        return content_type if is_text(beginning) else BINARY
    return content_type


def _unknown(beginning: bytes) -> str:
    """Guess the type of a body without one, in the order of the standard."""
    text = beginning.lstrip(_BLANKS)
    if _HTML.match(text):
        return "text/html"
    if text.startswith(b"<?xml"):
        return "text/xml"
    for sign in _SIGNS:
        if sign.fits(beginning):
            return sign.media_type
    if _is_mp4(beginning) or _is_webm(beginning):
        return "video/mp4" if beginning[4:8] == b"ftyp" else "video/webm"
    return _PLAIN if is_text(beginning) else BINARY


def is_text(beginning: bytes) -> bool:
    """Tell whether what begins like this may be text, by the bytes that no text holds."""
    beginning = beginning[:SNIFFED_BYTES]
    marked = beginning.startswith((b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf"))
    return marked or not _BINARY_BYTE.search(beginning)


def _is_mp4(beginning: bytes) -> bool:
    size = int.from_bytes(beginning[:4], "big")
    if len(beginning) < max(size, 12) or size % 4 or beginning[4:8] != b"ftyp":
        return False
    # The brand, and behind its version those that it is compatible with.
    return any(beginning.startswith(b"mp4", at) for at in (8, *range(16, size, 4)))


def _is_webm(beginning: bytes) -> bool:
    if not beginning.startswith(b"\x1a\x45\xdf\xa3"):
        return False
    at = beginning.find(b"\x42\x82", 4, 40)
    # A length of one to eight bytes, then the name.
    return at >= 0 and b"webm" in beginning[at + 3 : at + 14]
