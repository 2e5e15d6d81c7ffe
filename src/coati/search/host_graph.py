"""Backlinks between hosts from an extract of a web graph, such as Common Crawl publishes.

The extract is a text file, gzipped or not, with two host names on each line: the linking host and the linked
one. Common Crawl writes names backwards (``org.example.www``); both ways are read.
"""

from __future__ import annotations

import gzip
import zlib
from itertools import islice
from pathlib import Path

from coati.errors import ConfigError
from coati.readers.hits import Hit, Hits, bounded_hits
from coati.web.queries import Ability, Query
from coati.web.urls import site_of

_HITS_PER_PAGE = 50
# An extract is for the sites that one looks for; a whole graph does not fit.
_MOST_EDGES = 5_000_000
# Two names have at most 253 characters each; what has no ends of lines is not an extract.
_MAX_LINE_CHARS = 10_000


class HostGraph:
    """Answers from an extract; a hit is the start page of a host that links to the host of a URL."""

    name = "commoncrawl"
    abilities = frozenset({Ability.BACKLINKS})
    delay_seconds = 0.0

    def __init__(self, path: Path, max_queries: int | None = None) -> None:
        self.max_queries = max_queries
        self._sources: dict[str, list[str]] = {}
        try:
            self._read(path)
        except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
            raise ConfigError(f"commoncrawl={path}: the extract cannot be read: {error}") from None
        if not self._sources:
            raise ConfigError(f"commoncrawl={path}: no line has two host names")

    def search(self, query: Query) -> Hits:
        """Answer a query for the backlinks of a URL."""
        host = site_of(query.text)
        forwards = self._sources.get(host, []) + self._sources.get(f"www.{host}", [])
        backwards = self._sources.get(_turned(host), []) + self._sources.get(f"{_turned(host)}.www", [])
        found = dict.fromkeys([*forwards, *map(_turned, backwards)])
        first = (query.page - 1) * _HITS_PER_PAGE
        shown = islice(found, first, first + _HITS_PER_PAGE)
        hits = (Hit(f"https://{source}/", source) for source in shown)
        return bounded_hits(hits, more=len(found) > first + _HITS_PER_PAGE)

    def _read(self, path: Path) -> None:
        opening = gzip.open if path.suffix == ".gz" else open
        with opening(path, "rt", encoding="utf-8") as lines:
            for line in islice(iter(lambda: lines.readline(_MAX_LINE_CHARS), ""), _MOST_EDGES):
                parts = line.split()
                if len(parts) >= 2 and "." in parts[1]:  # noqa: PLR2004 - the linking host and the linked one
                    self._sources.setdefault(parts[1].lower(), []).append(parts[0].lower())


def _turned(name: str) -> str:
    """Write a host name backwards.

    >>> _turned("org.example.www")
    'www.example.org'
    """
    return ".".join(reversed(name.split(".")))
