"""How often each host may get a request: the one place that knows what makes a host wait.

Between two requests to a host lies at least its *delay*: the delay of the settings, or the longer Crawl-delay
of its robots.txt, or what it has grown to. It grows and shrinks with how the host fares:

- An error doubles it. A server that answers errors quickly is in no better state than one that is slow, so
  it is not latency alone that counts.
- An answer moves it half way towards twice the time that the server took: at most half of its time is spent
  on us. With a delay of 0 in the settings latency does not count: such a setting is for a server of one's
  own.
- It never falls below the settings or the Crawl-delay, and never grows beyond ``max_delay_seconds``.

A host *rests*, and gets no request, until the time that it names (Retry-After), or for a growing time
if it wants a pause without saying how long. Where there are many hosts, one that gives no connection
several times in a row rests for a growing time as well.

A host is *ended*, and gets no more requests of this crawl, when it wants a longer rest than we wait for, or,
where there are many hosts, when it still gives no connection after the rests. The rest is kept as it was
requested, so that a crawl that is resumed later obeys it.

Time is an argument, in seconds of any clock that does not go back. Each call costs the logarithm of the
number of hosts, at most. A site may have names without end: of the hosts that got requests the last
``remembered_hosts`` are known.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from coati.pacing.wake_list import WakeList

# What a delay of 0 is doubled from: short enough not to slow a crawl down for one error.
_FIRST_DELAY_SECONDS = 0.5
# The longest delay that failed connections alone give a host.
_LONGEST_AFTER_FAILURE = 8.0

# Below this a delay that falls back is the floor again.
_NEAR_SECONDS = 0.05

_LATENCY_FACTOR = 2.0

# The first rest of a host that wants a pause and does not say how long; the next is twice as long, up to this
# often. Its delay continues to grow.
_FIRST_REST_SECONDS = 5.0
_DOUBLED_RESTS = 2

# Where there are many hosts: from this failed connection in a row on, the host rests for the longest delay,
# and twice as long after each further one. With a delay of a minute the last rest takes a quarter of an hour,
# and a host that was away for half an hour is still there for us.
_FAILURES_TO_REST = 3
_FAILURES_TO_END = 8

# Waits are shown to people: those of the hosts that got requests last.
_SHOWN_HOSTS = 64

# What a server says when it has too much to do. A plain 500 is mostly a fault of one page.
_TROUBLED = frozenset({429, 502, 503, 504, 520, 521, 522, 523, 524})
_ASKS_FOR_PATIENCE = frozenset({429, 503})

_REMEMBERED_HOSTS = 1_000_000
# How many hosts are looked at to find one that can be forgotten without loss.
_LOOKS = 4


@dataclass(frozen=True, slots=True)
class PaceSettings:
    """The settings for every host.

    ``delays`` are for hosts that have one of their own, longer or shorter. ``per_host`` requests may be in
    flight at one host. ``max_rest_seconds`` is the longest rest that is
    waited for. ``many_hosts`` means that there are other hosts to crawl when one fails.
    """

    delay_seconds: float = 1.0
    delays: Mapping[str, float] = field(default_factory=dict)
    per_host: int = 1
    max_delay_seconds: float = 60.0
    max_rest_seconds: float = 300.0
    many_hosts: bool = False
    remembered_hosts: int = _REMEMBERED_HOSTS


class Wait(NamedTuple):
    """How long a host must get no request, and why: "delay", "Crawl-delay", "Retry-After", "errors", ..."""

    seconds: float
    why: str


class HostPause(NamedTuple):
    """What a resumed run must know of a host: a delay that has grown, and until when it rests."""

    delay_seconds: float | None = None
    rests_until: float | None = None


@dataclass(slots=True)
class _Host:
    # The delay of the settings, the least that it may be since a Crawl-delay may be longer, and what it is.
    own: float
    floor: float
    delay: float
    # Why it is longer than that, where it is.
    grown_why: str = ""
    in_flight: int = 0
    # When the last request left, and when the last one that is on its way is expected to.
    sent_at: float = -math.inf
    leaves_at: float = -math.inf
    rests_until: float = -math.inf
    rest_why: str = ""
    # Until when a host is left alone that gives no connection.
    away_until: float = -math.inf
    # Rests in a row whose length was up to us, and failed connections in a row.
    rests: int = 0
    failures: int = 0
    ended: str = ""


class HostPace:
    """The pace of all hosts of a crawl.

    >>> pace = HostPace(PaceSettings(delay_seconds=2.0))
    >>> pace.sent("a.org", 10.0)
    >>> pace.ready("a.org", 11.0), pace.wait("a.org", 11.0), pace.next_time(11.0)
    (False, Wait(seconds=1.0, why='delay'), 12.0)
    >>> pace.take_ready(12.0), pace.ready("a.org", 12.0)
    (['a.org'], True)
    """

    def __init__(self, settings: PaceSettings) -> None:
        self._settings = settings
        self._longest_delay = max(settings.max_delay_seconds, settings.delay_seconds)
        # The hosts that got requests, the last of them at the end.
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        self._asleep = WakeList(self.free_at)
        # Hosts that have woken and were not returned by `take_ready` yet.
        self._awake: dict[str, None] = {}
        self._unsaved: dict[str, None] = {}

    def at(self, now: float) -> HostsAtOneTime:
        """Return what a strategy may know of hosts at one moment (`coati.model.Hosts`)."""
        return HostsAtOneTime(self, now)

    def ready(self, host: str, now: float) -> bool:
        """Tell whether a host may get a request; if not, `take_ready` returns it as soon as it may."""
        if self.free_at(host) <= now:
            return True
        self._awake.pop(host, None)
        self._asleep.add(host)
        return False

    def take_ready(self, now: float) -> list[str]:
        """Return the hosts of which `ready` said no, and which have become ready since; each once."""
        self._wake(now)
        woken, self._awake = self._awake, {}
        # What was sent to one of them meanwhile lets it sleep again.
        return [host for host in woken if self.ready(host, now)]

    def next_time(self, now: float) -> float:
        """Return when, after now, the next host becomes ready of which `ready` said no."""
        self._wake(now)
        return self._asleep.next_time()

    def free_at(self, host: str) -> float:
        """Return when a host may get a request; infinity if not before something in flight has ended."""
        state = self._hosts.get(host)
        if state is None:
            return -math.inf
        if state.ended or state.in_flight >= self._settings.per_host:
            return math.inf
        return max(_waits_until(state), state.leaves_at + state.delay)

    def wait(self, host: str, now: float) -> Wait:
        """Return how long a host must get no request, apart from what is in flight there.

        Of several reasons it names the one that a user wants to know.
        """
        state = self._hosts.get(host)
        if state is None:
            return Wait(0.0, "")
        seconds = max(0.0, _waits_until(state) - now)
        if state.rests_until > now:
            return Wait(seconds, state.rest_why)
        if state.delay > state.floor or state.away_until > now:
            return Wait(seconds, state.grown_why)
        return Wait(seconds, "Crawl-delay" if state.floor > state.own else "delay")

    def waits(self, now: float) -> dict[str, Wait]:
        """Return which hosts have to wait, of those that got requests last."""
        last = islice(reversed(self._hosts), _SHOWN_HOSTS)
        waits = {host: self.wait(host, now) for host in last}
        return {host: wait for host, wait in waits.items() if wait.seconds > 0}

    def delay(self, host: str) -> float:
        """Return the seconds between two requests to a host."""
        state = self._hosts.get(host)
        return self._own_delay(host) if state is None else state.delay

    def ended(self, host: str) -> str:
        """Return why a host must get no request again; empty if it may."""
        state = self._hosts.get(host)
        return "" if state is None else state.ended

    def give_up(self, host: str, why: str) -> None:
        """Send no more requests to a host."""
        self._touch(host).ended = why
        self._asleep.changed(host)

    def ended_hosts(self) -> dict[str, str]:
        """Return the hosts that must get no request again, and why."""
        return {host: state.ended for host, state in self._hosts.items() if state.ended}

    def begin(self, host: str, now: float) -> None:
        """Count a request as in flight, from when it is handed out until `end`."""
        state = self._touch(host)
        state.in_flight += 1
        state.leaves_at = now

    def end(self, host: str) -> None:
        """Count a request as over; if it was sent, `answered` or `failed` was called before."""
        state = self._touch(host)
        state.in_flight -= 1
        state.leaves_at = -math.inf
        self._asleep.changed(host)

    def sent(self, host: str, now: float) -> None:
        """Count the delay from here. If a request is held up further on, call this again when it leaves."""
        self._touch(host).sent_at = now

    def answered(
        self,
        host: str,
        now: float,
        status: int = 200,
        server_seconds: float = 0.0,
        retry_after: float | None = None,
    ) -> list[Wait]:
        """Learn from a response; return how long the host has to wait because of it, if at all.

        ``server_seconds`` is what the server took; ``retry_after`` is for how many seconds it wants to rest.
        """
        state = self._touch(host)
        state.failures = 0
        if status not in _TROUBLED:
            self._recover(host, state, now, server_seconds)
            return []
        waits = [self._back_off(host, state)]
        if status in _ASKS_FOR_PATIENCE:
            if retry_after is None:
                self._rest_longer(host, state, now, f"status {status}")
            else:
                self._rest(host, state, now + retry_after, "Retry-After")
                self._end_of_patience(state, now)
            if state.rests_until > now:
                waits.append(Wait(state.rests_until - now, state.rest_why))
        return waits

    def failed(self, host: str, now: float) -> list[Wait]:
        """Learn from a connection that failed or broke; return the same as `answered`."""
        state = self._touch(host)
        state.failures += 1
        # A connection that fails costs the host nothing: to hear soon that it is back costs little.
        wait = self._back_off(host, state, _LONGEST_AFTER_FAILURE)
        if not self._settings.many_hosts or state.failures < _FAILURES_TO_REST:
            return [wait]
        if state.failures >= _FAILURES_TO_END:
            state.ended = wait.why
            return []
        seconds = self._longest_delay * 2 ** (state.failures - _FAILURES_TO_REST)
        state.away_until = now + seconds
        return [Wait(seconds, wait.why)]

    def set_crawl_delay(self, host: str, seconds: float) -> list[Wait]:
        """Keep the delay that a host wants (Crawl-delay), if it is longer than that of the settings."""
        state = self._touch(host)
        # A comparison with NaN is false, so no nonsense passes.
        if not seconds > state.own:
            return []
        state.floor = max(state.own, min(seconds, self._longest_delay))
        state.delay = max(state.delay, state.floor)
        return [Wait(state.floor, "Crawl-delay")]

    def unsaved(self) -> dict[str, HostPause]:
        """Return what a resumed run must know of the hosts that changed since the last call."""
        unsaved, self._unsaved = self._unsaved, {}
        known = ((host, self._hosts.get(host)) for host in unsaved)
        return {host: HostPause() if state is None else _pause(state) for host, state in known}

    def load(self, pauses: Mapping[str, HostPause], now: float) -> None:
        """Take over what earlier sessions of the run saved."""
        for host, pause in pauses.items():
            rests = pause.rests_until is not None and pause.rests_until > now
            if not rests and pause.delay_seconds is None:
                continue
            state = self._touch(host)
            if pause.delay_seconds is not None:
                state.delay = max(state.floor, min(pause.delay_seconds, self._longest_delay))
                state.grown_why = "errors"
            if rests and pause.rests_until is not None:
                state.rests_until, state.rest_why = pause.rests_until, "Retry-After"
                self._end_of_patience(state, now)

    def _wake(self, now: float) -> None:
        for host in self._asleep.take_ready(now):
            self._awake[host] = None

    def _back_off(self, host: str, state: _Host, longest: float = math.inf) -> Wait:
        doubled = 2 * max(state.delay, _FIRST_DELAY_SECONDS)
        grown = max(state.delay, min(doubled, longest))
        delay = max(state.floor, min(grown, self._settings.max_delay_seconds))
        self._grow(host, state, delay, "errors")
        return Wait(delay, "errors")

    def _recover(self, host: str, state: _Host, now: float, server_seconds: float) -> None:
        if now >= state.rests_until:
            state.rests = 0
        latency = server_seconds if state.own else 0.0
        wanted = max(state.floor, min(_LATENCY_FACTOR * latency, self._settings.max_delay_seconds))
        delay = max(wanted, (state.delay + wanted) / 2)
        if delay - wanted < _NEAR_SECONDS:
            delay = wanted
        self._grow(host, state, delay, "errors" if delay > wanted else "slow answers")

    def _grow(self, host: str, state: _Host, delay: float, why: str) -> None:
        state.grown_why = why
        if delay != state.delay:
            state.delay = delay
            self._unsaved[host] = None
            # It may have shrunk, with others waiting for the host.
            self._asleep.changed(host)

    def _rest(self, host: str, state: _Host, until: float, why: str) -> None:
        if until > state.rests_until:
            state.rests_until, state.rest_why = until, why
            self._unsaved[host] = None

    def _rest_longer(self, host: str, state: _Host, now: float, why: str) -> None:
        """Let a host rest that does not say for how long: twice as long as the last time."""
        # What was in flight when the rest began is not an answer to it.
        if now >= state.rests_until:
            seconds = _FIRST_REST_SECONDS * 2 ** min(state.rests, _DOUBLED_RESTS)
            state.rests += 1
            self._rest(host, state, now + min(seconds, self._settings.max_rest_seconds), why)

    def _end_of_patience(self, state: _Host, now: float) -> None:
        if state.rests_until - now > self._settings.max_rest_seconds:
            state.ended = state.rest_why

    def _touch(self, host: str) -> _Host:
        """Return what is known of a host, and count it as the last one with a request."""
        state = self._hosts.get(host)
        if state is None:
            if len(self._hosts) >= self._settings.remembered_hosts:
                self._forget()
            own = self._own_delay(host)
            state = self._hosts[host] = _Host(own, own, own)
        self._hosts.move_to_end(host)
        return state

    def _forget(self) -> None:
        """Forget a host: best one that is like any other, else the one with the oldest request."""
        oldest = list(islice(self._hosts, _LOOKS))
        for host in oldest:
            if self._hosts[host].in_flight:
                self._hosts.move_to_end(host)
        idle = [host for host in oldest if not self._hosts[host].in_flight]
        plain = [host for host in idle if _is_plain(self._hosts[host])]
        for host in (plain or idle)[:1]:
            del self._hosts[host]
            self._asleep.changed(host)

    def _own_delay(self, host: str) -> float:
        return self._settings.delays.get(host, self._settings.delay_seconds)


def _is_plain(state: _Host) -> bool:
    special = state.delay > state.own or state.ended or state.failures
    return not special and state.rests_until == -math.inf


def _waits_until(state: _Host) -> float:
    return max(state.sent_at + state.delay, state.rests_until, state.away_until)


def _pause(state: _Host) -> HostPause:
    return HostPause(
        state.delay if state.delay > state.floor else None,
        state.rests_until if state.rests_until > -math.inf else None,
    )


class HostsAtOneTime:
    """Which hosts may get a request at one moment (`coati.model.Hosts`)."""

    __slots__ = ("_now", "_pace")

    def __init__(self, pace: HostPace, now: float) -> None:
        self._pace, self._now = pace, now

    def ready(self, host: str) -> bool:
        """Tell whether a host may get a request."""
        return self._pace.ready(host, self._now)

    def take_ready(self) -> Sequence[str]:
        """Return, once each, the hosts that `ready` said were not ready, and that are now."""
        return self._pace.take_ready(self._now)
