"""Every request of a replay, in columns."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from coati.model import Method, Outcome, Refused, Request, Settlement, is_wanted
from coati.runs.durable import write_whole


class Step(NamedTuple):
    """One request: its URL, why it was chosen, its outcome, and its reward in the end."""

    step: int
    method: str
    url: str
    status: int
    size_bytes: int
    kind: str
    arm: int | None
    score: float | None
    reward: float | None
    targets: int


class Trace:
    """The requests of one run, and the running totals that measures are made of."""

    def __init__(self) -> None:
        self._requests: list[Request] = []
        self._kinds: list[str] = []
        self._statuses = array("I")
        self._rewards: dict[int, float] = {}
        self._step_of: dict[int, int] = {}
        self._got: set[str] = set()
        self.sizes = array("Q")
        self.targets = array("I")
        self.target_bytes = array("Q")
        self.refused = 0

    def __len__(self) -> int:
        """Count the requests; what was refused cost none."""
        return len(self._requests)

    def add(self, request: Request, outcome: Outcome) -> None:
        """Write one answered request down."""
        if isinstance(outcome, Refused):
            self.refused += 1
            return
        targets, volume = (self.targets[-1], self.target_bytes[-1]) if self.targets else (0, 0)
        if is_wanted(outcome) and request.method is Method.GET and request.url not in self._got:
            self._got.add(request.url)
            targets += 1
            volume += outcome.size_bytes
        self._step_of[request.id] = len(self._requests)
        self._requests.append(request)
        self._kinds.append(outcome.kind.value)
        self._statuses.append(outcome.status)
        self.sizes.append(outcome.size_bytes)
        self.targets.append(targets)
        self.target_bytes.append(volume)

    def settle(self, settlement: Settlement) -> None:
        """Write down what a page brought."""
        step = self._step_of.get(settlement.request_id)
        if step is not None:
            self._rewards[step] = settlement.reward

    def steps(self) -> Iterator[Step]:
        """Return the requests in order."""
        for step, request in enumerate(self._requests):
            yield Step(
                step + 1,
                request.method.value,
                request.url,
                self._statuses[step],
                self.sizes[step],
                self._kinds[step],
                request.arm,
                request.score,
                self._rewards.get(step),
                self.targets[step],
            )

    def write_csv(self, file: Path) -> None:
        """Write the requests as CSV."""
        lines = io.StringIO(newline="")
        writer = csv.writer(lines)
        writer.writerow(Step._fields)
        writer.writerows(self.steps())
        write_whole(file, [lines.getvalue().encode()])
