"""Which pages of a run a browser rendered: a table that is created with the first one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

    from coati.runs.fetched import RenderNote

# Runs of earlier versions have no such table, and need none before their first rendered page.
_MAKE = """
CREATE TABLE IF NOT EXISTS rendered (
    page INTEGER PRIMARY KEY REFERENCES requests (id),
    requests INTEGER NOT NULL,
    seconds REAL NOT NULL,
    failed TEXT
)
"""
_THERE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'rendered'"
_ADD = "INSERT INTO rendered VALUES (?, ?, ?, ?)"
_COUNT = "SELECT count(*), coalesce(sum(requests), 0), count(failed) FROM rendered"


def note_rendering(connection: sqlite3.Connection, number: int, rendering: RenderNote) -> None:
    """Log how the page of a request was rendered."""
    if connection.execute(_THERE).fetchone() is None:
        connection.execute(_MAKE)
    seconds, failed = round(rendering.seconds, 3), rendering.failed or None
    connection.execute(_ADD, (number, rendering.requests, seconds, failed))


def count_renderings(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Return how many pages were rendered, the requests that they made, and how many of them failed."""
    if connection.execute(_THERE).fetchone() is None:
        return 0, 0, 0
    pages, requests, failed = connection.execute(_COUNT).fetchone()
    return pages, requests, failed
