"""Skipped URLs, each listed once with its reason, and counted by reason."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coati.runs.outcome_rows import storable
from coati.runs.seen_urls import SeenUrls

if TYPE_CHECKING:
    from sqlite3 import Connection

    from coati.runs.skip_reasons import Reason

# How many URLs are listed for one reason. A large site may link to a million pages elsewhere; after this many
# they are only counted, and one that is met again may then be counted again.
MAX_LISTED = 50_000


class Skips:
    """What is skipped, kept until `write` puts it into the database with whatever else is written."""

    def __init__(self, connection: Connection) -> None:
        self._seen = SeenUrls(url for (url,) in connection.execute("SELECT url FROM skipped"))
        self._listed = Counter(dict(connection.execute("SELECT reason, count(*) FROM skipped GROUP BY 1")))
        self._rows: list[tuple[str, str, int | None]] = []
        self._counts: Counter[str] = Counter()

    def add(self, url: str, reason: Reason, source: int | None) -> None:
        url = storable(url)
        if url in self._seen:
            return
        self._counts[reason.value] += 1
        if self._listed[reason.value] < MAX_LISTED:
            self._listed[reason.value] += 1
            self._seen.add((url,))
            self._rows.append((url, reason.value, source))

    def write(self, connection: Connection) -> None:
        """Write what is pending, within a transaction of the caller; `written` says that it held."""
        if not self._counts:
            return
        connection.executemany("INSERT INTO skipped (url, reason, source) VALUES (?, ?, ?)", self._rows)
        connection.executemany(
            "INSERT INTO skip_counts VALUES (?, ?) ON CONFLICT DO UPDATE SET urls = urls + excluded.urls",
            self._counts.items(),
        )

    def written(self) -> None:
        """Forget what was pending: its transaction is through."""
        self._rows.clear()
        self._counts.clear()
