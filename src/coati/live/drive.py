"""One crawl in progress, apart from the engine that fetches for it.

A `Drive` asks the strategy, writes each choice down before it is sent and each answer before it counts, and
knows what is open, what is spent and why the crawl ends. It decides nothing about URLs: the strategy does,
and the rules of the run forbid. Time is read here and nowhere below; the strategy is told the time that the
log keeps.

Invariants:

1. A request is open from its choice until it is observed, and it is observed once.
2. What is observed was recorded before. If recording fails, nothing is observed any more.
3. ``_sent`` counts every attempt that was handed to the engine, so that no attempt goes beyond the budget.
4. After `abort`, nothing is recorded or observed: what was open stays open, and is sent again on resuming.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from coati.live.answered_urls import AnsweredUrls
from coati.live.clock import RunClock
from coati.live.counts import CrawlCounts
from coati.live.failures import FailureReason
from coati.live.host_ends import HostEnds
from coati.live.outages import Outages
from coati.live.outcomes import MISSING, FetchResult
from coati.live.plan import CrawlPlan, CrawlResult
from coati.live.progress import Event, EventKind, Progress, described
from coati.live.redirect_hops import RedirectHops
from coati.live.site_turns import Usage
from coati.live.stop_rules import StopRules, final_reason
from coati.live.trap_filter import trap_filter
from coati.model import (
    Deferred,
    Failure,
    Hosts,
    Later,
    Method,
    Outcome,
    Page,
    Refused,
    Request,
    Settlement,
)
from coati.pacing.host_pace import HostPause, Wait
from coati.readers.list_addresses import ListAddresses
from coati.readers.listed_links import ListedLinks
from coati.runs.fetched import Fetched
from coati.runs.host_answers import host_answers
from coati.runs.skip_reasons import SkipReason
from coati.runs.store import Recorded, RunStore
from coati.search.engines import Engines
from coati.stop_reasons import StopReason
from coati.strategies.strategy import Expects, Strategy, checked, settled
from coati.web.facts import FEEDS
from coati.web.out_links import with_out_links
from coati.web.urls import host_of

_PROGRESS_SECONDS = 0.5

# How long a crawl waits for its turn before it checks by itself; it is woken as soon as it has one.
_TURN_SECONDS = 60.0


@dataclass(slots=True)
class _Open:
    request: Request
    started_at: float
    visited: bool
    attempts: int = 1


class Drive:
    """Strategy, store and budget of one crawl; see the module's invariants."""

    def __init__(self, plan: CrawlPlan) -> None:
        self.plan = plan
        self.stop_reason: StopReason | None = None
        self.error: BaseException | None = None
        self.aborted = False
        self._saves = False
        self.counts = CrawlCounts()
        not_before = plan.store.log.last_time() if plan.store is not None else 0.0
        self._clock = RunClock(not_before, plan.clock)
        # The engine's scheduler puts its own here.
        self.waits: Callable[[], Mapping[str, Wait]] = dict
        self.wake: Callable[[], None] = _nothing
        self.give_up_host: Callable[[str, str], None] = lambda _host, _why: None
        self.ended_hosts: Callable[[], Mapping[str, str]] = dict
        self._on_abort: list[Callable[[], None]] = []
        self._messages: tuple[str, ...] = ()
        self._open: dict[int, _Open] = {}
        self._again: deque[Request] = deque()
        self._hops = RedirectHops(plan.settings.max_redirects)
        logged = () if plan.store is None else plan.store.lists()
        self.lists = ListAddresses((*plan.start_urls, *logged), feeds=FEEDS in plan.extractors)
        charged = () if plan.store is None else (plan.store.log.charged_to,)
        self.engines = Engines(plan.providers, *charged)
        self._listed_links = self._listed_before()
        self._strategy = self._restore()
        self._stop_rules = StopRules(
            plan.early_stop, self._strategy, one_site=plan.one_site, defers=plan.defers
        )
        past = host_answers(plan.store.log.connection) if plan.store is not None and plan.defers else ()
        self.outages = Outages(plan.settings.retries, plan.settings.retry_seconds, past)
        self.visits = AnsweredUrls(plan.store, plan.earlier)
        self._filter_traps = trap_filter(plan.traps, plan.store)
        self._sent = self.counts.requests
        # Of bodies that are being read.
        self._arriving = 0
        self._told_at = 0.0
        before = {} if plan.store is None or plan.one_site else plan.store.requests_by_host()
        self.host_ends = HostEnds(plan.host_budget, before)
        if plan.turns is not None:
            plan.turns.add(self)

    def _restore(self) -> Strategy:
        store, form = self.plan.store, self.plan.form
        if store is None or form is None:
            return self.plan.new_strategy()
        restored = store.restore(self.plan.new_strategy, form, self.plan.strategy)
        self._again.extend(restored.in_flight)
        # Snapshots are those of the run's own strategy; that they do not fit another is expected.
        self._messages = (*store.messages, *(() if self.plan.strategy else restored.messages))
        self.counts = CrawlCounts(restored.totals)
        return restored.strategy

    def _listed_before(self) -> ListedLinks:
        """Return what APIs listed in earlier sessions."""
        store, shortcuts = self.plan.store, self.plan.shortcuts
        if store is None or shortcuts is None:
            return ListedLinks()
        apis = [url for url in store.lists() if shortcuts.reads(url)]
        return ListedLinks(apis, (url for api in apis for url in store.links_of(api)))

    def now(self) -> float:
        """Return the time of the run."""
        return self._clock.now()

    @property
    def open_count(self) -> int:
        """How many requests are chosen and not yet observed."""
        return len(self._open)

    def is_api(self, url: str) -> bool:
        """Tell whether an address is read as the answer of an API."""
        shortcuts = self.plan.shortcuts
        return shortcuts is not None and url in self.lists and shortcuts.reads(url)

    def is_open(self, request_id: int) -> bool:
        """Tell whether a request is chosen and not yet observed."""
        return request_id in self._open

    @property
    def stopping(self) -> bool:
        """Whether nothing more is to be sent."""
        return self.stop_reason is not None or self.aborted

    def choose(self, hosts: Hosts) -> Request | Later | None:
        """Return the next request; None if there is none now, or none at all, `Later` if there is none yet.

        What was in flight when an earlier session ended comes first; it was chosen already.
        """
        turns = self.plan.turns
        while not self._budget_spent():
            if turns is not None and not turns.may_choose():
                return Later(self._clock.now() + _TURN_SECONDS)
            request = self._again.popleft() if self._again else self._ask(hosts)
            if not isinstance(request, Request):
                if turns is not None:
                    turns.yield_turn()
                return request
            visited = request.method is Method.GET and self.visits.last(request.url) is not None
            self._open[request.id] = _Open(request, self._clock.now(), visited)
            self._sent += 1
            rules = self.plan.rules
            is_list = request.url in self.lists
            refusal = rules.list_refusal(request.url) if is_list else rules.refusal(request.url)
            if refusal is None:
                return request
            # Only the hop of a redirect can get here: links were under the rules when they were found.
            self.finish(request.id, FetchResult(Refused(refusal)))
        return None

    def retry(self, request_id: int) -> bool:
        """Charge another attempt at an open request; False if it is not to be made."""
        if self.stopping or request_id not in self._open:
            return False
        if not self.charge(request_id):
            self.finish(request_id, FetchResult(Failure(0, 0, FailureReason.NO_BUDGET)))
            return False
        state = self._open[request_id]
        self._tell(EventKind.RETRIED, id=request_id, url=state.request.url, attempt=state.attempts)
        return True

    def note_sent(self, request_id: int, now: float) -> None:
        """Take note that a request leaves; until then it waited for its host."""
        state = self._open.get(request_id)
        if state is not None:
            state.started_at = now

    def may_try(self, request: Request) -> bool:
        """Tell whether to request the rules of a host again that did not give them."""
        return self.outages.may_try(request, self._clock.now())

    def host_answered(self, url: str) -> None:
        """Take note of a sign of life: the host of a URL is there."""
        self.outages.answered(url)
        self._stop_rules.answered()

    def charge(self, request_id: int, attempts: int = 1) -> bool:
        """Charge an open request with more attempts, or fewer; False if there is no budget for more."""
        if attempts > 0 and (self.stopping or self._limit() is not None):
            return False
        if self.plan.turns is not None and not self.plan.turns.charge(attempts):
            return False
        self._open[request_id].attempts += attempts
        self._sent += attempts
        return True

    def finish(self, request_id: int, result: FetchResult, *, from_archive: bool = False) -> None:
        """Record what came of a request, let the strategy observe it, and count it."""
        if self.aborted:
            if result.body_file is not None:
                result.body_file.unlink(missing_ok=True)
            return
        state = self._open[request_id]
        request = state.request
        now = self._clock.now()
        if from_archive:
            self.outages.archived(request)
        elif self.plan.defers:
            result = self.outages.judge(request, result, now)
        if not isinstance(result.outcome, Deferred):
            result = self._for_strategy(state, result)
        if self.plan.on_fetched is not None:
            self.plan.on_fetched(request, result)
        charged = 0 if result.unsent or isinstance(result.outcome, Refused) else state.attempts
        recorded = self._record(state, result, charged, now)
        self.visits.end(request.url)
        settlements = settled(self._strategy.observe(request_id, recorded.outcome, now))
        del self._open[request_id]
        self._sent += charged - state.attempts
        before = self.counts.pages, self.counts.failures
        self.counts.count(request, result, charged, new_target=recorded.new_target)
        self.counts.archived += from_archive
        self.counts.settle(request, recorded.outcome, settlements)
        self._keep(settlements)
        self._tell_observed(state, result, charged, recorded.file)
        end = self._stop_rules.after(
            request, result.outcome, charged, self.counts, give_up=self.outages.give_up
        )
        if end is not None:
            self.stop(end)
        self._end_host(host_of(request.url), result.outcome, charged)
        if self.plan.turns is not None:
            self.plan.turns.observed(self._brought(result, charged, recorded, before))

    def _brought(
        self, result: FetchResult, charged: int, recorded: Recorded, before: tuple[int, int]
    ) -> Usage:
        """Return what a request brought; ``before`` are the pages and failures that were counted before."""
        size = 0 if isinstance(result.outcome, Refused) else result.outcome.size_bytes
        pages, failures = self.counts.pages - before[0], self.counts.failures - before[1]
        return Usage(charged, size, int(recorded.new_target), pages, failures)

    def _end_host(self, host: str, outcome: Outcome, charged: int) -> None:
        """Send nothing more to a host that used up its budget, or that forbids everything."""
        if not self.plan.one_site:
            why = self.host_ends.after(host, outcome, charged)
            if why is not None:
                self.give_up_host(host, why)

    def _keep(self, settlements: Sequence[Settlement]) -> None:
        """Write rewards down, and save the strategy from time to time."""
        store = self.plan.store
        if store is not None:
            store.settled(settlements, self.plan.strategy)
            if store.snapshot_due and self.plan.form is not None and not self.plan.strategy:
                store.snapshot(self._strategy, self.plan.form)

    def _for_strategy(self, state: _Open, result: FetchResult) -> FetchResult:
        """Give a page the hashes of its out-links, where they are wanted, and leave out traps and loops."""
        request = state.request
        if self.plan.out_links and isinstance(result.outcome, Page) and request.method is Method.GET:
            # Before traps are left out: what counts is what stands there.
            result = replace(result, outcome=with_out_links(result.outcome))
        if self.plan.listed_links and request.method is Method.GET:
            result = replace(result, outcome=self._listed_links.with_listed(request.url, result.outcome))
        return self._filter_traps(request, self._hops.bounded(request, result), state.visited)

    def stop(self, reason: StopReason) -> None:
        """Send nothing more; what is in flight is finished."""
        if self.stop_reason is None:
            self.stop_reason = reason
            # After an error nobody is told: whose callback raised it would raise it again, in the event loop.
            if self.error is None:
                self._tell(EventKind.STOPPING, reason=reason)
            self.wake()

    def abort(self, error: BaseException | None = None) -> None:
        """End at once; an error comes out of the crawl's entry point."""
        if self.error is None:
            self.error = error
        self.stop(StopReason.INTERRUPTED)
        if not self.aborted:
            self.aborted = True
            for cancel in self._on_abort:
                cancel()

    def spent(self) -> Usage:
        """Return what the run has spent."""
        counts = self.counts
        return Usage(counts.requests, counts.bytes, counts.targets, counts.pages, counts.failures)

    def seconds_before(self) -> float:
        """Return how long earlier sessions of the run took."""
        return 0.0 if self.plan.store is None else self.plan.store.seconds_spent

    def expects(self) -> float | None:
        """Return what the strategy's next choices promise; None where it does not know."""
        return self._strategy.expects() if isinstance(self._strategy, Expects) else None

    def rests_seconds(self) -> float:
        """Return the longest rest that any host needs now."""
        return max((wait.seconds for wait in self.waits().values()), default=0.0)

    def abandon(self) -> None:
        """End a stopping crawl without what is in flight; that stays open, and all else is saved."""
        self._saves = True
        self.abort()

    def on_abort(self, cancel: Callable[[], None]) -> None:
        """Call this when the crawl must end at once."""
        self._on_abort.append(cancel)

    def host_waits(self, host: str, waits: Sequence[Wait], pauses: Mapping[str, HostPause]) -> None:
        """Tell for how long a host has to wait, and keep what a resumed run must know of hosts."""
        for wait in waits:
            self._tell(EventKind.WAITING, host=host, seconds=round(wait.seconds, 3), why=wait.why)
        if pauses and self.plan.store is not None:
            self.plan.store.keep_pauses(pauses)

    def robots_received(self, url: str, status: int, size_bytes: int, reason: str) -> None:
        """Log what came for a robots.txt; ``reason`` says why it forbids all without saying so."""
        if self.aborted:
            return
        if self.plan.store is not None:
            self.plan.store.keep_rules(url, status, size_bytes, reason, self._clock.now())
        self._tell(EventKind.ROBOTS, url=url, status=status, size_bytes=size_bytes, reason=reason or None)

    def host_pauses(self) -> Mapping[str, HostPause]:
        """Return what earlier sessions of the run kept of hosts."""
        # Offline nothing is sent, so that no host has to rest.
        known = None if self.plan.offline else self.plan.store
        return {} if known is None else known.host_pauses()

    def received(self, size_bytes: int) -> bool:
        """Take note of bytes that arrive, or (below zero) of a body that is no longer read.

        False if there are more than the budget has left. The crawl ends then, and what is in flight stays
        open: with a larger budget it is requested again.
        """
        self._arriving += size_bytes
        limit, turns = self.plan.budget.max_bytes, self.plan.turns
        allowed = turns is None or turns.received(size_bytes)
        if size_bytes <= 0 or (allowed and (limit is None or self.counts.bytes + self._arriving <= limit)):
            return True
        self.stop(StopReason.BUDGET_BYTES)
        self.abandon()
        return False

    def seconds_left(self) -> float | None:
        """Say how many seconds are left of the budget, or of one that is shared; None without a limit."""
        limit, turns = self.plan.budget.max_seconds, self.plan.turns
        own = None if limit is None else limit - self._seconds()
        shared = None if turns is None else turns.seconds_left()
        return min((left for left in (own, shared) if left is not None), default=None)

    def progress(self) -> Progress:
        """Say where the crawl stands."""
        return self.counts.progress(
            len(self._open), len(self.outages), self.waits(), self._strategy.arm_label
        )

    def tell_progress(self) -> None:
        """Say where the crawl stands, twice per second at most; to be called during waits too."""
        if self.plan.on_progress is not None:
            now = time.monotonic()
            if now - self._told_at >= _PROGRESS_SECONDS:
                self._told_at = now
                self.plan.on_progress(self.progress())

    def close(self) -> CrawlResult:
        """Say how the crawl ended; the store learns it too."""
        if self.plan.turns is not None:
            self.plan.turns.remove()
        if self.error is not None:
            raise self.error
        counts = self.counts
        stop = final_reason(self.stop_reason or StopReason.FINISHED, counts)
        if self.plan.store is not None and (self._saves or not self.aborted):
            if not self.plan.one_site:
                self.plan.store.end_hosts(self._reasons_of_hosts())
            self._finish(self.plan.store, stop)
        progress = self.progress()
        if self.plan.on_progress is not None:
            self.plan.on_progress(progress)
        failure = "" if counts.first_failure is None else counts.first_failure.reason
        return CrawlResult(stop, progress, counts.start_links, failure, (*self._messages, *self._left_out()))

    def _finish(self, store: RunStore, stop: StopReason) -> None:
        """End the session; after a retry of what was broken the run's own strategy continues."""
        if not self.plan.strategy:
            store.finish(self._clock.now(), stop, self._strategy, self.plan.form)
        elif stop is not StopReason.FINISHED:
            store.finish(self._clock.now(), stop)

    def _left_out(self) -> Sequence[str]:
        """Say which profiles raised."""
        broken = {} if self.plan.shortcuts is None else self.plan.shortcuts.broken
        return [f"the profile {name} was skipped: it raised {error}" for name, error in broken.items()]

    def _reasons_of_hosts(self) -> dict[str, str]:
        """Say in words why hosts get no more requests."""
        return {
            host: why if why in set(SkipReason) else self.host_ends.trouble(host) or why
            for host, why in self.ended_hosts().items()
        }

    def _ask(self, hosts: Hosts) -> Request | Later | None:
        now = self._clock.now()
        request = self._strategy.choose(now, hosts)
        if isinstance(request, Request):
            checked(request)
            store = self.plan.store
            observed = store is None or store.chosen(request, now, self.plan.strategy)
            if not observed and request.method is Method.GET:
                self.visits.begin(request.url)
            self._tell(EventKind.CHOSEN, **request._asdict())
        return request

    def _seconds(self) -> float:
        return self.seconds_before() + self.counts.seconds

    def _limit(self, possible_targets: int = 0) -> StopReason | None:
        counts = self.counts
        targets = counts.targets + possible_targets
        limit = self.plan.budget.spent(self._sent, counts.bytes, self._seconds(), targets)
        return None if limit is None else StopReason.of_limit(limit)

    def _budget_spent(self) -> bool:
        """Tell whether nothing may be sent now; the last open request may still give some budget back."""
        if self.stopping:
            return True
        # Each request in flight may bring a target: there are to be no more of them than targets may come.
        limit = self._limit(len(self._open))
        if limit is None:
            return False
        if not self._open:
            self.stop(limit)
        return True

    def _record(self, state: _Open, result: FetchResult, charged: int, now: float) -> Recorded:
        """Write it down; return what the strategy is to observe."""
        store, request = self.plan.store, state.request
        lists = tuple(self.lists.observe(request.url, result.outcome))
        if store is None:
            if result.body_file is not None:
                result.body_file.unlink(missing_ok=True)
            return Recorded(result.outcome, new_target=self.visits.note(request, result.outcome))
        fetched = Fetched(
            request=request,
            outcome=result.outcome,
            started_at=state.started_at,
            finished_at=now,
            charged=charged,
            headers=result.headers,
            body=result.body,
            body_file=result.body_file,
            refused=result.refused,
            skipped=result.skipped,
            lists=lists,
            strategy=self.plan.strategy,
            sent=result.sent,
            rendered=result.rendered,
            missing=", ".join(words for drop, words in MISSING.items() if drop in result.drops),
        )
        return store.record(fetched)

    def _tell(self, what: EventKind, **data: object) -> None:
        if self.plan.on_event is not None:
            self.plan.on_event(Event(self._clock.now(), what, data))

    def _tell_observed(self, state: _Open, result: FetchResult, charged: int, file: str | None) -> None:
        request = state.request
        if self.plan.on_event is not None:
            seconds = round(self._clock.now() - state.started_at, 3)
            data = {"id": request.id, "url": request.url, "charged": charged, "seconds": seconds}
            if result.rendered is not None:
                data["rendered"] = {"requests": result.rendered.requests, "failed": result.rendered.failed}
            if file is not None:
                data["file"] = file
            self._tell(EventKind.OBSERVED, **data, **described(result.outcome))
            if isinstance(result.outcome, Refused):
                self._tell(EventKind.SKIPPED, url=request.url, reason=result.outcome.reason)
            for url, reason in result.skipped:
                self._tell(EventKind.SKIPPED, url=url, reason=reason)
        self.tell_progress()


def _nothing() -> None:
    """Wake nobody: no engine runs yet."""
