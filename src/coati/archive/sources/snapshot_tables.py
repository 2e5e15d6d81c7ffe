"""Snapshots of pages as tables: which links were on which page at which time.

    times.tsv         number, time (ISO 8601); one line per snapshot
    pages.tsv         number, site, name, URL; or number, name, for feeds
    links.tsv.gz      number, first snapshot, label (0 or 1), URL, title
    events.tsv.gz     snapshot, page, +links that came, -links that went
    fails.tsv.gz      snapshot, page, status: pages that could not be fetched then
    new.tsv.gz        for feeds instead of events: snapshot, page, links that are new

The archive holds a page for each change: HTML made of the links that were there, with their titles. Links
with the label are in list items of the class ``politics``, so that ``label=politics`` finds them. A page
that could not be fetched answers with an error until it is there again. A feed shows its last 20 links; its
own address and those of its links are made up, since the tables do not have the one and the others are of
many sites.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from coati.archive.record import ArchiveMeta, Entry, Record
from coati.archive.sources.source import DamagedPart, ProgressCallback, Report, SourceOptions
from coati.errors import ArchiveError
from coati.times import from_iso
from coati.web.media import PRESETS
from coati.web.urls import normalise

_TIMES, _PAGES, _LINKS = "times.tsv", "pages.tsv", "links.tsv.gz"
_EVENTS, _FAILS, _NEW = "events.tsv.gz", "fails.tsv.gz", "new.tsv.gz"
_OK, _FAILED = 200, 500
_FEED_SHOWS = 20
_MAX_LINE_BYTES = 1 << 20
_CLASS = ' class="politics"'
_HTML = "text/html; charset=utf-8"


class _Link(NamedTuple):
    url: str
    title: str
    labelled: bool


class _Capture(NamedTuple):
    """What a page showed at a snapshot; None where it could not be fetched."""

    snapshot: int
    page: int
    links: Sequence[int] | None


class SnapshotTables:
    """A folder of snapshot tables (`coati.archive.sources.source.SiteSource`)."""

    def __init__(self, folder: Path, options: SourceOptions) -> None:
        self._folder = folder
        self._options = options
        self._are_feeds = (folder / _NEW).is_file()

    @staticmethod
    def recognises(path: Path) -> bool:
        """Tell whether a path is a folder in this layout."""
        changes = ((path / name).is_file() for name in (_EVENTS, _NEW))
        return all((path / name).is_file() for name in (_TIMES, _PAGES, _LINKS)) and any(changes)

    def meta(self) -> ArchiveMeta:
        """Describe the archive; it starts at the first page."""
        options = self._options
        name = options.name or self._folder.resolve().name
        start_url = options.start_url or self._page_urls()[0]
        return ArchiveMeta(name, start_url, options.types or PRESETS["data"], "snapshots of pages as tables")

    def records(self, report: Report, progress: ProgressCallback) -> Iterator[Record]:
        """Return a record per page and change, in the order of time."""
        urls, times, links = self._page_urls(), self._times(), self._links()
        for capture in self._feed_captures() if self._are_feeds else self._captures():
            try:
                time, url = times[capture.snapshot], urls[capture.page]
                yield _record(url, time, self._shown(url, capture, links))
            except LookupError:
                where = f"snapshot {capture.snapshot}, page {capture.page}"
                report(DamagedPart(where, "it has a number that its table does not have"))
            progress(capture.snapshot + 1, len(times))

    def _shown(self, url: str, capture: _Capture, links: Sequence[_Link]) -> list[_Link] | None:
        if capture.links is None:
            return None
        shown = [links[number] for number in capture.links]
        # A feed links to many sites, and only links within a site count.
        return (
            [link._replace(url=url + quote(link.url, safe="")) for link in shown]
            if self._are_feeds
            else shown
        )

    def _captures(self) -> Iterator[_Capture]:
        """Follow the links of each page from snapshot to snapshot."""
        shown: dict[int, dict[int, None]] = {}
        failing: set[int] = set()
        events, fails = self._by_snapshot(_EVENTS), self._by_snapshot(_FAILS)
        for snapshot in range(len(self._times())):
            changed = set()
            for name, came, went in events.get(snapshot, ()):
                changed.add(int(name))
                there = shown.setdefault(int(name), {})
                for link in _numbers(went):
                    there.pop(link, None)
                there.update(dict.fromkeys(_numbers(came)))
            fail_now = {int(page) for page, *_ in fails.get(snapshot, ())}
            for page in sorted((fail_now - failing) | ((changed | failing) - fail_now)):
                yield _Capture(snapshot, page, None if page in fail_now else list(shown.get(page, {})))
            failing = fail_now

    def _feed_captures(self) -> Iterator[_Capture]:
        """Let each feed show its last links, from the first snapshot that has any."""
        shown: dict[int, dict[int, None]] = {page: {} for page in range(len(self._page_urls()))}
        new_links = self._by_snapshot(_NEW)
        first = min(new_links, default=0)
        for snapshot in sorted(new_links):
            came = {int(page): _numbers(links) for page, links in new_links[snapshot]}
            for page in sorted(shown) if snapshot == first else sorted(came):
                there = [link for link in shown.get(page, {}) if link not in came.get(page, ())]
                shown[page] = dict.fromkeys([*there, *came.get(page, ())][-_FEED_SHOWS:])
                yield _Capture(snapshot, page, list(shown[page]))

    def _by_snapshot(self, name: str) -> dict[int, list[list[str]]]:
        found: dict[int, list[list[str]]] = {}
        for row in self._rows(name) if (self._folder / name).is_file() else ():
            found.setdefault(int(row[0]), []).append(row[1 : _COLUMNS[name]])
        return found

    def _page_urls(self) -> list[str]:
        rows = list(self._rows(_PAGES))
        found = [f"http://feed-{row[0]}.test/" if self._are_feeds else normalise(row[3]) for row in rows]
        if not found or None in found:
            raise ArchiveError(f"{self._folder / _PAGES} has no pages, or some without a URL")
        return [url for url in found if url is not None]

    def _times(self) -> list[float]:
        try:
            return [from_iso(row[1]) for row in self._rows(_TIMES)]
        except (ValueError, OverflowError) as error:
            raise ArchiveError(f"{self._folder / _TIMES} has an invalid time: {error}") from None

    def _links(self) -> list[_Link]:
        return [_Link(row[3], row[4], row[2] == "1") for row in self._rows(_LINKS)]

    def _rows(self, name: str) -> Iterator[list[str]]:
        """Read a table; raise `ArchiveError` where it is cut off or not a table."""
        path = self._folder / name
        columns = _COLUMNS[name] if name != _PAGES or not self._are_feeds else 2
        try:
            with gzip.open(path) if name.endswith(".gz") else path.open("rb") as file:
                for number, line in enumerate(iter(lambda: file.readline(_MAX_LINE_BYTES), b""), start=1):
                    row = line.decode().rstrip("\n").split("\t")
                    if len(row) < columns or not line.endswith(b"\n"):
                        raise ArchiveError(
                            f"{path}: line {number} is cut off or has fewer than {columns} columns"
                        )
                    if not _has_numbers(row, name):
                        raise ArchiveError(f"{path}: line {number} has something else where numbers belong")
                    yield row
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise ArchiveError(f"{path} cannot be read to its end: {error}") from error


_COLUMNS = {_TIMES: 2, _PAGES: 4, _LINKS: 5, _EVENTS: 4, _FAILS: 3, _NEW: 3}
_NUMBER = re.compile(r"[0-9]{1,9}\Z")
_NUMBERS = re.compile(r"[+-]?(?:[0-9]{1,9}(?:,[0-9]{1,9})*,?)?\Z")
# Which columns are numbers, beside the first, and which are lists of numbers.
_PLACES = {_EVENTS: ((0, 1), (2, 3)), _FAILS: ((0, 1), ()), _NEW: ((0, 1), (2,))}


def _has_numbers(row: list[str], table: str) -> bool:
    singles, lists = _PLACES.get(table, ((0,), ()))
    return all(_NUMBER.match(row[place]) for place in singles) and all(
        _NUMBERS.match(row[place]) for place in lists
    )


def _numbers(text: str) -> list[int]:
    """Read a list of numbers, which may begin with a sign.

    >>> _numbers("+3,4"), _numbers("-")
    ([3, 4], [])
    """
    return [int(part) for part in text.lstrip("+-").split(",") if part]


def _record(url: str, time: float, links: Sequence[_Link] | None) -> Record:
    if links is None:
        return Record(Entry(url, _FAILED, "", 0, fetched_at=time), body=b"")
    items = "".join(
        f'<li{_CLASS if link.labelled else ""}><a href="{escape(link.url)}">{escape(link.title)}</a></li>\n'
        for link in links
    )
    body = f"<!doctype html><html><body><ul>\n{items}</ul></body></html>\n".encode()
    return Record(Entry(url, _OK, _HTML, len(body), fetched_at=time), body=body)
