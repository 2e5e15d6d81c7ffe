"""Which encoding a page is in: byte-order mark, then header, then ``<meta>``, as browsers decide it."""

from __future__ import annotations

import codecs
import re

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:\-]+)", re.IGNORECASE)
_META_CHARSET = re.compile(rb"<meta[^>]{0,512}?charset\s*=\s*[\"']?\s*([\w.:\-]+)", re.IGNORECASE)

# The standard looks for a declaration in the first 1,024 bytes only.
_PRESCAN_BYTES = 1024

# Labels that the WHATWG standard maps to a wider encoding, because that is what pages mean by them.
_WIDER = {
    "ascii": "cp1252", "us-ascii": "cp1252", "iso-8859-1": "cp1252", "iso8859-1": "cp1252",
    "latin1": "cp1252", "latin-1": "cp1252", "iso_8859-1": "cp1252", "iso-8859-9": "cp1254",
    "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "shift_jis": "cp932", "shift-jis": "cp932",
    "sjis": "cp932", "x-sjis": "cp932", "ks_c_5601-1987": "cp949", "euc-kr": "cp949", "windows-31j": "cp932",
    "big5": "big5hkscs", "tis-620": "cp874", "x-user-defined": "latin-1",
}  # fmt: skip


def decode_page(body: bytes, content_type: str = "") -> str:
    """Decode a page as a browser would; never fails, damaged octets become U+FFFD.

    >>> decode_page(b"caf\\xe9", "text/html; charset=latin1")
    'café'
    """
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(encoding, "replace")
    declared = _HEADER_CHARSET.search(content_type)
    if declared and (codec := _python_codec(declared.group(1))):
        return body.decode(codec, "replace")
    meta = _META_CHARSET.search(body[:_PRESCAN_BYTES])
    if meta and (codec := _python_codec(meta.group(1).decode("ascii", "replace"))):
        # A page that can be read far enough to find the declaration is not in UTF-16.
        return body.decode("utf-8" if codec.startswith("utf-16") else codec, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _python_codec(label: str) -> str | None:
    label = label.lower()
    try:
        info = codecs.lookup(_WIDER.get(label, label))
    except (LookupError, ValueError):
        return None
    # Python also lists codecs that are no text encodings (hex, zip, rot13): a hostile label may name one.
    return info.name if info._is_text_encoding else None  # noqa: SLF001
