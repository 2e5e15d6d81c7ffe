"""Which catalogue software a site runs, and where its API is: from the pages that a run stored."""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path
from typing import NamedTuple

from coati.runs.layout import Layout
from coati.shortcuts.recognition import recognise

_PAGES = """
SELECT pages.url, warc_offset, warc_length FROM pages JOIN requests ON requests.id = pages.request
WHERE requests.host IN (?, ?) AND warc_offset IS NOT NULL ORDER BY pages.request LIMIT 5
"""
_MAX_PAGE_BYTES = 8 << 20
_GZIP = 16 + zlib.MAX_WBITS


class CatalogueSoftware(NamedTuple):
    """The name of a software, and the best URL of its API; empty where there is none."""

    title: str = ""
    api: str = ""


def software_of(folder: Path, connection: sqlite3.Connection, site: str) -> CatalogueSoftware:
    """Look at the first pages of a site that the run in a folder fetched."""
    rows = connection.execute(_PAGES, (site, f"www.{site}")).fetchall()
    if not rows or not Layout(folder).warc.is_file():
        return CatalogueSoftware()
    with Layout(folder).warc.open("rb") as pages:
        for url, offset, length in rows:
            pages.seek(offset)
            headers, body = _answer(pages.read(length))
            for found in recognise(url, headers, body):
                return CatalogueSoftware(found.title, next(iter(found.addresses), ""))
    return CatalogueSoftware()


def _answer(member: bytes) -> tuple[list[tuple[str, str]], bytes]:
    """Read the HTTP answer out of a WARC record; nothing where it is damaged."""
    try:
        record = zlib.decompressobj(_GZIP).decompress(member, _MAX_PAGE_BYTES)
    except zlib.error:
        return [], b""
    _, _, answer = record.partition(b"\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").splitlines()[1:]
    pairs = (line.partition(":") for line in lines)
    return [(name.strip(), value.strip()) for name, _, value in pairs], body
