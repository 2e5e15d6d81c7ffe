"""A plain folder of files, as a static web server would show it.

``a/index.html`` answers at ``a/`` and under its own name, and ``a`` leads to ``a/``. Files are
records whether or not a page links to them. Names that begin with a dot are left out, as servers
do, but for ``.well-known``. A symbolic link is followed while it stays inside the folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from coati.archive.record import ArchiveMeta, Entry, Record
from coati.archive.sources.file_types import SNIFFED_BYTES, media_type_of
from coati.archive.sources.source import (
    MAX_BODY_BYTES,
    DamagedPart,
    ProgressCallback,
    Report,
    SourceOptions,
    unreported,
)
from coati.web.media import PRESETS
from coati.web.urls import normalise

_OK, _MOVED = 200, 301
_MAX_DEPTH = 64
_MAX_LINKED = 10_000
_INDEX_NAMES = ("index.html", "index.htm")


class StaticFolder:
    """A folder of static files (`coati.archive.sources.source.SiteSource`).

    The folder itself is where the start URL's last slash is: with the start URL
    ``http://example.org/docs/start.html`` its file ``a.csv`` is ``http://example.org/docs/a.csv``.
    """

    def __init__(self, folder: Path, options: SourceOptions) -> None:
        self._folder = folder.resolve()
        self._name = options.name or self._folder.name
        self._start_url = options.start_url or f"http://{_host_label(self._name)}.test/"
        self._types = options.types or PRESETS["data"]

    def meta(self) -> ArchiveMeta:
        return ArchiveMeta(self._name, self._start_url, self._types, f"folder {self._folder.name}")

    def records(self, report: Report, progress: ProgressCallback) -> Iterator[Record]:
        root = self._start_url.partition("?")[0].rpartition("/")[0] + "/"
        total = sum(1 for _ in self._files(unreported))
        for number, path in enumerate(self._files(report), start=1):
            relative = quote(os.fsencode(path.relative_to(self._folder)))
            yield from _records_of(path, root, relative, report)
            progress(number, total)

    def _files(self, report: Report) -> Iterator[Path]:
        return _Walk(self._folder, report).files(self._folder)


class _Walk:
    """One way through a folder, in the order of the names."""

    def __init__(self, root: Path, report: Report) -> None:
        self._root = root
        self._report = report
        self._linked = 0

    def files(self, folder: Path, *, depth: int = 0, linked: bool = False) -> Iterator[Path]:
        """Return the files below a folder; ``linked`` says that a link led there."""
        if depth > _MAX_DEPTH:
            self._report(DamagedPart(str(folder), f"it lies more than {_MAX_DEPTH} folders deep"))
            return
        try:
            paths = sorted(folder.iterdir())
        except OSError as error:
            self._report(DamagedPart(str(folder), f"it cannot be listed: {error.strerror}"))
            return
        for path in paths:
            if path.name.startswith(".") and path.name != ".well-known":
                continue
            if path.is_symlink() and not _stays_inside(path, self._root):
                self._report(DamagedPart(str(path), "the link leads out of the folder, or nowhere"))
            elif path.is_dir():
                by_link = linked or path.is_symlink()
                if not by_link or self._follows(path):
                    yield from self.files(path, depth=depth + 1, linked=by_link)
            elif path.is_file():
                yield path

    def _follows(self, folder: Path) -> bool:
        """Tell whether one more folder is entered by a link: two links in each of 30 make a billion ways."""
        self._linked += 1
        if self._linked == _MAX_LINKED + 1:
            words = f"links lead into more than {_MAX_LINKED:,} folders; the rest are left out"
            self._report(DamagedPart(str(folder), words))
        return self._linked <= _MAX_LINKED


def _stays_inside(link: Path, root: Path) -> bool:
    """Tell whether a link leads to something in the folder that does not hold the link itself."""
    try:
        end = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    return end.is_relative_to(root) and not link.absolute().is_relative_to(end)


def _records_of(path: Path, root: str, relative: str, report: Report) -> Iterator[Record]:
    url = normalise(root + relative)
    if url is None:
        report(DamagedPart(str(path), "its name does not make a URL"))
        return
    try:
        record = _record(path, url)
    except OSError as error:
        report(DamagedPart(str(path), f"it cannot be read: {error.strerror}", url))
        return
    yield record
    if path.name.lower() in _INDEX_NAMES:
        directory = url[: -len(path.name)]
        yield replace(record, entry=replace(record.entry, url=directory))
        if directory != root:
            moved = Entry(directory.rstrip("/"), _MOVED, "", 0, location=directory)
            yield Record(moved, body=b"")


def _record(path: Path, url: str) -> Record:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(SNIFFED_BYTES)
        body = head + file.read() if size <= MAX_BODY_BYTES else None
    size = size if body is None else len(body)
    return Record(Entry(url, _OK, media_type_of(path.name, head), size), body=body)


def _host_label(name: str) -> str:
    """Make a host name of any text.

    >>> _host_label("My site, 2nd copy")
    'my-site-2nd-copy'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:63] or "site"
