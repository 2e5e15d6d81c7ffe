"""Merge several runs into one database, with the site as a column.

The tables are made for reading, by Datasette, DuckDB or SQL: each row names its site, and ``sites`` says what
each run was. Links, groups and events stay in the runs, which hold them in full.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from coati.archive.exports.new_file import new_file
from coati.errors import UsageError
from coati.jobs.arguments import PathText, checked_arguments, texts_of
from coati.jobs.notebook_tables import rows_table
from coati.jobs.progress_bar import progress
from coati.jobs.run_summary import RunSummary
from coati.machine_errors import writing_to
from coati.runs.durable import sync_file
from coati.runs.errors import RunError
from coati.runs.layout import Layout, run_folders
from coati.runs.reader import RunReader
from coati.web.urls import host_of

OnMerged = Callable[[int, int], None]

_SITES = """
CREATE TABLE sites (
    name TEXT PRIMARY KEY,
    start_url TEXT NOT NULL,
    folder TEXT NOT NULL,
    types TEXT NOT NULL,
    strategy TEXT NOT NULL,
    started_at TEXT NOT NULL,
    stop_reason TEXT,
    requests INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    targets INTEGER NOT NULL,
    target_bytes INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    run_id TEXT NOT NULL UNIQUE
)
"""


class _Table(NamedTuple):
    """A table of the merged database: its columns with their types, and where a run has the rows."""

    name: str
    columns: str
    key: str
    source: str

    @property
    def create(self) -> str:
        site = "site TEXT NOT NULL REFERENCES sites (name)"
        return f"CREATE TABLE {self.name} ({site}, {self.columns}, PRIMARY KEY (site, {self.key}))"

    @property
    def insert(self) -> str:
        names = ", ".join(column.split()[0] for column in self.columns.split(","))
        # Names of our own, and nothing that a run holds.
        return f"INSERT INTO {self.name} (site, {names}) SELECT :site, {names} FROM {self.source}"  # noqa: S608


_TABLES = (
    _Table(
        "targets",
        "file TEXT, path TEXT, title TEXT, url TEXT, media_type TEXT, size_bytes INTEGER, fetched_at TEXT,"
        " found_on TEXT, anchor TEXT, row_text TEXT, heading TEXT, page_title TEXT, file_title TEXT,"
        " licence TEXT, modified TEXT, version INTEGER, sha256 TEXT, request INTEGER",
        "request",
        "(SELECT *, :files || file AS path FROM run.targets_with_provenance)",
    ),
    _Table(
        "pages",
        "url TEXT, title TEXT, status INTEGER, links INTEGER, new_links INTEGER, relevant INTEGER,"
        " fetched_at TEXT, missing TEXT, request INTEGER",
        "request",
        "(SELECT pages.*, requests.status, requests.finished_at AS fetched_at"
        " FROM run.pages JOIN run.requests ON requests.id = pages.request)",
    ),
    _Table(
        "requests",
        "id INTEGER, method TEXT, url TEXT, host TEXT, kind TEXT, status INTEGER, reason TEXT,"
        " media_type TEXT, size_bytes INTEGER, location TEXT, charged INTEGER, new_target INTEGER,"
        " score REAL, reward REAL, finished_at TEXT",
        "id",
        "run.requests WHERE observed_event IS NOT NULL",
    ),
    _Table(
        "skipped",
        "id INTEGER, url TEXT, reason TEXT, found_on TEXT",
        "id",
        "(SELECT skipped.id, skipped.url, skipped.reason, requests.url AS found_on"
        " FROM run.skipped LEFT JOIN run.requests ON requests.id = skipped.source)",
    ),
)

# With it, Datasette has a field to search for files by what they are called; it looks for these very quotes.
_SEARCH = """
CREATE INDEX targets_by_url ON targets (url);
CREATE INDEX targets_by_sha256 ON targets (sha256);
CREATE VIRTUAL TABLE targets_fts USING fts5
    (title, row_text, heading, page_title, file_title, file, content="targets");
INSERT INTO targets_fts (targets_fts) VALUES ('rebuild');
"""

_RUN_ID = "SELECT value FROM about WHERE name = 'run_id'"


class MergedSite(NamedTuple):
    """A run in a merged database: its name there, and what it has."""

    name: str
    folder: str
    start_url: str
    requests: int
    targets: int


class Merged(NamedTuple):
    """A merged database, and the runs in it."""

    file: Path
    sites: list[MergedSite]

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it."""
        return {"file": str(self.file), "sites": [site._asdict() for site in self.sites]}

    def _repr_html_(self) -> str:
        return rows_table(f"Runs in {self.file}", [site._asdict() for site in self.sites])


