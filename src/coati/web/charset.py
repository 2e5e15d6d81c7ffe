"""Which encoding a page is in: byte-order mark, then header, then ``<meta>``, as browsers decide it."""

from __future__ import annotations

import codecs
import re
from itertools import islice
from typing import NamedTuple

_ISO_PART = re.compile(r"(?:cs)?iso[-_]?8859[-_]?(\d{1,2})(?:-?[ei]|:\d{4})?\Z")
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# Nothing is given back once it is taken, and a name is tried from its beginning alone.
_CHARSET = re.compile(r"(?<![\w\-])charset\s*+=\s*+[\"']?+\s*+([\w.:\-]+)", re.IGNORECASE)
_MENTION = re.compile(rb"charset\s*=")
_META = re.compile(rb"<meta[\s/]((?:[^>\"']|\"[^\"]*\"|'[^']*')*)")
_ATTRIBUTE = re.compile(
    rb"(?<![^\s/>=\"'])([^\s/>=\"']++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s>\"']++))"
)

# A browser looks for a declaration in the first 1,024 bytes, and starts over when it finds one later.
_PRESCAN_BYTES = 1 << 14
_MAX_MENTIONS = 16

# Python lists many codecs that no browser knows. Some of them are not text (hex, zip), some always fail
# (undefined, idna), and some turn ASCII into other characters (utf-7): a hostile label may name them.
_WEB_CODECS = frozenset(
    {
        *(
            "utf-8",
            "utf-16-le",
            "utf-16-be",
            "cp866",
            "cp874",
            "koi8-r",
            "koi8-u",
            "mac-roman",
            "mac-cyrillic",
        ),
        *("gb18030", "big5hkscs", "euc_jp", "iso2022_jp", "cp932", "cp949"),
        *(f"cp{number}" for number in range(1250, 1259)),
        *(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    }
)
# What the standard reads instead, because that is what pages mean.
_WIDER = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932", "euc_kr": "cp949",
    "utf-16": "utf-16-le", "utf-8-sig": "utf-8",
}  # fmt: skip
# Labels of the standard that Python does not know, or knows as something else.
_LABELS = {
    "unicode-1-1-utf-8": "utf-8", "unicode11utf8": "utf-8", "unicode20utf8": "utf-8",
    "x-unicode20utf8": "utf-8", "unicode": "utf-16-le", "csunicode": "utf-16-le", "ucs-2": "utf-16-le",
    "iso-10646-ucs-2": "utf-16-le", "unicodefeff": "utf-16-le", "unicodefffe": "utf-16-be",
    "ansi_x3.4-1968": "cp1252", "windows-874": "cp874", "dos-874": "cp874",
    **{f"x-cp{number}": f"cp{number}" for number in range(1250, 1259)},
    "koi": "koi8-r", "koi8": "koi8-r", "koi8-ru": "koi8-u", "mac": "mac-roman", "x-mac-roman": "mac-roman",
    "csmacintosh": "mac-roman", "x-mac-cyrillic": "mac-cyrillic", "x-mac-ukrainian": "mac-cyrillic",
    "logical": "iso8859-8", "visual": "iso8859-8", "sun_eu_greek": "iso8859-7", "l9": "iso8859-15",
    "csisolatin9": "iso8859-15", "x-gbk": "gb18030", "csgb2312": "gb18030", "gb_2312": "gb18030",
    "cn-big5": "big5hkscs", "x-x-big5": "big5hkscs", "x-euc-jp": "euc_jp", "cseucpkdfmtjapanese": "euc_jp",
    "x-sjis": "cp932", "windows-949": "cp949", "cseuckr": "cp949", "csksc56011987": "cp949",
    "ks_c_5601-1989": "cp949", "ksc_5601": "cp949", "iso-ir-149": "cp949", "windows-31j": "cp932",
    "gb_2312-80": "gb18030", "x-user-defined": "cp1252",
}  # fmt: skip


class DecodedPage(NamedTuple):
    """A page as text, and the Python codec that it was read with (queries of its links are written in it)."""

    text: str
    codec: str


def decode_page(body: bytes, content_type: str = "") -> DecodedPage:
    r"""Decode a page as a browser would; never fails, damaged octets become U+FFFD.

    >>> decode_page(b"caf\xe9", "text/html; charset=latin1")
    DecodedPage(text='café', codec='cp1252')
    """
    for bom, codec in _BOMS:
        if body.startswith(bom):
            return DecodedPage(body[len(bom) :].decode(codec, "replace"), codec)
    declared = _header_codec(content_type) or _meta_codec(body)
    if declared is not None:
        return DecodedPage(body.decode(declared, "replace"), declared)
    try:
        text, used = codecs.utf_8_decode(body, "strict", False)
    except UnicodeDecodeError:
        text, used = "", 0
    # A character that the end of the body cuts off does not make a page that was in UTF-8 another one.
    if used == len(body) or not text.isascii():
        return DecodedPage(text, "utf-8")
    return DecodedPage(body.decode("cp1252", "replace"), "cp1252")


def _header_codec(content_type: str) -> str | None:
    declared = _CHARSET.search(content_type)
    return _python_codec(declared[1]) if declared else None


def _meta_codec(body: bytes) -> str | None:
    # Nothing that matters here depends on case.
    beginning = body[:_PRESCAN_BYTES].lower()
    for mention in islice(_MENTION.finditer(beginning), _MAX_MENTIONS):
        start = beginning.rfind(b"<meta", 0, mention.start())
        tag = _META.match(beginning, start) if start >= 0 else None
        if tag is None or tag.end() < mention.end() or _in_comment(beginning, start):
            continue
        label = _declared_in(tag[1])
        codec = _python_codec(label) if label else None
        if codec is not None:
            # A page that can be read far enough to find the declaration is not in UTF-16.
            return "utf-8" if codec.startswith("utf-16") else codec
    return None


def _in_comment(text: bytes, place: int) -> bool:
    opened = text.rfind(b"<!--", 0, place)
    return opened >= 0 and text.find(b"-->", opened, place) < 0


def _declared_in(attributes: bytes) -> str | None:
    """Return the label that a meta element declares; None if it says something else."""
    found: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(attributes):
        found.setdefault(name.decode("latin-1"), b"".join(values).decode("latin-1"))
    if "charset" in found:
        return found["charset"].strip()
    if found.get("http-equiv", "").strip() == "content-type":
        declared = _CHARSET.search(found.get("content", ""))
        return declared[1] if declared else None
    return None


def _python_codec(label: str) -> str | None:
    label = label.lower()
    part = _ISO_PART.match(label)
    try:
        name = codecs.lookup(f"iso8859-{part[1]}" if part else _LABELS.get(label, label)).name
    except (LookupError, ValueError):
        return None
    name = _WIDER.get(name, name)
    return name if name in _WEB_CODECS else None
