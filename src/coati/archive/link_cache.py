"""The links of every page of an archive, extracted once.

A replay over an archive parses the same pages again and again: for each strategy, each seed, each study. So
their links are kept beside the archive in one file of plain arrays. Pages repeat their menus, so each
distinct link (URL, tag path, anchor, context, date) is stored once and a page is a list of numbers. A page
that the archive holds at several moments has such a list for each; the newest come first, in the archive's
order.

Besides HTML, it holds what XML lists that says by its root element that it is a sitemap or a feed: whether it
is read as a page depends on what is wanted. Lists that only a replay's start URLs lead to are not here.

The cache knows which archive it was made from, by digest, and is made again when that or our extraction has
changed.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coati.errors import ArchiveError
from coati.model import Kind, Link
from coati.readers.formats import Format, format_of, is_xml
from coati.readers.registry import PageReader
from coati.web.media import essence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from coati.archive.archive import Archive
    from coati.archive.record import Entry
    from coati.archive.sources.source import ProgressCallback

    Numbers = npt.NDArray[np.int32]
    Moments = npt.NDArray[np.float64]

# Count up when `coati.readers` return something else for the same page.
_EXTRACTION = 3
_FILE = "links.npz"
_BETWEEN, _WITHIN = "\n", "\t"


class _LinkTable(NamedTuple):
    """The distinct links, as numbers of strings; a date that is not known is NaN."""

    urls: Numbers
    paths: Numbers
    anchors: Numbers
    contexts: Numbers
    modified: npt.NDArray[np.float64]


class LinkCache:
    """Links by page. URLs are numbered; `url_names` gives them back.

    ``captures`` are the URLs of pages, and the moments of the last of them: these are not the newest ones.
    ``remarks`` name the pages that could not be read, or not to their end.
    """

    def __init__(
        self,
        names: tuple[list[str], list[str], list[str]],
        table: _LinkTable,
        captures: tuple[Numbers, Moments],
        starts: npt.NDArray[np.int64],
        links: Numbers,
        remarks: Sequence[str] = (),
    ) -> None:
        self.url_names, self._path_names, self._text_names = names
        self._table = table
        self._pages, self._moments = pages, moments = captures
        self._starts = starts
        self._links = links
        self._paths: dict[int, tuple[str, ...]] = {}
        newest = len(pages) - len(moments)
        self._place = {page: place for place, page in enumerate(pages[:newest].tolist())}
        older = zip(pages[newest:].tolist(), moments.tolist(), strict=True)
        self._older_place = {capture: place for place, capture in enumerate(older, start=newest)}
        self._number_of = {url: number for number, url in enumerate(self.url_names)}
        self.remarks = tuple(remarks)

    @classmethod
    def of(cls, archive: Archive, progress: ProgressCallback | None = None) -> LinkCache:
        """Read the cache of an archive; make it first if it is missing or of another state."""
        file = archive.folder / _FILE
        digest = archive.digest()
        cache = cls._read(file, digest)
        if cache is None:
            cache = cls._make(archive, progress)
            cache.write(file, digest)
        return cache

    def number_of(self, url: str) -> int | None:
        """Return the number of a URL; None if no page links to it and it is not a page."""
        return self._number_of.get(url)

    def link_numbers(self, page: str) -> Numbers:
        """Return the links of the newest capture of a page; empty for a URL that is not a page."""
        return self._links_at(self._place.get(self._number_of.get(page, -1)))

    def older_link_numbers(self, page: str, moment: float) -> Numbers:
        """Return the links of a page as it was captured at an earlier moment."""
        return self._links_at(self._older_place.get((self._number_of.get(page, -1), moment)))

    def _links_at(self, place: int | None) -> Numbers:
        if place is None:
            return self._links[:0]
        return self._links[self._starts[place] : self._starts[place + 1]]

    def link_urls(self, links: Numbers) -> Numbers:
        """Return the numbers of the URLs that links point to."""
        return self._table.urls[links]

    def link(self, number: int) -> Link:
        """Build one link."""
        table = self._table
        path_number = int(table.paths[number])
        path = self._paths.get(path_number)
        if path is None:
            path = self._paths[path_number] = tuple(self._path_names[path_number].split(_WITHIN))
        modified: float = table.modified.item(number)
        return Link(
            self.url_names[table.urls[number]],
            path,
            self._text_names[table.anchors[number]],
            self._text_names[table.contexts[number]],
            None if math.isnan(modified) else modified,
        )

    def holds(self, page: str) -> bool:
        """Tell whether the links of a page are here."""
        return self._number_of.get(page, -1) in self._place

    def pages(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Return each page, as it was last, with the URLs that it links to on any host, in order."""
        names = self.url_names
        for page in self._place:
            numbers = self.link_urls(self.link_numbers(names[page]))
            yield names[page], [names[number] for number in numbers.tolist()]

    @classmethod
    def _make(cls, archive: Archive, progress: ProgressCallback | None) -> LinkCache:
        urls, paths, texts = _Numbering(), _Numbering(), _Numbering()
        distinct: dict[tuple[int, int, int, int, float | None], int] = {}
        pages: list[int] = []
        starts = [0]
        links: list[int] = []
        remarks: list[str] = []
        reader = PageReader()
        newest = [entry for entry in archive.entries() if is_page(entry) or _may_list(entry)]
        older = (entry for entry in archive.older_entries() if is_page(entry) or _may_list(entry))
        entries = [*newest, *older]
        moments: list[float] = []
        for done, entry in enumerate(entries):
            try:
                body = archive.body(entry.url, None if done < len(newest) else entry.moment)
            except ArchiveError as error:
                if is_page(entry):
                    remarks.append(f"{entry.url}: {error}")
                continue
            form: Format | None = Format.HTML
            if not is_page(entry):
                form = format_of(entry.url, entry.media_type, body, is_list=False, wanted=False)
            if form is None:
                continue
            pages.append(urls.number(entry.url))
            if done >= len(newest):
                moments.append(entry.moment)
            page = reader.read(form, body, entry.url, entry.media_type)
            if page.truncated:
                remarks.append(f"{entry.url}: too large; only the links of its beginning are known")
            found = page.links
            for index in range(len(found.urls)):
                link = found.link(index)
                key = (
                    urls.number(link.url),
                    paths.number(_WITHIN.join(link.tag_path)),
                    texts.number(link.anchor),
                    texts.number(link.context),
                    link.modified,
                )
                links.append(distinct.setdefault(key, len(distinct)))
            starts.append(len(links))
            if progress is not None:
                progress(done + 1, len(entries))
        columns = np.array([key[:4] for key in distinct], np.int32).reshape(-1, 4).T
        modified = [np.nan if key[4] is None else key[4] for key in distinct]
        return cls(
            (urls.names(), paths.names(), texts.names()),
            _table(columns, np.array(modified, np.float64)),
            (np.array(pages, np.int32), np.array(moments, np.float64)),
            np.array(starts, np.int64),
            np.array(links, np.int32),
            remarks,
        )

    @classmethod
    def _read(cls, file: Path, digest: str) -> LinkCache | None:
        try:
            with np.load(file, allow_pickle=False) as saved:
                if str(saved["made_from"]) != _made_from(digest):
                    return None
                return cls(
                    # A single empty text reads as none.
                    (_names(saved["urls"]), _names(saved["paths"]), _names(saved["texts"]) or [""]),
                    _table(saved["table"], saved["modified"]),
                    (saved["pages"], saved["moments"]),
                    saved["starts"],
                    saved["links"],
                    _names(saved["remarks"]),
                )
        except (OSError, ValueError, KeyError):
            # None there, or it was damaged: what can be made again is not a loss.
            return None

    def write(self, file: Path, digest: str) -> None:
        """Keep the cache in a file, where that can be written."""
        partial = file.with_suffix(f".{os.getpid()}.partial")
        try:
            with partial.open("wb") as out:
                np.savez_compressed(
                    out,
                    made_from=np.array(_made_from(digest)),
                    urls=_text(self.url_names),
                    paths=_text(self._path_names),
                    texts=_text(self._text_names),
                    table=np.stack(self._table[:4]),
                    pages=self._pages,
                    moments=self._moments,
                    starts=self._starts,
                    links=self._links,
                    modified=self._table.modified,
                    remarks=_text(self.remarks),
                )
            partial.replace(file)
        except OSError:
            # A read-only archive can be replayed all the same.
            partial.unlink(missing_ok=True)


