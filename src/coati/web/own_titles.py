"""The title that a document states about itself, read from a bounded part of it.

PDF keeps it in its information dictionary or as XMP, Office Open XML in ``docProps/core.xml``, OpenDocument
in ``meta.xml``. What is damaged, encrypted or hidden deeper has none here: nothing raises, and nothing is
read beyond a few hundred kilobytes, however large a file is or claims to be.
"""

from __future__ import annotations

import codecs
import os
import re
import zipfile
import zlib
from html import unescape
from typing import BinaryIO

MAX_TITLE_CHARS = 300

# What is read of a PDF at its beginning, and again at its end.
_PDF_BYTES = 256 * 1024
# A ZIP file's directory is at its end; larger ones are not documents.
_MAX_DIRECTORY_BYTES = 1024 * 1024
_MAX_METADATA_BYTES = 64 * 1024
_ZIP_END = b"PK\x05\x06"
_ZIP_END_BYTES = 22
_ZIP64_MARK = b"PK\x06\x07"
_ZIP_METADATA = ("docProps/core.xml", "meta.xml")

_DC_TITLE = re.compile(rb"<dc:title\b[^>]{0,200}>(.{0,4000}?)</dc:title>", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_INFO = re.compile(rb"/Info\s{1,9}(\d{1,10})\s{1,9}(\d{1,5})\s{1,9}R")
_TITLE = re.compile(
    rb"/Title\s{0,9}(?:\(((?:[^()\\]|\\.|\([^()\\]{0,500}\)){0,4000})\)|<([0-9A-Fa-f\s]{0,8000})>)", re.DOTALL
)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r\n|.)", re.DOTALL)
_ESCAPED = {b"n": b" ", b"r": b" ", b"t": b" ", b"b": b"", b"f": b"", b"\n": b"", b"\r": b"", b"\r\n": b""}
# Programs write these in front of the name of the file that was printed.
_MADE_FROM = re.compile(r"^Microsoft (?:Office )?(?:Word|Excel|PowerPoint) - ", re.IGNORECASE)


def own_title(file: BinaryIO) -> str:
    """Return the title of a document; empty where it has none that is found cheaply."""
    try:
        head = file.read(_PDF_BYTES)
        if b"%PDF-" in head[:1024]:
            file.seek(max(len(head), file.seek(0, os.SEEK_END) - _PDF_BYTES))
            title = _pdf_title(head + b"\n" + file.read(_PDF_BYTES))
        elif head.startswith(b"PK\x03\x04"):
            title = _zip_title(file)
        else:
            return ""
    except (OSError, ValueError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error):
        return ""
    title = "".join(char if char.isprintable() else " " for char in title)
    return _MADE_FROM.sub("", " ".join(title.split()))[:MAX_TITLE_CHARS]


def _pdf_title(data: bytes) -> str:
    """Look into the information dictionary, then for XMP; other titles are those of bookmarks."""
    infos = _INFO.findall(data)
    if infos and b"/Encrypt" not in data:
        # The last one counts: a file that was changed has the newer one at its end.
        name = b"%s %s obj" % infos[-1]
        start = max(data.rfind(b"\n" + name), data.rfind(b"\r" + name))
        end = data.find(b"endobj", start)
        found = _TITLE.search(data, start, end) if 0 <= start < end else None
        if found and (title := _pdf_text(found)):
            return title
    return _dublin_core(data)


def _pdf_text(found: re.Match[bytes]) -> str:
    if found[2] is not None:
        digits = b"".join(found[2].split())
        octets = bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode())
    else:
        octets = _ESCAPE.sub(_unescaped, found[1])
    if octets.startswith(codecs.BOM_UTF16_BE):
        return octets[2:].decode("utf-16-be", "replace").strip("\0 ")
    if octets.startswith(codecs.BOM_UTF8):
        return octets[3:].decode("utf-8", "replace")
    try:
        # Programs forget the mark; hardly any text in another coding is UTF-8 by accident.
        return octets.decode().strip("\0 ")
    except UnicodeDecodeError:
        return octets.decode("cp1252", "replace").strip("\0 ")


def _unescaped(found: re.Match[bytes]) -> bytes:
    what = found[1]
    if what.isdigit():
        return bytes([int(what, 8) & 0xFF])
    return _ESCAPED.get(what, what)


def _zip_title(file: BinaryIO) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - (1 << 16)))
    tail = file.read(1 << 16)
    end = tail.rfind(_ZIP_END)
    if end < 0 or len(tail) - end < _ZIP_END_BYTES or _ZIP64_MARK in tail:
        return ""
    if int.from_bytes(tail[end + 12 : end + 16], "little") > _MAX_DIRECTORY_BYTES:
        return ""
    with zipfile.ZipFile(file) as packed:
        names = set(packed.namelist())
        for name in _ZIP_METADATA:
            if name in names:
                with packed.open(name) as metadata:
                    return _dublin_core(metadata.read(_MAX_METADATA_BYTES))
    return ""


def _dublin_core(data: bytes) -> str:
    """Find the first title in Dublin Core; without an XML parser nothing in it can be expanded."""
    found = _DC_TITLE.match(data, max(0, data.find(b"<dc:title")))
    return unescape(_TAG.sub(" ", found[1].decode("utf-8", "replace"))) if found else ""
