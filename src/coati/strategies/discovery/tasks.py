"""What discovery wants to request next: queries, then pages that were found, then pages within their sites.

Tasks wait by host. A host that may not get a request now sleeps, and the others continue; which hosts sleep
is not part of the state (`coati.model.Hosts`).
"""

from __future__ import annotations

import heapq
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from coati.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from coati.model import Hosts


class Stage(IntEnum):
    """What a request is made for, in the order of requests."""

    TEACH = 0
    QUERY = 1
    CANDIDATE = 2
    CHECK = 3
    CRAWL = 4


class Task(NamedTuple):
    """A URL and what it is wanted for.

    ``group`` is the number of the site that is checked, or what else the stage orders by; within a group the
    highest ``worth`` goes first. ``arm`` and ``score`` say which action led here.
    """

    url: str
    stage: Stage
    group: int = 0
    depth: int = 0
    arm: int | None = None
    score: float | None = None
    worth: float = 0.0


_Rank = tuple[int, int, float, int]


class TaskQueue:
    """Tasks in order of stage, group, worth and arrival; each URL waits once at most.

    >>> from coati.model import EVERY_HOST
    >>> queue = TaskQueue()
    >>> queue.push(Task("http://a.test/", Stage.CHECK))
    >>> queue.push(Task("http://b.test/", Stage.CANDIDATE))
    >>> queue.pop(EVERY_HOST).url
    'http://b.test/'
    """

    def __init__(self) -> None:
        self._pushed = 0
        self._waiting: dict[str, tuple[_Rank, Task]] = {}
        self._by_host: dict[str, list[tuple[_Rank, str]]] = {}
        # Hosts by the rank of their first task; an entry counts only if it is the last one made for its host.
        self._awake: list[tuple[_Rank, str]] = []
        self._entry: dict[str, _Rank] = {}
        self._asleep: set[str] = set()

    def __len__(self) -> int:
        """Count the tasks that wait."""
        return len(self._waiting)

    def count(self, stage: Stage) -> int:
        """Count the tasks of one stage."""
        return sum(task.stage is stage for _, task in self._waiting.values())

    def push(self, task: Task) -> None:
        """Add a task."""
        self._pushed += 1
        rank = (int(task.stage), task.group, -task.worth, self._pushed)
        self._waiting[task.url] = (rank, task)
        host = host_of(task.url)
        heapq.heappush(self._by_host.setdefault(host, []), (rank, task.url))
        self._wake(host)

    def pop(self, hosts: Hosts) -> Task | None:
        """Take the first task whose host may get a request; None if there is none."""
        for host in hosts.take_ready():
            if host in self._asleep:
                self._asleep.discard(host)
                self._wake(host)
        while self._awake:
            rank, host = self._awake[0]
            if self._entry.get(host) != rank:
                heapq.heappop(self._awake)
                continue
            if not hosts.ready(host):
                heapq.heappop(self._awake)
                del self._entry[host]
                self._asleep.add(host)
                continue
            first = self._first(host)
            if first is None or first[0] != rank:
                heapq.heappop(self._awake)
                del self._entry[host]
                self._wake(host)
                continue
            return self._take(first[1])
        return None

    def take(self, url: str) -> Task:
        """Take the task of a URL out of turn; raise `ValueError` if it does not wait."""
        if url not in self._waiting:
            raise ValueError(f"{url} is not waiting to be requested")
        return self._take(url)

    def drop(self, unwanted: Callable[[Task], bool]) -> list[str]:
        """Drop the tasks that match, and return their URLs."""
        urls = [url for url, (_, task) in self._waiting.items() if unwanted(task)]
        for url in urls:
            del self._waiting[url]
        return urls

    def drop_of_host(self, host: str, unwanted: Callable[[Task], bool]) -> list[str]:
        """Drop the matching tasks of one host, and return their URLs."""
        waiting = ((url, self._waiting.get(url)) for _, url in self._by_host.get(host, ()))
        urls = [url for url, found in waiting if found is not None and unwanted(found[1])]
        for url in urls:
            # A URL that was dropped and wanted again is there twice.
            self._waiting.pop(url, None)
        return list(dict.fromkeys(urls))

    def save(self) -> list[list[Any]]:
        """Return what waits, in order."""
        ordered = sorted(self._waiting.values())
        return [[*task] for _, task in ordered]

    def load(self, saved: list[list[Any]]) -> None:
        for url, stage, *rest in saved:
            self.push(Task(url, Stage(stage), *rest))

    def _take(self, url: str) -> Task:
        _, task = self._waiting.pop(url)
        host = host_of(url)
        if host not in self._asleep:
            self._entry.pop(host, None)
            self._wake(host)
        return task

    def _first(self, host: str) -> tuple[_Rank, str] | None:
        tasks = self._by_host.get(host)
        while tasks:
            rank, url = tasks[0]
            found = self._waiting.get(url)
            if found is not None and found[0] == rank:
                return rank, url
            heapq.heappop(tasks)
        self._by_host.pop(host, None)
        return None

    def _wake(self, host: str) -> None:
        if host in self._asleep:
            return
        first = self._first(host)
        if first is not None and self._entry.get(host) != first[0]:
            self._entry[host] = first[0]
            heapq.heappush(self._awake, (first[0], host))


class HostsBut:
    """Hosts of which some may not get a request, whatever their pace says."""

    def __init__(self, hosts: Hosts, closed: Collection[str]) -> None:
        self._hosts = hosts
        self._closed = frozenset(closed)
        self.take_ready = hosts.take_ready

    def ready(self, host: str) -> bool:
        return host not in self._closed and self._hosts.ready(host)


def task_of(saved: list[Any]) -> Task:
    """Read a task that was written as a list."""
    url, stage, *rest = saved
    return Task(url, Stage(stage), *rest)
