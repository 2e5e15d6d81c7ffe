"""A strategy over many hosts: it asks the ready host that was asked least, and lets the others sleep."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable

from coati.model import Hosts, Method, Outcome, Request, Settlement
from coati.strategies.state import State
from coati.web.urls import host_of


class HostRounds:
    """Asks for URLs host by host; which host is next does not depend on how often it was asked in vain."""

    def __init__(self, urls: Iterable[str]) -> None:
        self._urls: dict[str, deque[str]] = {}
        for url in urls:
            self._urls.setdefault(host_of(url), deque()).append(url)
        self._asked = dict.fromkeys(self._urls, 0)
        self._awake = [(0, host) for host in self._urls]
        heapq.heapify(self._awake)
        self._next_id = 0
        self.chosen: list[tuple[float, str]] = []
        self.observed: list[tuple[int, Outcome, float]] = []
        self.looks = 0

    def choose(self, now: float, hosts: Hosts) -> Request | None:
        for host in hosts.take_ready():
            heapq.heappush(self._awake, (self._asked[host], host))
        while self._awake:
            _, host = self._awake[0]
            self.looks += 1
            if self._urls[host] and hosts.ready(host):
                self._asked[host] += 1
                heapq.heapreplace(self._awake, (self._asked[host], host))
                self._next_id += 1
                url = self._urls[host].popleft()
                self.chosen.append((now, url))
                return Request(self._next_id, Method.GET, url)
            heapq.heappop(self._awake)
        return None

    def observe(self, request_id: int, outcome: Outcome, now: float) -> tuple[Settlement, ...]:
        self.observed.append((request_id, outcome, now))
        return ()

    def redo(self, request: Request, now: float) -> None:
        host = host_of(request.url)
        self._urls[host].remove(request.url)
        self._asked[host] += 1
        self._next_id = request.id
        self._awake = [(asked, host) for host, asked in self._asked.items()]
        heapq.heapify(self._awake)

    def save(self) -> State:
        raise NotImplementedError

    def load(self, state: State) -> None:
        raise NotImplementedError

    def arm_label(self, arm: int) -> str:
        return str(arm)
