"""What could be reached at best: strategies that know the site. References for others, not crawlers.

OMNISCIENT requests the targets and nothing else. No crawler can do that, since it must find its links.
CLAIRVOYANT knows the graph, and pays for the pages on the way: along the breadth-first tree, a page's score
is the new targets on the unfetched part of its path from the start, divided by the pages there. The best
path is fetched, each page followed at once by its new targets. It is greedy: a reference, not a proof.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from coati.model import Deferred, Kind, Method, Request
from coati.strategies.deferrals import Deferrals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from coati.model import Hosts, Later, Outcome, Settlement
    from coati.strategies.state import State
    from coati.strategies.truth import SiteTruth


class PlannedStrategy:
    """Requests URLs in an order that was fixed beforehand."""

    def __init__(self, plan: Iterable[str], label: str) -> None:
        self._plan = deque(plan)
        self._label = label
        self._in_flight: dict[int, str] = {}
        self._deferred: Deferrals[str] = Deferrals()
        self._turn = 0

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Take the next URL of the plan."""
        url = self._deferred.take(now, idle=not self._plan and not self._in_flight)
        if url is None:
            if not self._plan:
                return self._deferred.answer()
            url = self._plan.popleft()
        return self._request(url)

    def redo(self, request: Request, now: float) -> None:
        """Take a logged URL out of the plan."""
        if self._deferred.take_logged(request) is None:
            self._plan.remove(request.url)
        self._request(request.url)

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Learn nothing."""
        url = self._in_flight.pop(request_id)
        if isinstance(outcome, Deferred):
            self._deferred.push(Method.GET, url, url, outcome.until)
        return ()

    def save(self) -> State:
        """Return what is left of the plan."""
        return {
            "plan": list(self._plan),
            "in_flight": list(self._in_flight.items()),
            "deferred": self._deferred.save(str),
            "turn": self._turn,
        }

    def load(self, state: State) -> None:
        """Take over what was left of a plan."""
        self._plan = deque(state["plan"])
        self._in_flight = dict(state["in_flight"])
        self._deferred.load(state["deferred"], str)
        self._turn = state["turn"]

    def _request(self, url: str) -> Request:
        request = Request(self._turn, Method.GET, url)
        self._in_flight[self._turn] = url
        self._turn += 1
        return request

    def arm_label(self, arm: int) -> str:
        """Say what the plan is."""
        return f"{self._label} ({arm})"


def omniscient(truth: SiteTruth) -> PlannedStrategy:
    """Request the targets alone."""
    return PlannedStrategy((truth.urls[n] for n in _of_kind(truth, Kind.TARGET)), "the targets alone")


def clairvoyant(truth: SiteTruth) -> PlannedStrategy:
    """Take the path with the best yield, again and again, until all targets are in."""
    return PlannedStrategy((truth.urls[n] for n in _Greedy(truth).order()), "the best path")


def _of_kind(truth: SiteTruth, *kinds: Kind) -> list[int]:
    return [number for number, kind in enumerate(truth.kinds) if kind in kinds]


class _Greedy:
    """The greedy order over the breadth-first tree.

    Only pages on the way to some target matter. They are renumbered densely in breadth-first order, so that
    a parent comes before its children and one pass per level gives the score of every path at once.
    """

    def __init__(self, truth: SiteTruth) -> None:
        self._truth = truth
        targets = set(_of_kind(truth, Kind.TARGET))
        # Locations of redirects count as links of the redirecting URL.
        self._targets_of = {
            number: [child for child in truth.children[number].tolist() if child in targets]
            for number in _of_kind(truth, Kind.PAGE, Kind.REDIRECT)
        }
        wanted: set[int] = set()
        for number, found in self._targets_of.items():
            node = number if found else -1
            while node >= 0 and node not in wanted:
                wanted.add(node)
                node = int(truth.parent[node])
        self._nodes = sorted(wanted)
        place = {node: i for i, node in enumerate(self._nodes)}
        self._parents = np.array([place.get(int(truth.parent[n]), -1) for n in self._nodes], np.int64)
        self._levels = _levels(self._parents)
        self._new = np.array([len(self._targets_of[n]) for n in self._nodes], np.float64)
        self._unfetched = np.ones(len(self._nodes))
        self._linked_from: dict[int, list[int]] = {}
        for node in self._nodes:
            for target in self._targets_of[node]:
                self._linked_from.setdefault(target, []).append(place[node])

    def order(self) -> Iterator[int]:
        """Return the URLs' numbers in the order of fetching."""
        fetched_targets: set[int] = set()
        while True:
            best = self._best()
            if best is None:
                return
            for place in self._path(best):
                node = self._nodes[place]
                self._unfetched[place] = 0
                yield node
                for target in self._targets_of[node]:
                    if target not in fetched_targets:
                        fetched_targets.add(target)
                        for source in self._linked_from[target]:
                            self._new[source] -= 1
                        yield target

    def _best(self) -> int | None:
        """Find the page whose unfetched path yields most per page; of equals, the first breadth-first."""
        if not self._nodes:
            return None
        gain = self._new * self._unfetched
        length = self._unfetched.copy()
        for level in self._levels:
            above = self._parents[level]
            gain[level] += gain[above]
            length[level] += length[above]
        scores = np.where(self._unfetched > 0, gain / np.maximum(length, 1), 0.0)
        best = int(scores.argmax())
        return best if scores[best] > 0 else None

    def _path(self, place: int) -> list[int]:
        path = []
        while place >= 0 and self._unfetched[place]:
            path.append(place)
            place = int(self._parents[place])
        return path[::-1]


def _levels(parents: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """List the nodes of each depth below the root."""
    depth = np.zeros(len(parents), np.int64)
    for node, parent in enumerate(parents.tolist()):
        if parent >= 0:
            depth[node] = depth[parent] + 1
    deepest = int(depth.max()) if len(depth) else 0
    return [np.flatnonzero(depth == level) for level in range(1, deepest + 1)]
