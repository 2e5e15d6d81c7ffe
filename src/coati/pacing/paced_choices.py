"""Which request is sent when: between a strategy, which chooses, and the hosts, which have a pace.

A request is *unobserved* from its choice until its outcome is known, and *on its way* from when it is handed
out. These rules are the same for a live crawl and for a simulated clock:

1. At most ``concurrency`` requests are on their way.
2. A request for a host that may not get it yet waits, and others continue. In a crawl of given sites what
   waits counts as if it were on its way: a strategy that learns should not choose far ahead of what it knows.
   Where any host may be crawled, some more may wait, for strategies that do not check which hosts are ready.
3. What was chosen first for a host goes first, and what waited goes before anything is chosen.
4. In a crawl of given sites nothing is chosen while none of their hosts, and of those that it found, may get
   a request: the later a choice, the more it knows. A strategy over any hosts uses ``ready`` instead, since
   it may know hosts without a request yet.
5. A request for a host that is ended is handed out at once: it is not sent, but it must be answered.
"""

from __future__ import annotations

import math
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from coati.model import Later, Request
from coati.pacing.wake_list import WakeList
from coati.strategies.strategy import next_try
from coati.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from coati.model import Hosts
    from coati.pacing.host_pace import HostPace

    Choose = Callable[[Hosts], Request | Later | None]

# How many requests may wait for their hosts beyond those on their way, where any host may be crawled.
_MOST_WAITING = 100

# Nothing is to be learnt during a longer rest with nothing on its way, except that all is done.
_LONG_REST_SECONDS = 2.0

# A strategy that wants its next choice at once would stop a simulated clock.
_LEAST_WAIT_SECONDS = 0.001

# A site may have endless names. Whether a host may get a request is remembered for this many.
_REMEMBERED_HOSTS = 10_000


class PacedChoices:
    """Hands out chosen requests when their hosts may get them; time is an argument.

    ``any_host`` is false for a crawl of given sites, which begins at the hosts ``given``. ``early_seconds``
    is how long before its time a request is handed out: for drivers on whose way to the network it takes a
    while, and that hold it there until its moment.
    """

    def __init__(
        self,
        pace: HostPace,
        concurrency: int,
        *,
        any_host: bool,
        early_seconds: float,
        given: Iterable[str] = (),
    ) -> None:
        self._pace = pace
        self._concurrency = concurrency
        self._any_host = any_host
        self._most_unobserved = concurrency + (_MOST_WAITING if any_host else 0)
        self._early = early_seconds
        self._on_their_way = 0
        # The requests that wait, by host; the hosts of which one can go; and those that sleep.
        self._queues: dict[str, deque[Request]] = {}
        self._waiting = 0
        self._can_go: deque[str] = deque()
        self._asleep = WakeList(self._goes_at)
        # Of given sites: the hosts that may get a request, given or found, and those that may not.
        self._idle: dict[str, None] = dict.fromkeys(islice(given, _REMEMBERED_HOSTS))
        self._busy = WakeList(pace.free_at)

    @property
    def waiting(self) -> int:
        """How many requests are chosen and wait for their hosts."""
        return self._waiting

    def next(self, now: float, choose: Choose) -> Request | Later | None:
        """Return the next request to send, or when to call again if nothing is observed before.

        None: not before something is observed; with nothing unobserved, all is done.
        """
        if self._on_their_way >= self._concurrency:
            return None
        moment = now + self._early
        request = self._next_waiting(moment)
        if request is not None:
            return request
        later = math.inf
        while self._on_their_way + self._waiting < self._most_unobserved:
            if not self._may_choose(moment):
                later = self._busy.next_time() - self._early
                break
            chosen = choose(self._pace.at(moment))
            if not isinstance(chosen, Request):
                later = min(next_try(chosen), self._pace.next_time(moment) - self._early)
                break
            host = host_of(chosen.url)
            if self._goes_at(host) <= moment:
                return self._hand_out(chosen, moment)
            self._wait(chosen, self._queue(host).append)
        at = min(later, self._asleep.next_time() - self._early)
        return None if at == math.inf else Later(max(at, now + _LEAST_WAIT_SECONDS))

    def observed(self, request: Request) -> None:
        """Note that a request has ended; the pace has learnt its result already."""
        host = host_of(request.url)
        self._on_their_way -= 1
        self._pace.end(host)
        self._asleep.changed(host)
        if not self._any_host:
            self._note_busy(host)
            self._busy.changed(host)

    def again(self, request: Request) -> None:
        """Take a request back that was on its way and must be sent once more."""
        self.observed(request)
        self._wait(request, self._queue(host_of(request.url)).appendleft)

    def _next_waiting(self, moment: float) -> Request | None:
        self._can_go.extend(self._asleep.take_ready(moment))
        while self._can_go:
            host = self._can_go.popleft()
            # It may be busy again by something that was handed out meanwhile.
            if self._goes_at(host) > moment:
                self._asleep.add(host)
                continue
            queue = self._queues.get(host)
            if queue is None:
                continue
            request = self._hand_out(queue.popleft(), moment)
            self._waiting -= 1
            if queue:
                self._asleep.add(host)
            else:
                del self._queues[host]
            return request
        return None

    def _may_choose(self, moment: float) -> bool:
        if self._any_host:
            return True
        for host in self._busy.take_ready(moment):
            if len(self._idle) < _REMEMBERED_HOSTS:
                self._idle[host] = None
        if self._idle or not self._busy:
            return True
        rests = self._busy.next_time() - moment
        return not self._on_their_way and not self._waiting and _LONG_REST_SECONDS < rests < math.inf

    def _hand_out(self, request: Request, moment: float) -> Request:
        host = host_of(request.url)
        self._on_their_way += 1
        self._pace.begin(host, moment)
        if not self._any_host:
            self._note_busy(host)
        return request

    def _note_busy(self, host: str) -> None:
        self._idle.pop(host, None)
        if len(self._busy) < _REMEMBERED_HOSTS:
            self._busy.add(host)

    def _queue(self, host: str) -> deque[Request]:
        return self._queues.setdefault(host, deque())

    def _wait(self, request: Request, put: Callable[[Request], None]) -> None:
        put(request)
        self._waiting += 1
        self._asleep.add(host_of(request.url))

    def _goes_at(self, host: str) -> float:
        return -math.inf if self._pace.ended(host) else self._pace.free_at(host)
