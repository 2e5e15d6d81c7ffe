"""CDXJ: one line per capture with its place in a WARC file, sorted, as replay tools look URLs up.

A line is the URL with its host reversed (SURT), the time, and a JSON object::

    org,example)/data.csv 20260131120000 {"url": "http://example.org/data.csv", "mime": "text/csv", ...}

What has no answer (a failed fetch) has no line: nothing could be shown for it.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from coati.archive.exports.new_file import new_file
from coati.web.media import essence
from coati.web.urls import host_of, is_query, path_of, query_of

if TYPE_CHECKING:
    from pathlib import Path

    from coati.archive.archive import Archive, StoredCapture

_WWW = re.compile(r"www\d*\.")
_PORT = re.compile(r"https?://[^/?#]*?(:\d+)(?=[/?#]|\Z)")


def surt(url: str) -> str:
    """Return the key of a URL: the host reversed, all in lower case.

    >>> surt("https://www.Example.org/Data?b=2&a=1")
    'org,example)/data?a=1&b=2'
    """
    host = _WWW.sub("", host_of(url).lower(), count=1)
    port = _PORT.match(url)
    query = "&".join(sorted(query_of(url).lower().split("&")))
    reversed_host = host if host.startswith("[") else ",".join(reversed(host.split(".")))
    return f"{reversed_host}{port[1] if port else ''}){path_of(url).lower()}{'?' if query else ''}{query}"


def cdxj_lines(archive: Archive) -> list[str]:
    """Return the lines of all captures that can be shown, sorted."""
    return sorted(
        _line(held) for held in archive.held() if held.entry.status and not is_query(held.entry.url)
    )


def export_cdxj(archive: Archive, path: Path) -> int:
    """Write the index of an archive's WARC files in a new file; return the number of its lines."""
    with new_file(path) as partial:
        lines = cdxj_lines(archive)
        partial.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return len(lines)


def timestamp(seconds: float | None) -> str:
    """Write a time as web archives do, in fourteen digits; an unknown one is the epoch."""
    return datetime.fromtimestamp(seconds or 0.0, UTC).strftime("%Y%m%d%H%M%S")


def _line(held: StoredCapture) -> str:
    entry, place = held.entry, held.place
    fields = {
        "url": entry.url,
        "mime": "warc/revisit" if held.refers else essence(entry.media_type) or "unk",
        "status": str(entry.status),
        **({"digest": f"sha256:{held.body_digest}"} if held.body_digest else {}),
        "length": str(place.length),
        "offset": str(place.offset),
        "filename": place.volume,
    }
    return f"{surt(entry.url)} {timestamp(entry.fetched_at)} {json.dumps(fields)}"
