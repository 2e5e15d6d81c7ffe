"""Files against requests of a run, as a curve that fits on a page however long the run was."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlite3 import Connection

    from coati.runs.totals import Totals

# More points than a chart has dots would only make the page larger.
MAX_POINTS = 600

# The share of what was found that marks how quickly it was found.
MOST = 0.9

_STEPS = """
SELECT charged, new_target, size_bytes
FROM requests WHERE observed_event IS NOT NULL ORDER BY observed_event
"""


class CurvePoint(NamedTuple):
    """What was reached after this many requests; ``other_bytes`` are those of everything but targets."""

    requests: int = 0
    targets: int = 0
    target_bytes: int = 0
    other_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Curve:
    """Points from the first request to the last, and where 90 % of what was found was in."""

    points: tuple[CurvePoint, ...]
    most: CurvePoint | None


def read_curve(connection: Connection, totals: Totals) -> Curve:
    """Read the log once, and keep as many points as can be seen."""
    every = max(1, math.ceil(totals.requests / MAX_POINTS))
    wanted = math.ceil(MOST * totals.targets)
    requests = targets = target_bytes = other_bytes = kept = 0
    points = [CurvePoint()]
    most: CurvePoint | None = None
    for charged, is_target, size in connection.execute(_STEPS):
        requests += charged
        if is_target:
            targets += 1
            target_bytes += size
        else:
            other_bytes += size or 0
        reached = is_target and targets == wanted
        if reached or requests >= kept + every:
            points.append(CurvePoint(requests, targets, target_bytes, other_bytes))
            kept = requests
            most = points[-1] if reached else most
    last = CurvePoint(requests, targets, target_bytes, other_bytes)
    if points[-1] != last:
        points.append(last)
    return Curve(tuple(points), most)