@checked_arguments
def merge(
    runs: PathText | Iterable[PathText],
    out: str | Path,
    *,
    overwrite: bool = False,
    on_progress: OnMerged | None = None,
    show_progress: bool | None = None,
) -> Merged:
    """Write runs into one new database; each of ``runs`` is the folder of a run, or holds such folders.

    The file is there whole or not at all. Raises `coati.errors.CoatiError` where one is not a run, is one of
    another version, or is given twice.
    """
    if Path(out).is_file() and not overwrite:
        raise UsageError(f"{out} already exists; --overwrite replaces it")
    folders = [folder for given in texts_of("runs", runs) for folder in _folders(Path(given))]
    if not folders:
        raise UsageError("nothing to merge: give the folders of runs")
    named = _named(folders)
    own = {Layout(folder).database.resolve() for folder in folders}
    if Path(out).resolve() in own:
        raise UsageError(f"{out} is the database of a run that is to be merged; choose another file")
    with new_file(Path(out), overwrite=overwrite) as partial:
        partial.unlink(missing_ok=True)
        with (
            closing(sqlite3.connect(partial, isolation_level=None, uri=True)) as database,
            progress("Merging", show_progress, on_progress) as report_progress,
        ):
            sites = _write(database, named, Path(out), report_progress)
        sync_file(partial)
    return Merged(Path(out), sites)


def _folders(given: Path) -> list[Path]:
    if not given.is_dir():
        raise UsageError(f"there is no folder {given}")
    found = list(run_folders(given))
    if not found:
        raise UsageError(f"there is no run in {given}, nor in the folders below it")
    return found


def _named(folders: Sequence[Path]) -> dict[str, Path]:
    """Name each run; raises where one is there twice, or cannot be read."""
    ids: dict[str, Path] = {}
    named: dict[str, Path] = {}
    for folder in folders:
        with RunReader(folder) as run:
            (run_id,) = run.connection.execute(_RUN_ID).fetchone()
            urls = [str(url) for url in run.settings.get("urls", ())]
        if run_id in ids:
            raise UsageError(f"{ids[run_id]} and {folder} are the same run; give it once")
        ids[run_id] = folder
        named[_free_name(_site_name(urls, folder), folder, named)] = folder
    return named


def _site_name(urls: Sequence[str], folder: Path) -> str:
    """Return the host of a run's site, with its port; a run over several is named after its folder."""
    hosts = {host_of(url) for url in urls}
    one_site = len(hosts) == 1 and urls[0].startswith("http")
    return urlsplit(urls[0]).netloc if one_site else folder.absolute().name


def _free_name(name: str, folder: Path, taken: Iterable[str]) -> str:
    known = set(taken)
    if name in known:
        name = f"{name} ({folder.absolute().name})"
    number, free = 2, name
    while free in known:
        number, free = number + 1, f"{name} {number}"
    return free


def _write(
    database: sqlite3.Connection, named: dict[str, Path], out: Path, on_progress: OnMerged
) -> list[MergedSite]:
    # Nobody else has the file yet, and a kill leaves none: neither a journal nor the disk is waited for.
    database.execute("PRAGMA journal_mode = OFF")
    database.execute("PRAGMA synchronous = OFF")
    for create in (_SITES, *(table.create for table in _TABLES)):
        database.execute(create)
    sites = []
    for done, (name, folder) in enumerate(named.items(), start=1):
        sites.append(_add(database, name, folder, out))
        on_progress(done, len(named))
    database.executescript(_SEARCH)
    return sites


def _add(database: sqlite3.Connection, name: str, folder: Path, out: Path) -> MergedSite:
    summary = RunSummary.read(folder)
    shown = os.path.relpath(folder.absolute(), out.absolute().parent)
    with RunReader(folder) as run:
        database.execute("ATTACH ? AS run", (f"{run.open_file.as_uri()}?mode=ro",))
        try:
            with writing_to(out):
                _copy(database, name, shown, summary)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            raise RunError(f"the database in {folder} cannot be read: {error}") from error
        finally:
            with suppress(sqlite3.Error):
                database.execute("DETACH run")
    return MergedSite(name, str(folder), summary.start_url, summary.requests, summary.targets)


def _copy(database: sqlite3.Connection, name: str, shown: str, summary: RunSummary) -> None:
    """Copy the tables of the run that is attached."""
    (run_id,) = database.execute("SELECT value FROM run.about WHERE name = 'run_id'").fetchone()
    row = (
        *(name, summary.start_url, shown, summary.types, summary.strategy, summary.started_at),
        *(summary.stop_reason, summary.requests, summary.pages, summary.targets, summary.target_bytes),
        *(summary.failures, run_id),
    )
    database.execute(f"INSERT INTO sites VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
    for table in _TABLES:
        database.execute(table.insert, {"site": name, "files": f"{shown}/files/"})