def is_page(entry: Entry) -> bool:
    """Tell whether an archived URL is a page, by its label or its media type."""
    if entry.kind is not None:
        return entry.kind is Kind.PAGE
    return 200 <= entry.status < 300 and "html" in essence(entry.media_type)  # noqa: PLR2004 - HTTP success


def _may_list(entry: Entry) -> bool:
    """Tell whether an archived URL may be a sitemap or a feed."""
    return 200 <= entry.status < 300 and is_xml(entry.media_type)  # noqa: PLR2004 - HTTP success


def _table(columns: Numbers, modified: npt.NDArray[np.float64]) -> _LinkTable:
    urls, paths, anchors, contexts = (np.ascontiguousarray(column) for column in columns)
    return _LinkTable(urls, paths, anchors, contexts, modified)


class _Numbering:
    """Numbers strings in the order in which they are first seen."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def names(self) -> list[str]:
        return list(self._numbers)


def _made_from(digest: str) -> str:
    return f"{_EXTRACTION} {digest}"


def _text(names: Sequence[str]) -> npt.NDArray[np.uint8]:
    return np.frombuffer(_BETWEEN.join(names).encode("utf-8", "surrogatepass"), np.uint8)


def _names(text: npt.NDArray[np.uint8]) -> list[str]:
    return text.tobytes().decode("utf-8", "surrogatepass").split(_BETWEEN) if len(text) else []
