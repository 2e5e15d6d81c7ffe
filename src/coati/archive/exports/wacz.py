"""Export as one WACZ file (version 1.1.1), for ReplayWeb.page and other viewers of web archives.

A zip file in which nothing is compressed a second time: the WARC files as they are, an index in blocks that
a viewer can fetch one by one, the list of pages, and a description with the size and hash of each part.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import zipfile
from typing import TYPE_CHECKING, Any

from selectolax.lexbor import LexborHTMLParser

from coati.archive.exports.cdxj import cdxj_lines
from coati.archive.exports.new_file import new_file
from coati.archive.kinds import kind_of
from coati.errors import ArchiveError
from coati.model import Kind
from coati.times import to_iso_seconds
from coati.version import __version__
from coati.web.link_names import page_title

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from coati.archive.archive import Archive
    from coati.archive.record import Entry
    from coati.archive.sources.source import ProgressCallback

_VERSION = "1.1.1"
_INDEX = "indexes/index.cdx.gz"
# As other writers do it: a viewer fetches one block for one URL.
_LINES_PER_BLOCK = 1024
# Zip files know no earlier year; and without a date of our own, equal archives give equal files.
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
_TITLE_BYTES = 1 << 16
_COPY_BYTES = 1 << 20


def export_wacz(archive: Archive, path: Path, progress: ProgressCallback) -> int:
    """Write all captures of an archive in one new file; return its size in bytes."""
    with new_file(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as zipped:
        _write(archive, _Parts(zipped), progress)
    return path.stat().st_size


def _write(archive: Archive, parts: _Parts, progress: ProgressCallback) -> None:
    for volume in archive.volume_paths():
        parts.add_file(f"archive/{volume.name}", volume)
    blocks, keys = _blocks(cdxj_lines(archive))
    parts.add(_INDEX, blocks)
    parts.add("indexes/index.idx", keys)
    parts.add("pages/pages.jsonl", "".join(_pages(archive, progress)).encode())
    parts.describe(archive)


class _Parts:
    """Writes the parts of the file, and remembers what its description must say of each."""

    def __init__(self, zipped: zipfile.ZipFile) -> None:
        self._zipped = zipped
        self._resources: list[dict[str, Any]] = []

    def add(self, name: str, content: bytes) -> None:
        self._zipped.writestr(zipfile.ZipInfo(name, _ZIP_DATE), content)
        self._note(name, len(content), hashlib.sha256(content).hexdigest())

    def add_file(self, name: str, path: Path) -> None:
        info = zipfile.ZipInfo(name, _ZIP_DATE)
        info.file_size = path.stat().st_size
        with path.open("rb") as source:
            digest = hashlib.file_digest(source, "sha256").hexdigest()
            source.seek(0)
            with self._zipped.open(info, "w") as part:
                shutil.copyfileobj(source, part, _COPY_BYTES)
        self._note(name, info.file_size, digest)

    def describe(self, archive: Archive) -> None:
        meta = archive.meta
        span = archive.span()
        description = {
            "profile": "data-package",
            "wacz_version": _VERSION,
            "title": meta.name,
            "software": f"coati {__version__}",
            "created": to_iso_seconds(span[1] if span else 0.0),
            "mainPageUrl": meta.start_url,
            "resources": self._resources,
        }
        content = json.dumps(description, indent=2).encode()
        self._zipped.writestr(zipfile.ZipInfo("datapackage.json", _ZIP_DATE), content)
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(content).hexdigest()}"}
        self._zipped.writestr(zipfile.ZipInfo("datapackage-digest.json", _ZIP_DATE), json.dumps(digest))

    def _note(self, name: str, size: int, digest: str) -> None:
        last = name.rpartition("/")[2]
        self._resources.append({"name": last, "path": name, "hash": f"sha256:{digest}", "bytes": size})


def _blocks(lines: Sequence[str]) -> tuple[bytes, bytes]:
    """Pack the index in blocks; return them, and the list that says where each begins."""
    packed: list[bytes] = []
    keys = ['!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}']
    offset = 0
    for first in range(0, len(lines), _LINES_PER_BLOCK):
        text = "".join(f"{line}\n" for line in lines[first : first + _LINES_PER_BLOCK]).encode()
        block = gzip.compress(text, mtime=0)
        place = {
            "offset": offset,
            "length": len(block),
            "digest": f"sha256:{hashlib.sha256(block).hexdigest()}",
            "filename": "index.cdx.gz",
        }
        key, moment, _ = lines[first].split(" ", 2)
        keys.append(f"{key} {moment} {json.dumps(place)}")
        packed.append(block)
        offset += len(block)
    return b"".join(packed), "".join(f"{key}\n" for key in keys).encode()


def _pages(archive: Archive, progress: ProgressCallback) -> Iterator[str]:
    """Yield the lines of the list of pages: the newest capture of each, with its title."""
    yield json.dumps({"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}) + "\n"
    total = len(archive)
    for done, entry in enumerate(archive.entries(), start=1):
        progress(done, total)
        if kind_of(entry, archive.meta.types) is Kind.PAGE and entry.fetched_at is not None:
            page = {"url": entry.url, "ts": to_iso_seconds(entry.fetched_at), "title": _title(archive, entry)}
            identity = hashlib.sha256(entry.url.encode()).hexdigest()[:16]
            yield json.dumps({"id": identity, **page}) + "\n"


def _title(archive: Archive, entry: Entry) -> str:
    try:
        body = archive.body(entry.url)
    except ArchiveError:
        return entry.url
    return page_title(LexborHTMLParser(body[:_TITLE_BYTES])) or entry.url
