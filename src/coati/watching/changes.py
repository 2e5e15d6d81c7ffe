"""What changed on the watched sites: worked out from the log of the watch, and written down once each.

A file is *new* that the watch was the first to take, *changed* where its content is another one than before,
and *gone* after three cycles in a row in which the server said that it is not there. Each change has an id
that follows from what it is, so that one that was worked out again is known again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from coati.runs.durable import append_lines
from coati.strategies.revisits.file_checks import MISSES_UNTIL_GONE
from coati.strategies.revisits.site_watch import CHECK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from coati.runs.reader import RunReader
    from coati.watching.known import KnownFile

FILE_NAME = "changes.jsonl"

_TARGETS = """
SELECT targets.*, requests.last_modified FROM targets JOIN requests ON requests.id = targets.request
ORDER BY targets.url, targets.request
"""
_CHECKS = """
SELECT url, kind, status, finished_at, id FROM requests
WHERE arm = ? AND observed_event IS NOT NULL AND kind IS NOT 'deferred' ORDER BY url, observed_event
"""


@dataclass(frozen=True, slots=True)
class Change:
    """One change; ``seen_at`` is when the watch noticed it, ``dated`` what the site says of the file."""

    id: str
    what: str
    url: str
    seen_at: str
    title: str = ""
    file: str = ""
    found_on: str = ""
    media_type: str = ""
    size_bytes: int | None = None
    sha256: str = ""
    dated: str = ""

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can hold it, without what is not known."""
        return {name: value for name, value in asdict(self).items() if value not in {"", None}}


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
                    _id(what, url, digest),
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
            misses = misses + 1 if row["kind"] == "broken" and row["status"] in {404, 410} else 0
            if misses == MISSES_UNTIL_GONE:
                yield Change(_id("gone", url, str(row["id"])), "gone", url, row["finished_at"])


def _id(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def read_changes(folder: Path) -> list[Change]:
    """Read the changes that were written down; a last line that a power cut left unfinished is left out."""
    path = folder / FILE_NAME
    if not path.is_file():
        return []
    changes = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            changes.append(Change(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return changes


def write_new(folder: Path, changes: list[Change]) -> list[Change]:
    """Write down the changes that are not there yet, and return them."""
    written = {change.id for change in read_changes(folder)}
    new = [change for change in changes if change.id not in written]
    if new:
        lines = "".join(json.dumps(change.as_json(), ensure_ascii=False) + "\n" for change in new)
        append_lines(folder / FILE_NAME, lines.encode())
    return new
