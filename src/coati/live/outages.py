"""What an outage is and how long to wait for its end: when to retry, and when to call a URL broken.

A failure that says nothing about its URL (`is_outage`) is an outage of the host until something else turns
out. So a URL is called broken only on evidence:

1. Outages of one host without an answer between them are one *series*. A failure counts against its URL if no
   other URL failed in the same series: the host was well before and after.
2. After ``retries`` failures that count, the next one is final. The distance between them grows, and the last
   try comes at the end, when nothing else is left to request.
3. Before a retry at a host that has not answered since, and in a long series before any request, a URL is
   requested that the host answered before (`Outages.probe_url`, `coati.live.sign_of_life`): the retry alone
   would not tell the two apart.
4. A host that never answered, while others do, counts as a whole: its URLs are broken when ``retries`` tries
   of the host have failed. One that is down, and was not, breaks no URL, however long that takes.
5. A 500 may mean either, a server in trouble or a page that is always broken, which is more common. So its
   URL is requested again once, at the end, and is broken if that gives a 500 again and the host has answered
   something else in between.

Of a page that breaks off the part that came is taken in the end: where every try gave as much, it is all that
there is. Where nobody has answered yet, there are a few quick tries. `Outages.give_up` tells when to give
up: what waits then is requested again when the run is resumed. Time is an argument, so nothing here waits.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from coati.archive.record import IN_TROUBLE, PASSING_STATUSES
from coati.live.failures import PASSING_REASONS
from coati.live.outcomes import DAMAGED, FetchResult
from coati.model import AT_THE_END, Deferred, Failure, Method, Outcome, OutcomeKind, Page, Refused, Request
from coati.web.urls import host_of, is_query

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coati.runs.host_answers import HostAnswer

# How much longer each wait is than the one before, and the longest, however many retries there are.
_GROWTH: Final = 4.0
_LONGEST_SECONDS: Final = 3600.0

# How often the same URL is tried before anybody has answered, and after which part of the first wait.
_FIRST_TRIES: Final = 3
_FIRST_SHARE: Final = 0.1

# After this many outages in a row, not only retries need a sign of life.
_DOUBT: Final = 5

# What is requested as a sign of life is no larger.
_SMALL_BYTES: Final = 100_000

# A host of which this many pages always ended at the same byte sends all of its pages like that.
_HABIT: Final = 3

# Beyond this many hosts, those that are well and were met first are forgotten, but for the fact that they
# answered: 60 bytes instead of 300. One that fails later then gets no probe.
_REMEMBERED_HOSTS: Final = 100_000
# How many hosts are looked at to find one that can be forgotten.
_LOOKS: Final = 4

_SUCCESS = range(200, 300)
# A server in trouble, or a page that is always broken.
_DOUBTFUL = IN_TROUBLE - PASSING_STATUSES

_Key = tuple[Method, str]


def is_outage(result: FetchResult) -> bool:
    """Tell whether what came says nothing about the URL: no answer, a part of one, a server in trouble."""
    outcome = result.outcome
    if isinstance(outcome, Failure):
        silent = result.unsent and not outcome.status
        return silent or outcome.status in PASSING_STATUSES or outcome.reason in PASSING_REASONS
    return isinstance(outcome, Page) and DAMAGED in result.drops


@dataclass(slots=True, eq=False)
class _OutageSeries:
    """Outages of a host in a row; ``shared``: of more than one URL."""

    first: _Key
    length: int = 0
    shared: bool = False


@dataclass(slots=True)
class _Host:
    """``tries`` and ``due`` count through a series: how often it was tried, and when it should be again."""

    answered: bool = False
    probe_url: str | None = None
    series: _OutageSeries | None = None
    tries: int = 0
    due: float = 0.0
    habits: int = 0


@dataclass(slots=True)
class _Waiting:
    """A URL that met an outage; ``alone`` counts the failures that count against it.

    ``doubtful`` counts answers such as 500, ``answers`` how many all hosts had given when it failed last.
    """

    tries: int = 0
    alone: int = 0
    doubtful: int = 0
    series: _OutageSeries | None = None
    until: float = 0.0
    answers: int = -1
    sizes: frozenset[int] = frozenset()


class Outages:
    """Decides about the outages of one run; ``past`` is what its log holds.

    >>> from coati.live.outcomes import FetchResult
    >>> from coati.model import Method, Request
    >>> outages = Outages(retries=3, first_seconds=10.0)
    >>> outages.answered("http://example.org/")
    >>> reset = FetchResult(Failure(0, 0, "connection lost"))
    >>> outages.judge(Request(1, Method.GET, "http://example.org/a"), reset, now=60.0).outcome
    Deferred(status=0, size_bytes=0, reason='connection lost', until=70.0)
    """

    def __init__(
        self,
        retries: int,
        first_seconds: float,
        past: Iterable[HostAnswer] = (),
        remembered_hosts: int = _REMEMBERED_HOSTS,
    ) -> None:
        self._retries = retries
        self._first_seconds = first_seconds
        self._hosts: dict[str, _Host] = {}
        self._remembered_hosts = remembered_hosts
        # Hashes of the hosts that are forgotten; they have answered.
        self._answered_hosts: set[int] = set()
        self._waiting: dict[_Key, _Waiting] = {}
        # Of all hosts, in this session.
        self._answers = 0
        self._first_tries: Counter[_Key] = Counter()
        self.give_up = False
        for answer in past:
            self._redo(answer)
        self._answers = 0
        for waiting in self._waiting.values():
            waiting.answers = -1

    def __len__(self) -> int:
        """Count the URLs that wait, or are being retried."""
        return len(self._waiting)

    def answered(self, url: str, *, can_probe: bool = True) -> None:
        """Take note that the host of a URL is there; ``can_probe``: requesting it again would show so."""
        self._answers += 1
        self._first_tries.clear()
        host = self._host(url)
        host.answered, host.series, host.tries, host.due = True, None, 0, 0.0
        if can_probe:
            host.probe_url = url

    def archived(self, request: Request) -> None:
        """Take note that an archive answered: the crawl continues, and the host is one that once existed."""
        self._answers += 1
        self._first_tries.clear()
        self._waiting.pop((request.method, request.url), None)
        self._host(request.url).answered = True

    def judge(self, request: Request, result: FetchResult, now: float) -> FetchResult:
        """Return what came of a request, as `Deferred` where it is to be retried."""
        outcome = result.outcome
        if isinstance(outcome, Refused):
            return result
        key = (request.method, request.url)
        outage = is_outage(result) or _is_doubtful(key, outcome)
        until = self._until(key, result, now) if outage else None
        if until is None:
            self._waiting.pop(key, None)
            whole = not outage
            if (whole and not result.unsent) or isinstance(outcome, Page):
                can_probe = whole and _can_probe(key, outcome.status, outcome.size_bytes)
                self.answered(request.url, can_probe=can_probe)
            return result
        self._waiting[key].until = until
        reason = outcome.reason if isinstance(outcome, Failure) else DAMAGED
        deferred = Deferred(outcome.status, outcome.size_bytes, reason, until)
        return replace(result, outcome=deferred, body=None, refused=(), skipped=(), drops=())

    def probe_url(self, request: Request) -> str | None:
        """Return a URL whose answer shows that the host is back, where a retry alone would not tell."""
        host = self._host(request.url)
        if host.series is None or host.probe_url == request.url:
            return None
        doubtful = (request.method, request.url) in self._waiting or host.series.length >= _DOUBT
        return host.probe_url if doubtful else None

    def may_try(self, request: Request, now: float) -> bool:
        """Tell whether to request the rules of a host again that did not give them."""
        host = self._host(request.url)
        waiting = self._waiting.get((request.method, request.url))
        return not self._is_dead(host) and self._is_due(host, waiting, now)

    def _until(self, key: _Key, result: FetchResult, now: float) -> float | None:
        """Return when to retry at the earliest; None to take what came as it is."""
        host, waiting = self._host(key[1]), self._waiting.setdefault(key, _Waiting())
        size = 0 if isinstance(result.outcome, Refused) else result.outcome.size_bytes
        if self._is_dead(host) or (
            isinstance(result.outcome, Page) and self._is_complete(host, waiting, size)
        ):
            return None
        if result.unsent and not self._is_due(host, waiting, now):
            return host.due
        last_try = waiting.until == AT_THE_END and waiting.answers == self._answers
        was_well, doubtful = host.series is None, _is_doubtful(key, result.outcome)
        waiting.doubtful += doubtful
        self._fail(key, host, waiting, size, now)
        if not self._answers:
            self._first_tries[key] += 1
            self.give_up |= self._first_tries[key] >= _FIRST_TRIES
            return now + _FIRST_SHARE * self._first_seconds * self._first_tries[key]
        if not host.answered:
            return None if self._is_dead(host) else host.due
        if self._is_broken(host, waiting, doubtful=doubtful, was_well=was_well):
            return None
        self.give_up |= last_try
        return AT_THE_END if doubtful else self._time_of_try(waiting.tries, now)

    def _is_broken(self, host: _Host, waiting: _Waiting, *, doubtful: bool, was_well: bool) -> bool:
        """Tell whether there is evidence enough; ``was_well``: the host had answered just before."""
        if doubtful:
            # What it met before may have been an outage of another kind, which says nothing about it.
            return was_well and (waiting.doubtful > 1 or not self._retries)
        if waiting.alone < self._retries or host.series is None or host.series.shared:
            return False
        # One that is known to fail alone says nothing about the others.
        host.series = None if waiting.alone else host.series
        return True

    def _fail(self, key: _Key, host: _Host, waiting: _Waiting, size: int, now: float) -> None:
        """Take note of an outage."""
        if waiting.series is not None and waiting.series is not host.series and not waiting.series.shared:
            waiting.alone += 1
        if host.series is None:
            host.series = _OutageSeries(key)
        host.series.length += 1
        host.series.shared |= host.series.first != key
        if now >= host.due or waiting.until == AT_THE_END:
            host.tries += 1
            host.due = self._time_of_try(host.tries, now)
        waiting.tries += 1
        waiting.series, waiting.sizes = host.series, waiting.sizes | {size}
        waiting.answers = self._answers

    def _redo(self, past: HostAnswer) -> None:
        """Take note of what an earlier session was told."""
        key = (past.method, past.url)
        if past.kind == OutcomeKind.DEFERRED:
            host, waiting = self._host(past.url), self._waiting.setdefault(key, _Waiting())
            if past.charged or self._is_due(host, waiting, past.at):
                waiting.doubtful += past.status in _DOUBTFUL
                self._fail(key, host, waiting, past.size_bytes, past.at)
            waiting.until = past.until
            return
        self._waiting.pop(key, None)
        if past.kind != OutcomeKind.FAILURE or (past.status and past.status not in IN_TROUBLE):
            self.answered(past.url, can_probe=_can_probe(key, past.status, past.size_bytes))

    def _time_of_try(self, tries: int, now: float) -> float:
        if tries >= self._retries:
            return AT_THE_END
        # Beyond a dozen it is the longest wait in any case.
        seconds = self._first_seconds * _GROWTH ** min(tries - 1, 12)
        return now + min(seconds, _LONGEST_SECONDS)

    def _is_due(self, host: _Host, waiting: _Waiting | None, now: float) -> bool:
        """Tell whether a host should be tried now; as long as nobody answers, any may be."""
        at_the_end = waiting is not None and waiting.until == AT_THE_END
        return now >= host.due or at_the_end or not self._answers

    def _is_complete(self, host: _Host, waiting: _Waiting, size: int) -> bool:
        """Tell whether a page that seems cut short is all that there is: always the same, or a habit."""
        enough = self._retries if self._answers else min(self._retries, _FIRST_TRIES - 1)
        if waiting.tries >= enough and waiting.sizes <= {size}:
            host.habits += 1
            return True
        return host.habits >= _HABIT

    def _is_dead(self, host: _Host) -> bool:
        return not host.answered and host.tries > self._retries and self._answers > 0

    def _host(self, url: str) -> _Host:
        name = host_of(url)
        host = self._hosts.get(name)
        if host is None:
            self._forget()
            host = self._hosts[name] = _Host(answered=hash(name) in self._answered_hosts)
        return host

    def _forget(self) -> None:
        """Make room for a host, if one of the first is well."""
        for _ in range(_LOOKS):
            if len(self._hosts) < self._remembered_hosts:
                return
            name = next(iter(self._hosts))
            host = self._hosts.pop(name)
            if host.answered and host.series is None:
                self._answered_hosts.add(hash(name))
            else:
                self._hosts[name] = host


def _is_doubtful(key: _Key, outcome: Outcome) -> bool:
    """Tell whether an answer may be that of a host in trouble; a HEAD and a query are not worth another."""
    method, url = key
    said = isinstance(outcome, Failure) and outcome.status in _DOUBTFUL
    return said and method is Method.GET and not is_query(url)


def _can_probe(key: _Key, status: int, size_bytes: int) -> bool:
    """Tell whether an answer may be requested again as a sign of life: one that is known to be small.

    What was only announced, or given up at its headers, may be of any size. A query would cost its quota.
    """
    method, url = key
    known = (size_bytes > 0 or status not in _SUCCESS) and status not in IN_TROUBLE
    return method is Method.GET and known and size_bytes <= _SMALL_BYTES and not is_query(url)
