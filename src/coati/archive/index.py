"""``index.sqlite``: for each capture of a URL what its record says, and where in the WARC files it is.

Of the captures of a URL one is ``current``: the newest, where an answer that may pass (an outage) does not
count beside one that lasts. In an archive without a history that is every row. ``refers`` marks a capture
whose body is in another one of the same URL, with the same digest.

The index holds nothing that the WARC files do not: it can be built again from them. A volume's
``indexed_bytes`` says how far the index knows it. What comes after that was written just before a
crash, and is looked at when the archive is opened for writing again.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from coati.archive.record import Entry
from coati.archive.volumes import RecordPlace
from coati.errors import ArchiveError
from coati.model import Kind

FILE_NAME = "index.sqlite"
_VERSION = 2

# One record per URL: of several, only the one added last was indexed.
_VERSION_WITHOUT_HISTORY = 1

_RECORDS = """
CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    status INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    kind TEXT,
    location TEXT NOT NULL,
    fetched_at REAL,
    volume INTEGER NOT NULL REFERENCES volumes (id),
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    body_bytes INTEGER,
    body_digest TEXT NOT NULL,
    current INTEGER NOT NULL,
    refers INTEGER NOT NULL
);
CREATE INDEX records_by_url ON records (url, current);
"""
# For URLs with very many captures; an archive without a history has nothing in them.
_OF_HISTORIES = """
CREATE INDEX IF NOT EXISTS older_by_body ON records (url, body_digest, refers) WHERE current = 0;
CREATE INDEX IF NOT EXISTS older_by_time ON records (url, fetched_at, body_digest) WHERE current = 0;
"""
_SCHEMA = f"""
CREATE TABLE volumes (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    indexed_bytes INTEGER NOT NULL
);
{_RECORDS}
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
PRAGMA user_version = {_VERSION};
"""

# An older index is read as it is, and brought up to date where it is going to be written.
_READ_OLDER = "CREATE TEMP VIEW records AS SELECT *, 1 AS current, 0 AS refers FROM main.records"
_UPGRADE = f"""
BEGIN;
ALTER TABLE records RENAME TO older;
{_RECORDS}
INSERT INTO records SELECT *, 1, 0 FROM older;
DROP TABLE older;
PRAGMA user_version = {_VERSION};
COMMIT;
"""  # noqa: S608 -- constants only

_COLUMNS = (
    "url, status, media_type, size_bytes, kind, location, fetched_at, "
    "volume, offset, length, body_bytes, body_digest"
)
_SELECT = f"SELECT {_COLUMNS} FROM records"  # noqa: S608 -- constants only
_FIND = _SELECT + " WHERE url = ? AND current = 1"
_CAPTURES = _SELECT + " WHERE url = ? ORDER BY fetched_at, id"
_OLDER = _SELECT + " WHERE current = 0 ORDER BY url, fetched_at, id"
# The current row and the others are looked for apart, as each has its index.
_EACH = " UNION ALL ".join(
    f"SELECT * FROM ({_SELECT} WHERE url = ?1 AND current = {now} %s)"  # noqa: S608 -- constants only
    for now in (0, 1)
)
_HOLDER = _EACH.replace("%s", "AND body_digest = ?2 AND refers = 0 ORDER BY id LIMIT 1")
_SAME = _EACH.replace("%s", "AND fetched_at = ?2 AND body_digest = ?3 LIMIT 100")
_FIND_CURRENT = "SELECT id, status, fetched_at FROM records WHERE url = ? AND current = 1"
_ADD = f"INSERT INTO records ({_COLUMNS}, current, refers) VALUES ({', '.join('?' * 14)})"  # noqa: S608

_KINDS: dict[str | None, Kind | None] = {None: None, **{kind.value: kind for kind in Kind}}


class IndexRow(NamedTuple):
    """What the index knows of a record; ``body_bytes`` is None where the body was left out."""

    entry: Entry
    place: RecordPlace
    body_bytes: int | None
    body_digest: str


class Index:
    """The index of one archive; make it with `create` or `open`."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._volume_names: dict[int, str] = {}
        self._volume_ids: dict[str, int] = {}
        self._in_bulk = False
        self._has_facts = True
        self._load_volumes()

    @classmethod
    def create(cls, path: Path) -> Index:
        """Make an empty index at a path where there is none."""
        connection = sqlite3.connect(path, isolation_level=None)
        connection.executescript(_SCHEMA + _OF_HISTORIES)
        return cls(_for_writing(connection), path)

    @classmethod
    def open(cls, path: Path, *, writable: bool) -> Index:
        """Open an index; raise `ArchiveError` that says how to rebuild it where it cannot be used."""
        if not path.is_file():
            raise ArchiveError(f"{path} is missing; {_how_to_rebuild(path)}")
        try:
            connection, version = _connect(path, "rw" if writable else "ro")
        except sqlite3.OperationalError as error:
            if writable:
                raise _damaged(path, error) from error
            # A reader of a log beside the index needs to write there, and may not be able to.
            connection, version = _connect(path, "ro&immutable=1")
        except sqlite3.Error as error:
            raise _damaged(path, error) from error
        if version not in {_VERSION, _VERSION_WITHOUT_HISTORY}:
            connection.close()
            raise ArchiveError(f"{path} has version {version}, not {_VERSION}; {_how_to_rebuild(path)}")
        try:
            if version == _VERSION_WITHOUT_HISTORY:
                connection.executescript(_UPGRADE if writable else _READ_OLDER)
            if writable:
                connection.executescript(_OF_HISTORIES)
        except sqlite3.Error as error:
            connection.close()
            raise _damaged(path, error) from error
        return cls(_for_writing(connection) if writable else connection, path)

    def __len__(self) -> int:
        """Count the URLs."""
        ((count,),) = self._query("SELECT count(*) FROM records WHERE current = 1")
        return int(count)

    def count_captures(self) -> int:
        """Count the rows, all captures of a URL among them."""
        ((count,),) = self._query("SELECT count(*) FROM records")
        return int(count)

    def count_bodies(self) -> int:
        """Count the URLs whose body was not left out."""
        ((count,),) = self._query("SELECT count(body_bytes) FROM records WHERE current = 1")
        return int(count)

    def span(self) -> tuple[float, float] | None:
        """Return when the first and the last capture was made; None where no time is known."""
        ((first, last),) = self._query("SELECT min(fetched_at), max(fetched_at) FROM records")
        return None if first is None else (first, last)

    def find(self, url: str) -> IndexRow | None:
        """Return the current row of a URL."""
        for values in self._query(_FIND, (url,)):
            return self._row(values)
        return None

    def captures(self, url: str) -> list[IndexRow]:
        """Return all rows of a URL in the order of time."""
        return [self._row(values) for values in self._query(_CAPTURES, (url,))]

    def holds(self, entry: Entry, body_digest: str) -> bool:
        """Tell whether this very capture is there; of very many that are nearly the same, not all count."""
        rows = self._query(_SAME, (entry.url, entry.fetched_at, body_digest))
        return any(self._row(values).entry == entry for values in rows)

    def holder(self, url: str, body_digest: str) -> IndexRow | None:
        """Return the capture of a URL that holds a body itself."""
        for values in self._query(_HOLDER, (url, body_digest)):
            return self._row(values)
        return None

    def rows(self, *, by_url: bool = False) -> Iterator[IndexRow]:
        """Return the current row of every URL in the order of adding, or sorted by URL."""
        for values in self._query(f"{_SELECT} WHERE current = 1 ORDER BY {'url' if by_url else 'id'}"):
            yield self._row(values)

    def older(self) -> Iterator[IndexRow]:
        """Return every other row, by URL and time."""
        for values in self._query(_OLDER):
            yield self._row(values)

    def add(self, row: IndexRow, *, refers: bool = False) -> None:
        """Add a row; it is on file at once unless in `bulk`."""
        with self._transaction():
            if self._has_facts:
                # They were worked out from the records, which are about to change.
                self._connection.execute("DELETE FROM facts")
                self._has_facts = False
            place = row.place
            end = place.offset + place.length
            self.mark(place.volume, end)
            entry = row.entry
            kind = None if entry.kind is None else entry.kind.value
            values = (
                entry.url, entry.status, entry.media_type, entry.size_bytes, kind,
                entry.location, entry.fetched_at, self._volume_ids[place.volume], place.offset,
                place.length, row.body_bytes, row.body_digest, self._becomes_current(entry), refers,
            )  # fmt: skip
            self._connection.execute(_ADD, values)

    def _becomes_current(self, entry: Entry) -> bool:
        """Tell whether a capture takes the place of the current one of its URL, which then leaves it."""
        for number, status, fetched_at in self._query(_FIND_CURRENT, (entry.url,)):
            known = Entry(entry.url, status, "", 0, fetched_at=fetched_at)
            if (known.passing, -known.moment) < (entry.passing, -entry.moment):
                return False
            self._connection.execute("UPDATE records SET current = 0 WHERE id = ?", (number,))
        return True

    def mark(self, volume: str, indexed_bytes: int) -> None:
        """Note how far a volume is indexed."""
        execute = self._connection.execute
        if volume in self._volume_ids:
            number = self._volume_ids[volume]
            execute("UPDATE volumes SET indexed_bytes = ? WHERE id = ?", (indexed_bytes, number))
        else:
            execute("INSERT INTO volumes (name, indexed_bytes) VALUES (?, ?)", (volume, indexed_bytes))
            self._load_volumes()

    def indexed_bytes(self, volume: str) -> int:
        """Say how far a volume is indexed; 0 for one that is not known."""
        query = "SELECT indexed_bytes FROM volumes WHERE name = ?"
        return next((int(number) for (number,) in self._query(query, (volume,))), 0)

    def fact(self, name: str) -> str | None:
        """Return a value that was worked out once and is kept."""
        query = "SELECT value FROM facts WHERE name = ?"
        return next((str(value) for (value,) in self._query(query, (name,))), None)

    def keep_fact(self, name: str, value: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))
        self._has_facts = True

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Put many additions on file together; those made before an error are kept too."""
        self._connection.execute("BEGIN")
        self._in_bulk = True
        try:
            yield
        finally:
            self._in_bulk = False
            self._connection.execute("COMMIT")

    def close(self, *, written: bool = False) -> None:
        """Close the file; ``written`` turns it back into a single file without a log beside it."""
        if written:
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        if self._in_bulk:
            yield
            return
        self._connection.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            self._has_facts = True
            self._load_volumes()
            raise
        self._connection.execute("COMMIT")

    def _query(self, query: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        try:
            return self._connection.execute(query, values)
        except sqlite3.DatabaseError as error:
            raise _damaged(self._path, error) from error

    def _load_volumes(self) -> None:
        self._volume_names = dict(self._query("SELECT id, name FROM volumes"))
        self._volume_ids = {name: number for number, name in self._volume_names.items()}

    def _row(self, values: Any) -> IndexRow:  # noqa: ANN401 -- SQLite's values have no static types
        (
            url, status, media_type, size_bytes, kind, location, fetched_at,
            volume, offset, length, body_bytes, body_digest,
        ) = values  # fmt: skip
        # A site has few media types and very many records.
        media_type = sys.intern(media_type)
        entry = Entry(url, status, media_type, size_bytes, _KINDS[kind], location, fetched_at)
        return IndexRow(
            entry, RecordPlace(self._volume_names[volume], offset, length), body_bytes, body_digest
        )


def _connect(path: Path, mode: str) -> tuple[sqlite3.Connection, int]:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    # The first look at a table finds out whether the file can be read at all.
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return connection, int(version)


def _for_writing(connection: sqlite3.Connection) -> sqlite3.Connection:
    # Readers may look on while we write, and a commit need not wait for the disk: after a power
    # cut the index is an older one, and the WARC files hold the rest.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _damaged(path: Path, error: Exception) -> ArchiveError:
    return ArchiveError(f"{path} cannot be read ({error}); {_how_to_rebuild(path)}")


def _how_to_rebuild(path: Path) -> str:
    return f"build it again with `coati archive reindex {path.parent}`"
