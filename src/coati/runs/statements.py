"""The statements of relevant pages, stored in the run's database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from coati.markup.statements import Statement
from coati.runs.errors import explaining_errors
from coati.runs.layout import Layout, require_run
from coati.runs.lock import lock_run
from coati.runs.schema import open_version

_WAITING = """
SELECT requests.id, requests.url, pages.warc_offset, pages.warc_length, requests.media_type, pages.facts
FROM requests JOIN pages ON pages.request = requests.id
WHERE requests.new_target AND pages.relevant AND pages.warc_offset IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM extractions WHERE extractions.page = requests.id)
ORDER BY requests.id
"""
_ADD = "INSERT INTO statements VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_TOTALS = "SELECT count(*), coalesce(sum(statements), 0), count(failed) FROM extractions"
_DONE = "INSERT INTO extractions VALUES (?, ?, ?)"
_ALL = """
SELECT requests.url, requests.finished_at, statements.page, statements.syntax, statements.subject,
       statements.predicate, statements.object, statements.object_kind, statements.language,
       statements.datatype
FROM statements JOIN requests ON requests.id = statements.page ORDER BY statements.page, statements.rowid
"""


class RelevantPage(NamedTuple):
    """A page that is still to be read in full: its number, and where its bytes stand in the WARC file."""

    number: int
    url: str
    offset: int
    length: int
    media_type: str
    syntaxes: tuple[str, ...]


class KeptStatement(NamedTuple):
    """A statement with the page that makes it; blank nodes have names that no other page uses."""

    page_url: str
    fetched_at: str
    page: int
    syntax: str
    subject: str
    predicate: str
    object: str
    object_kind: str
    language: str | None
    datatype: str | None


class StatementTable:
    """Reads which pages wait, and keeps what they say; nobody else can write the run meanwhile."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def waiting(self) -> list[RelevantPage]:
        """Return the relevant pages that were not read in full yet."""
        return [
            RelevantPage(number, url, offset, length, media_type or "", _syntaxes(facts))
            for number, url, offset, length, media_type, facts in self._connection.execute(_WAITING)
        ]

    def totals(self) -> tuple[int, int, int]:
        """Return the pages that were read, their statements, and the pages that were not read whole."""
        pages, statements, failed = self._connection.execute(_TOTALS).fetchone()
        return pages, statements, failed

    def keep(self, page: int, statements: Iterable[Statement], failed: Iterable[str]) -> None:
        """Keep what a page says, all of it or nothing."""
        rows = [
            (
                page,
                statement.syntax,
                _of_page(page, statement.subject),
                statement.predicate,
                _of_page(page, statement.object) if statement.object_kind == "blank" else statement.object,
                statement.object_kind,
                statement.language or None,
                statement.datatype or None,
            )
            for statement in statements
        ]
        with self._connection:
            self._connection.execute("BEGIN")
            self._connection.executemany(_ADD, rows)
            self._connection.execute(_DONE, (page, len(rows), ",".join(failed) or None))


@contextmanager
def statement_table(folder: Path) -> Iterator[StatementTable]:
    """Open the statements of a run that nobody writes; raises `coati.runs.errors.RunError` otherwise."""
    require_run(folder)
    layout = Layout(folder)
    lock = lock_run(layout)
    try:
        open_version(layout.database)
        connection = sqlite3.connect(layout.database, isolation_level=None)
        try:
            with explaining_errors(folder):
                yield StatementTable(connection)
        finally:
            connection.close()
    finally:
        lock.release()


def all_statements(connection: sqlite3.Connection) -> Iterator[KeptStatement]:
    """Return the statements of a run, page by page."""
    return (KeptStatement(*row) for row in connection.execute(_ALL))


def _of_page(page: int, node: str) -> str:
    return f"_:p{page}{node[2:]}" if node.startswith("_:") else node


def _syntaxes(facts: str | None) -> tuple[str, ...]:
    markup = json.loads(facts).get("markup") if facts else None
    return tuple(markup["statements"]) if isinstance(markup, dict) else ()
