"""The contract's verbs over a queue of tasks: what all strategies of discovery share.

A strategy of this family says what to do with the answer to a task, and what to do next when no task is left
(`_plan_next`). Everything that changes it happens in `observe`, and in the request that a choice makes, so
that a choice that comes to nothing leaves no trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.model import Deferred, Method, Request
from coati.strategies.deferrals import Deferrals
from coati.strategies.discovery.tasks import TaskQueue, task_of
from coati.web.urls import url_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coati.model import Hosts, Later, Outcome, Settlement
    from coati.strategies.discovery.tasks import Task
    from coati.strategies.state import State


class TaskStrategy:
    """Requests tasks one after the other; a subclass makes them."""

    def __init__(self) -> None:
        self._queue = TaskQueue()
        self._in_flight: dict[int, Task] = {}
        self._deferred: Deferrals[Task] = Deferrals()
        self._wanted: set[int] = set()
        self._turn = 0

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Take a deferred task that is due, else the first whose host may get a request."""
        task = self._deferred.take(now, idle=not self._queue and not self._in_flight)
        if task is None:
            task = self._queue.pop(hosts)
        return self._deferred.answer() if task is None else self._request(task)

    def redo(self, request: Request, now: float) -> None:
        """Take the task that a logged request was made for."""
        task = self._deferred.take_logged(request)
        self._request(self._queue.take(request.url) if task is None else task)

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Learn from an answer; where nothing is left to request, plan what comes next."""
        task = self._in_flight.pop(request_id)
        if isinstance(outcome, Deferred):
            self._deferred.push(Method.GET, task.url, task, outcome.until)
            settled: Sequence[Settlement] = ()
        else:
            settled = self._answered(task, request_id, outcome)
        self._plan_while_idle()
        return settled

    def _answered(self, task: Task, request_id: int, outcome: Outcome) -> Sequence[Settlement]:
        raise NotImplementedError

    def _plan_next(self) -> bool:
        """Make further tasks; False where there is nothing more to do."""
        raise NotImplementedError

    def _after_choice(self, task: Task) -> None:
        """Note that a request was made."""

    def _plan_while_idle(self) -> None:
        while not self._queue and not self._in_flight and self._plan_next():
            pass

    def _want(self, task: Task) -> bool:
        """Queue a task, unless its URL was wanted before; return whether it was queued."""
        key = url_hash(task.url)
        if key in self._wanted:
            return False
        self._wanted.add(key)
        self._queue.push(task)
        return True

    def _forget_wanted(self, urls: Iterable[str]) -> None:
        """Forget URLs that were dropped before they were requested, so that they may be wanted again."""
        self._wanted.difference_update(map(url_hash, urls))

    def _request(self, task: Task) -> Request:
        request = Request(self._turn, Method.GET, task.url, task.arm, task.score)
        self._in_flight[self._turn] = task
        self._turn += 1
        self._after_choice(task)
        return request

    def save(self) -> State:
        """Return the tasks that wait and those in flight."""
        return {
            "queue": self._queue.save(),
            "in_flight": [[number, list(task)] for number, task in self._in_flight.items()],
            "deferred": self._deferred.save(list),
            "wanted": sorted(self._wanted),
            "turn": self._turn,
        }

    def load(self, state: State) -> None:
        self._queue = TaskQueue()
        self._queue.load(state["queue"])
        self._in_flight = {number: task_of(task) for number, task in state["in_flight"]}
        self._deferred.load(state["deferred"], task_of)
        self._wanted = set(state["wanted"])
        self._turn = state["turn"]
