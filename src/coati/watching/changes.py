"""What changed on the watched sites, computed from the log of the watch.

A file is *new* that the watch was the first to take, *changed* where its content is another one than before,
and *gone* after three cycles in a row in which the server said that it is not there. Each change has an id
that follows from what it is, so that one that was worked out again is known again.
"""

from __future__ import annotations

import hashlib
from itertools import groupby
from typing import TYPE_CHECKING

from coati.runs.changes_file import Change
from coati.strategies.revisits.file_checks import MISSES_UNTIL_GONE
from coati.strategies.revisits.site_watch import CHECK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coati.runs.reader import RunReader
    from coati.watching.known_pages import KnownFile

_TARGETS = """
SELECT targets.*, requests.last_modified FROM targets JOIN requests ON requests.id = targets.request
ORDER BY targets.url, targets.request
"""
_CHECKS = """
SELECT url, kind, status, finished_at, id FROM requests
WHERE arm = ? AND observed_event IS NOT NULL AND kind IS NOT 'deferred' ORDER BY url, observed_event
"""


def find_changes(run: RunReader, known: Mapping[str, KnownFile]) -> list[Change]:
    """Work out all changes of a watch so far, in the order in which they were noticed."""
    found = [*_versions(run, known), *_gone(run)]
    return sorted(found, key=lambda change: (change.seen_at, change.url))


def _versions(run: RunReader, known: Mapping[str, KnownFile]) -> Iterator[Change]:
    for url, rows in groupby(run.connection.execute(_TARGETS), key=lambda row: str(row["url"])):
        before = known[url].sha256 if url in known else None
        for row in rows:
            digest = row["sha256"]
            if digest != before:
                what = "new" if before is None else "changed"
                yield Change(
                    # With the version: a file may change back, and once more.
                    _id(what, url, digest, str(row["version"])),
                    what,
                    url,
                    row["fetched_at"],
                    row["title"] or "",
                    row["file"],
                    row["found_on"] or "",
                    row["media_type"],
                    row["size_bytes"],
                    digest,
                    row["modified"] or row["last_modified"] or "",
                )
            before = digest


def _gone(run: RunReader) -> Iterator[Change]:
    checks = run.connection.execute(_CHECKS, (CHECK,))
    for url, rows in groupby(checks, key=lambda row: str(row["url"])):
        misses = 0
        for row in rows:
            misses = misses + 1 if row["kind"] == "failure" and row["status"] in {404, 410} else 0
            if misses == MISSES_UNTIL_GONE:
                yield Change(_id("gone", url, str(row["id"])), "gone", url, row["finished_at"])


def _id(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]
