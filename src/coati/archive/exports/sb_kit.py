"""Export to the layout of the published kit of SB-CLASSIFIER, so that both run on the same site.

One SQLite file per site, with one table of the same name, and one file that lists the sites. The kit
decides what a URL is by its media type alone, from a fixed list, so a record is exported under a
type that makes the kit see what the archive says it is. URLs that failed are left out: the kit takes
what is not in its table for an error. Of a history, the newest moment is exported.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from coati.archive.archive import Archive
from coati.archive.exports.new_file import new_file
from coati.archive.kinds import kind_of
from coati.archive.record import Entry
from coati.archive.sources.source import ProgressCallback
from coati.errors import ArchiveError
from coati.machine_errors import writing_to
from coati.model import Kind
from coati.web.charset import decode_page
from coati.web.media import PRESETS, essence

_SITES_FILE = "site_names_to_urls.db"
_TARGET_STAND_IN = "application/pdf"
_OTHER_STAND_IN = "application/x-not-a-target"

_OK = 200

# Names that a query could not hold unquoted, among those that sites may have.
_RESERVED = """
    ADD ALL ALTER AND AS BETWEEN CASE CHECK COLLATE COMMIT CONSTRAINT CREATE DEFAULT DEFERRABLE DELETE
    DISTINCT DROP ELSE ESCAPE EXCEPT EXISTS FOREIGN FROM GROUP HAVING IN INDEX INSERT INTERSECT INTO IS
    ISNULL JOIN LIMIT NOT NOTHING NOTNULL NULL ON OR ORDER PRIMARY REFERENCES RETURNING SELECT SET TABLE
    THEN TO TRANSACTION UNION UNIQUE UPDATE USING VALUES WHEN WHERE
"""
_SQL_WORDS = frozenset(_RESERVED.split())

# The kit's own list, which its paper's preset is.
_KIT_TARGETS = PRESETS["data"].media_types

KitRow = tuple[str, str, str, str, int]


@dataclass(slots=True)
class KitExport:
    """What was written.

    ``stand_ins`` counts records by the media type that they have and the one they were given;
    ``damaged`` lists pages whose body could not be read and is empty in the export.
    """

    file: Path
    table: str
    records: int = 0
    left_out: int = 0
    stand_ins: Counter[tuple[str, str]] = field(default_factory=Counter)
    damaged: list[str] = field(default_factory=list)


def export_kit(archive: Archive, folder: Path, progress: ProgressCallback) -> KitExport:
    """Write an archive as a site of the kit into ``folder``, beside the sites that are there."""
    table = table_name(archive.meta.name)
    export = KitExport(folder / f"{table}.db", table)
    with new_file(export.file) as partial:
        partial.unlink(missing_ok=True)
        with closing(sqlite3.connect(partial)) as database:
            database.execute(
                f"CREATE TABLE {table} (url TEXT PRIMARY KEY, http_response TEXT, "
                "headers TEXT, body TEXT, content_length INTEGER)"
            )
            insert = f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)"  # noqa: S608 -- a plain word
            database.executemany(insert, _rows(archive, export, progress))
            database.commit()
    with writing_to(folder / _SITES_FILE):
        _list_site(folder / _SITES_FILE, table, archive.meta.start_url)
    return export


def table_name(name: str) -> str:
    """Make a name that the kit can put into its queries as it is.

    >>> table_name("data.example.org"), table_name("2024")
    ('data_example_org', 'site_2024')
    """
    word = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if not word or word[0].isdigit() or word.upper() in _SQL_WORDS:
        return f"site_{word}"
    return word


def _rows(archive: Archive, export: KitExport, progress: ProgressCallback) -> Iterator[KitRow]:
    total = len(archive)
    for done, entry in enumerate(archive.entries(), start=1):
        kind = kind_of(entry, archive.meta.types)
        if kind is Kind.BROKEN:
            export.left_out += 1
        else:
            export.records += 1
            yield _row(archive, entry, kind, export)
        progress(done, total)


def _row(archive: Archive, entry: Entry, kind: Kind, export: KitExport) -> KitRow:
    own_type = essence(entry.media_type)
    media_type = own_type if kind is Kind.REDIRECT else _visible_type(own_type, kind)
    if media_type != own_type:
        export.stand_ins[own_type, media_type] += 1
    headers = {b"Content-Type": [media_type.encode()]}
    # The kit reads no other success than this one.
    status = entry.status if kind is Kind.REDIRECT else _OK
    if kind is Kind.REDIRECT:
        headers[b"Location"] = [entry.location.encode()]
    body = _text(archive, entry, export) if kind is Kind.PAGE else ""
    return entry.url, str(status), repr(headers), body, entry.size_bytes


def _visible_type(media_type: str, kind: Kind) -> str:
    """Return the type under which the kit sees this kind, the own one if that serves."""
    if kind is Kind.PAGE:
        return media_type if "html" in media_type else "text/html"
    if kind is Kind.TARGET:
        return media_type if media_type in _KIT_TARGETS else _TARGET_STAND_IN
    taken_for_more = "html" in media_type or media_type in _KIT_TARGETS
    return _OTHER_STAND_IN if taken_for_more else media_type


def _text(archive: Archive, entry: Entry, export: KitExport) -> str:
    try:
        body = archive.body(entry.url)
    except ArchiveError as error:
        export.damaged.append(str(error))
        return ""
    # SQLite holds no half of a surrogate pair.
    return decode_page(body, entry.media_type).text.encode("utf-8", "replace").decode()


def _list_site(path: Path, table: str, start_url: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE IF NOT EXISTS site_names_to_urls (start_url TEXT, site_name TEXT)")
        database.execute("DELETE FROM site_names_to_urls WHERE site_name = ?", (table,))
        database.execute("INSERT INTO site_names_to_urls VALUES (?, ?)", (start_url, table))
        database.commit()
