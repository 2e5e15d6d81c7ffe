"""The indexes of web archives as search engines: which files of a site they have seen, and when.

A query names a site (``search://wayback/?site=https://www.example.org/``), and both answer with URLs that
were not HTML, with type, size and the time at which each was last seen. They learn which site the user
is interested in, so they are queried only on request (``--hints``).

Written from the README of the Wayback CDX server (github.com/internetarchive/wayback, wayback-cdx-server) and
from the index server of Common Crawl (index.commoncrawl.org, pywb's CDX server API).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final
from urllib.parse import quote

from coati.readers.hits import Hit, Hits
from coati.search.provider import HttpProvider, ProviderRequest
from coati.units import format_bytes
from coati.web.queries import Ability, Query
from coati.web.urls import normalise, site_of

# How many results come at a time, and how many pages in one run: ten thousand files of a site are plenty.
PAGE_HITS: Final = 1_000
_MAX_QUERIES = 12
# Both services want to be used gently.
_DELAY_SECONDS = 3.0
_DAY_CHARS = 8


class Wayback:
    """The Internet Archive's index; ``base_url`` is for another server of the same kind."""

    name = "wayback"
    abilities = frozenset({Ability.SITE})
    delay_seconds = _DELAY_SECONDS
    max_queries: int | None = _MAX_QUERIES

    def __init__(self, base_url: str = "https://web.archive.org") -> None:
        self._base = base_url

    def request(self, query: Query) -> ProviderRequest:
        """Return the request for files of a host and those below it, each once."""
        host = quote(_site(query), safe="")
        return ProviderRequest(
            f"{self._base}/cdx/search/cdx?url={host}&matchType=domain&output=json&collapse=urlkey"
            "&filter=statuscode:200&filter=!mimetype:text/html&filter=!mimetype:image/.*"
            "&filter=!mimetype:text/css&filter=!mimetype:.*javascript&lastSkipTimestamp=true"
            f"&limit={PAGE_HITS}&offset={(query.page - 1) * PAGE_HITS}"
        )

    def read(self, body: bytes, content_type: str) -> Hits:
        """Read a table whose first row names its columns."""
        rows = json.loads(body) if body.strip() else []
        if not isinstance(rows, list):
            raise ValueError(f"no table of captures ({content_type})")  # noqa: TRY004 - what providers raise
        names = [str(name) for name in rows[0]] if rows else []
        captures = [dict(zip(names, map(str, row), strict=False)) for row in rows[1 : PAGE_HITS + 1]]
        hits = tuple(self._hit(capture) for capture in captures)
        return Hits(hits, more=len(captures) >= PAGE_HITS)

    def _hit(self, capture: Mapping[str, str]) -> Hit:
        url = capture.get("original", "")
        moment = capture.get("endtimestamp") or capture.get("timestamp", "")
        return _hit(
            url,
            capture.get("mimetype", ""),
            capture.get("length", ""),
            moment,
            f"https://web.archive.org/web/{moment}/{url}",
        )


class CommonCrawl:
    """Common Crawl's index of its newest crawl; which one that is, it finds out once per session."""

    name = "commoncrawl"
    abilities = frozenset({Ability.SITE})
    delay_seconds = _DELAY_SECONDS
    max_queries: int | None = _MAX_QUERIES

    def __init__(self, base_url: str = "https://index.commoncrawl.org") -> None:
        self._base = base_url
        self._index = ""

    def preparation(self) -> ProviderRequest | None:
        """Return the request for the list of indexes, which changes monthly."""
        return None if self._index else ProviderRequest(f"{self._base}/collinfo.json")

    def prepare(self, body: bytes, content_type: str) -> None:
        """Take the newest index, which comes first."""
        found = json.loads(body)
        if not isinstance(found, list) or not found or not isinstance(found[0], dict):
            raise ValueError(f"no list of indexes ({content_type})")
        newest = str(found[0].get("cdx-api", ""))
        if not newest.startswith(("https://", "http://")):
            raise ValueError("no address of an index")
        self._index = newest

    def request(self, query: Query) -> ProviderRequest:
        """Return the request for files of a host and those below it."""
        host = quote(_site(query), safe="")
        return ProviderRequest(
            f"{self._index}?url=*.{host}/*&output=json&fl=url,timestamp,mime,length,filename,offset"
            "&filter=status:200&filter=!mime:html&filter=!mime:image/&pageSize=1"
            f"&page={query.page - 1}"
        )

    def read(self, body: bytes, content_type: str) -> Hits:
        """Read one capture per line."""
        hits = tuple(_captures(body))
        return Hits(hits, more=bool(hits))


def _captures(body: bytes) -> Iterator[Hit]:
    for line in body.splitlines()[:PAGE_HITS]:
        capture = json.loads(line)
        if "url" in capture:
            place = f"https://data.commoncrawl.org/{capture.get('filename', '')}"
            yield _hit(
                str(capture["url"]),
                str(capture.get("mime", "")),
                str(capture.get("length", "")),
                str(capture.get("timestamp", "")),
                place if capture.get("filename") else "",
            )


def _site(query: Query) -> str:
    return site_of(query.text).partition(":")[0]


def _hit(url: str, media_type: str, size: str, moment: str, archived: str) -> Hit:
    """Make a hit of a capture; the snippet says in words what is known of it."""
    day = f"{moment[:4]}-{moment[4:6]}-{moment[6:8]}" if len(moment) >= _DAY_CHARS else ""
    known = [media_type, format_bytes(int(size)) if size.isdigit() else "", f"last seen {day}" if day else ""]
    # Indexes keep the port that a site had in the nineties.
    plain = normalise(url) or url
    snippet = ", ".join(part for part in known if part)
    return Hit(plain, plain.rpartition("/")[2], snippet, day, archived)


HINTS: Final[Mapping[str, Callable[[], HttpProvider]]] = {"wayback": Wayback, "commoncrawl": CommonCrawl}
"""The indexes that ``--hints`` may name."""
