"""Requests of a run that no strategy chose: sitemaps. They cost what others cost, and stand in one table.

Their ids are -1, -2 and so on, and their events lie before all events of the log. So whoever adds up the
table gets what the run cost, and whoever redoes the log never meets them. Their bodies wait in
``state/errands`` until the run has its first page, which then holds the links: a run that is killed before
asks for nothing twice.
"""

from __future__ import annotations

import shutil
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple

from coati.model import Method, Other, Page, Request, Target
from coati.runs.durable import write_synced
from coati.runs.outcomes import OutcomeRow, from_row, to_row
from coati.runs.times import to_iso

if TYPE_CHECKING:
    from pathlib import Path
    from sqlite3 import Connection

    from coati.model import Outcome
    from coati.runs.fetched import Fetched

# Before every event of a log, with room for more errands than any site has sitemaps.
_BEFORE_ALL: Final = -1_000_000

_ADD = """
INSERT INTO requests (strategy, strategy_id, purpose, host,
    id, url, method, kind, status, size_bytes, media_type, location, reason,
    charged, chosen_at, started_at, finished_at, chosen_event, observed_event)
VALUES ('', 0, 'sitemap', '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_ALL = """
SELECT id, url, method, charged, kind, status, size_bytes, media_type, location, reason
FROM requests WHERE id < 0 ORDER BY id DESC
"""


class PastErrand(NamedTuple):
    """A request that was made in an earlier session; a body only where one came and is still at hand."""

    request: Request
    charged: int
    outcome: Outcome
    body: bytes | None


class Errands:
    """The errands of one run; `add` is called within a transaction."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder

    def past(self) -> list[PastErrand]:
        """Give what was asked for, in order."""
        return [
            PastErrand(
                Request(number, Method(method), url),
                charged,
                from_row(OutcomeRow(*columns), []),
                self._body(number),
            )
            for number, url, method, charged, *columns in self._connection.execute(_ALL)
        ]

    def keep_body(self, fetched: Fetched) -> None:
        """Put a body aside, before it is noted."""
        if fetched.body is not None:
            self._folder.mkdir(exist_ok=True)
            write_synced(self._file(fetched.request.id), [zlib.compress(fetched.body, 1)])

    def add(self, fetched: Fetched) -> OutcomeRow:
        """Note one."""
        request = fetched.request
        row = to_row(_as_errand(fetched.outcome))[:6]
        event = _BEFORE_ALL - request.id
        started_at, finished_at = to_iso(fetched.started_at), to_iso(fetched.finished_at)
        values = (
            request.id, request.url, request.method.value, *row, fetched.charged,
            started_at, started_at, finished_at, event, event,
        )  # fmt: skip
        self._connection.execute(_ADD, values)
        return to_row(_as_errand(fetched.outcome))

    def forget_bodies(self) -> None:
        """Remove what was put aside."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _body(self, number: int) -> bytes | None:
        try:
            return zlib.decompress(self._file(number).read_bytes())
        except (OSError, zlib.error):
            return None

    def _file(self, number: int) -> Path:
        return self._folder / str(-number)


def _as_errand(outcome: Outcome) -> Outcome:
    """Say what came without calling it a page or a target of the run, which it is not."""
    if isinstance(outcome, Target):
        return Other(outcome.status, outcome.size_bytes, outcome.media_type)
    return Other(outcome.status, outcome.size_bytes, "text/html") if isinstance(outcome, Page) else outcome
