"""The file of a local search engine: the words of pages for full-text search, and the links between sites.

SQLite with FTS5, so that nothing has to be installed and anyone can look inside. A new index is written
beside its place and moved there when it is whole.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from coati.errors import ConfigError
from coati.machine_errors import writing_to
from coati.version import __version__
from coati.web.page_words import words_in
from coati.web.urls import site_of, url_hash

FILE_NAME = "index.sqlite"
# What a kill leaves of an index; it is written again.
UNFINISHED_NAME = f"{FILE_NAME}.unfinished"

# Raised whenever an older Coati could not read what this one writes.
VERSION = 1
# "CoaS" in ASCII.
APPLICATION_ID = 0x436F6153

_SNIPPET_CHARS = 240
_TERMS_KEPT = 24
_MAX_LINKS_PER_PAGE = 2000
_SIGN = 1 << 64

_TABLES = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE pages (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    site TEXT NOT NULL,
    title TEXT NOT NULL,
    snippet TEXT NOT NULL,
    terms TEXT NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5 (
    title, text, content = '', detail = 'column', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'row');
CREATE TABLE links (
    target INTEGER NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (target, page)
) WITHOUT ROWID;
CREATE TABLE site_links (
    site TEXT NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (site, page)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class PageText:
    """What an index takes of a page; ``links`` are all its URLs."""

    url: str
    title: str
    text: str
    links: tuple[str, ...] = ()


def signed_hash(url: str) -> int:
    """Return the hash of a URL as SQLite keeps it."""
    number = url_hash(url)
    return number - _SIGN if number >= _SIGN // 2 else number


def write_index(
    folder: Path, pages: Iterable[PageText], sources: Iterable[str], progress: Callable[[int], None]
) -> int:
    """Write an index of pages into a folder, in place of one that is there; return how many pages it has.

    Of two pages with one URL the first counts.
    """
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / UNFINISHED_NAME
    unfinished.unlink(missing_ok=True)
    try:
        with writing_to(folder):
            written = _write(unfinished, pages, sources, progress)
        unfinished.replace(folder / FILE_NAME)
    finally:
        unfinished.unlink(missing_ok=True)
    return written


def _write(
    file: Path, pages: Iterable[PageText], sources: Iterable[str], progress: Callable[[int], None]
) -> int:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        # A crash leaves an unfinished file, which is written again: no need to wait for the disk.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(_TABLES)
        connection.execute("BEGIN")
        written = 0
        for page in pages:
            written += _add(connection, page)
            progress(written)
        about = {"coati": __version__, "pages": str(written), "sources": "\n".join(sources)}
        connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        connection.execute("COMMIT")
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
    return written


def _add(connection: sqlite3.Connection, page: PageText) -> int:
    site = site_of(page.url)
    terms = " ".join(word for word, _ in Counter(words_in(page.text)).most_common(_TERMS_KEPT))
    snippet = page.text.removeprefix(page.title).strip()[:_SNIPPET_CHARS]
    row = connection.execute(
        "INSERT OR IGNORE INTO pages (url, site, title, snippet, terms) VALUES (?, ?, ?, ?, ?)",
        (page.url, site, page.title, snippet, terms),
    )
    if row.rowcount == 0:
        return 0
    number = row.lastrowid
    connection.execute(
        "INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)", (number, page.title, page.text)
    )
    # Links within a site are not recommendations of it.
    outside = [url for url in page.links[:_MAX_LINKS_PER_PAGE] if site_of(url) != site]
    connection.executemany(
        "INSERT OR IGNORE INTO links VALUES (?, ?)", ((signed_hash(url), number) for url in outside)
    )
    connection.executemany(
        "INSERT OR IGNORE INTO site_links VALUES (?, ?)", ((site_of(url), number) for url in outside)
    )
    return 1


def open_index(place: Path) -> sqlite3.Connection:
    """Open an index for reading, by its folder or its file; raise `ConfigError` that says what to do."""
    path = place / FILE_NAME if place.is_dir() else place
    again = f"make it with `coati search index ARCHIVE... --out {place}`"
    if not path.is_file():
        raise ConfigError(f"there is no search index in {place}: {again}")
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if (application, version) == (APPLICATION_ID, VERSION):
            connection.execute("SELECT 1 FROM pages, words, links, site_links LIMIT 0")
    except sqlite3.DatabaseError as error:
        connection.close()
        raise ConfigError(f"{path} is not a search index ({error}): {again}") from None
    if application != APPLICATION_ID or version != VERSION:
        connection.close()
        if application != APPLICATION_ID:
            # An archive, for one, has a file of this name: nothing may be written over it.
            wanted = "give the folder that `coati search index ARCHIVE... --out FOLDER` wrote"
            raise ConfigError(f"{path} is not a search index: {wanted}")
        raise ConfigError(
            f"{path} is a search index of version {version}, and this Coati reads version {VERSION}: {again}"
        )
    return connection
