"""The events of a client, as JSON: one object per event."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from coati.live.event_files import lines_appended
from coati.times import to_iso


class FleetEventKind(StrEnum):
    """The kinds of events."""

    SENT = "sent"
    ENDED = "ended"
    HELD = "held"
    DIED = "died"
    FAILED = "failed"
    QUARANTINED = "quarantined"
    DAMAGED = "damaged"
    LEFT_OUT = "left_out"
    NO_WORKERS = "no_workers"
    STOPPING = "stopping"


class FleetEvent(NamedTuple):
    """One thing that happened to a site, or to a worker; ``at`` is in seconds since the epoch."""

    at: float
    what: FleetEventKind
    data: Mapping[str, object]

    def line(self) -> str:
        """Write it as one line of JSON."""
        return json.dumps({"at": to_iso(self.at), "what": self.what.value, **self.data})


OnFleetEvent = Callable[[FleetEvent], None]


@contextmanager
def events_appended(file: Path | None) -> Iterator[OnFleetEvent]:
    """Append each event to a file, one line each; without a file, or without an event, none is made."""
    if file is None:
        yield lambda _event: None
        return
    is_new = not file.exists()
    with lines_appended("events", file) as append:
        try:
            yield lambda event: append(event.line())
        finally:
            # Nothing has begun, such as where there is no cluster.
            if is_new and not file.stat().st_size:
                file.unlink()
