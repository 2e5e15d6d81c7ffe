"""The events of a client, as JSON: one object per event."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

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
