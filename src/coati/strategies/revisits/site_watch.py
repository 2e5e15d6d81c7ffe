"""A watch that also takes what is new: pages are visited, their new links followed, known files checked.

`coati.strategies.revisits.watch.Watch` decides which pages a cycle visits. The new links that they bring are
followed outside the k pages of the cycle, with a budget of their own, the most promising first; and known
files are checked in turn. Where nothing of this is left, the answer is the watch's: `Later`, when the next
cycle begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from coati.errors import ConfigError
from coati.model import (
    Deferred,
    Failure,
    Later,
    Method,
    Page,
    Redirect,
    Refused,
    Request,
    Settlement,
    Target,
)
from coati.strategies.deferrals import Deferrals
from coati.strategies.revisits.dated_pages import DatedPages
from coati.strategies.revisits.fair_queue import LinkToFollow
from coati.strategies.revisits.file_checks import FileChecks
from coati.strategies.revisits.following import Following
from coati.strategies.revisits.offered_pages import OfferedPages
from coati.strategies.state import nested, part_of
from coati.web.urls import url_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from coati.model import Hosts, Link, Outcome
    from coati.strategies.revisits.watch import Watch
    from coati.strategies.state import State

    LinkValue = Callable[[Link, str], float]

# The arms beside those of the watch itself.
FOLLOW, CHECK = 4, 5
_WORDS = {FOLLOW: "new link followed", CHECK: "known file checked"}

# A new page is followed, and so are the new links on it: a news item, then its file.
_MOST_DEPTH = 2
_MOST_HOPS = 5
# A page that was followed and held this many new files is watched from then on.
_FILES_UNTIL_WATCHED = 3
# What a sitemap or feed that is new lists is followed like what a watched page lists.
_LIST_DEPTH, _LIST_SCORE = 0, 1.0
_GONE = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class SiteWatchSettings:
    """What a cycle may request besides its pages: links that are followed, files that are checked.

    Beyond ``most_pages`` watched pages, a discovered page takes the place of one that brings nothing.
    """

    follow_per_cycle: int = 50
    check_per_cycle: int = 20
    most_pages: int = 5_000

    def __post_init__(self) -> None:
        """Refuse negative numbers."""
        if min(self.follow_per_cycle, self.check_per_cycle) < 0:
            raise ConfigError("a cycle cannot follow or check fewer than 0 URLs")


class _VisitInFlight(NamedTuple):
    """A visit in flight; ``number`` is the watch's own number of it."""

    number: int
    url: str


class _InFlight(NamedTuple):
    """A request in flight that is not a visit; ``file`` is empty where a link is followed."""

    followed: LinkToFollow | None
    file: str = ""


class SiteWatch:
    """Watches pages, follows what is new on them, and checks known files.

    ``value`` says what a link promises, given the page that it stands on. ``files`` are the known files, and
    ``known`` holds the hashes (`coati.web.urls.url_hash`) of all URLs that do not count as new.
    """

    def __init__(
        self,
        watch: Watch,
        value: LinkValue,
        settings: SiteWatchSettings | None = None,
        files: Iterable[str] = (),
        known: Container[int] = frozenset(),
    ) -> None:
        self.watch = watch
        self._value = value
        self._settings = settings or SiteWatchSettings()
        self._files = FileChecks(files)
        self._known = known
        self._queued: set[int] = set()
        self._following = Following()
        # Otherwise a page with new URLs at every visit (a session, an advertisement) would always come first.
        watch.links.exclude(self._following.skips)
        self._deferred: Deferrals[_InFlight] = Deferrals()
        self._lists = OfferedPages(watch)
        self._dated = DatedPages()
        # By the number of the request: a visit of the watch, or another request.
        self._visits: dict[int, _VisitInFlight] = {}
        self._in_flight: dict[int, _InFlight] = {}
        self._turn = 0
        self._watch_turn = 0
        # How many were followed and checked in the cycle of this count.
        self._spent = (0, 0, 0)
        self._files_on: dict[str, int] = {}

    @property
    def links_waiting(self) -> int:
        """How many new links wait to be followed."""
        return len(self._following)

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Request what waits after an outage, a page of the cycle, a new link, a known file."""
        again = self._deferred.take(now, idle=not (self._visits or self._in_flight))
        if again is not None:
            return self._request(again)
        answer = self.watch.choose(now, hosts)
        if isinstance(answer, Request):
            return self._visit(answer)
        own = self._next_own()
        if own is not None:
            return self._request(own)
        waits = self._deferred.answer()
        if waits is not None and (answer is None or waits.at < answer.at):
            return waits
        return answer

    def _visit(self, request: Request) -> Request:
        self._visits[self._turn] = _VisitInFlight(request.id, request.url)
        self._watch_turn = request.id + 1
        self._turn += 1
        return request._replace(id=self._turn - 1)

    def _next_own(self) -> _InFlight | None:
        """Take what the budget of the cycle still allows."""
        followed, checked = self._spent_now()
        if self._following and followed < self._settings.follow_per_cycle:
            self._spend(followed + 1, checked)
            return _InFlight(self._following.pop())
        if self.watch.cycles_begun and checked < self._settings.check_per_cycle:
            file = self._files.next(self.watch.cycles_begun)
            if file is not None:
                self._spend(followed, checked + 1)
                return _InFlight(None, file)
        return None

    def _spent_now(self) -> tuple[int, int]:
        cycle, followed, checked = self._spent
        return (followed, checked) if cycle == self.watch.cycles_begun else (0, 0)

    def _spend(self, followed: int, checked: int) -> None:
        self._spent = (self.watch.cycles_begun, followed, checked)

    def _request(self, sent: _InFlight) -> Request:
        number = self._turn
        self._turn += 1
        self._in_flight[number] = sent
        if sent.followed is None:
            return Request(number, Method.GET, sent.file, CHECK, 0.0)
        return Request(number, Method.GET, sent.followed.url, FOLLOW, sent.followed.score)

    def redo(self, request: Request, now: float) -> None:
        """Make a logged choice; raise `ValueError` if it is not waiting."""
        again = self._deferred.take_logged(request) if request.arm in _WORDS else None
        if again is not None:
            self._request(again)
        elif request.arm == FOLLOW:
            link = self._following.take(request.url)
            if link is None:
                raise ValueError(f"{request.url} is not waiting to be followed")
            followed, checked = self._spent_now()
            self._spend(followed + 1, checked)
            self._request(_InFlight(link))
        elif request.arm == CHECK:
            if not self._files.take(request.url, self.watch.cycles_begun):
                raise ValueError(f"{request.url} is not waiting to be checked")
            followed, checked = self._spent_now()
            self._spend(followed, checked + 1)
            self._request(_InFlight(None, request.url))
        else:
            self.watch.redo(request._replace(id=self._watch_turn), now)
            self._visits[self._turn] = _VisitInFlight(self._watch_turn, request.url)
            self._watch_turn += 1
            self._turn += 1

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Pass the watch its visits; learn from the other requests what following and checking brought."""
        visit = self._visits.pop(request_id, None)
        if visit is not None:
            settled = self.watch.observe(visit.number, outcome, now)
            for url in self._lists.observe(visit.url, outcome):
                self._push_list(url, visit.url)
            self._queue_new_links(outcome)
            for settlement in settled:
                self._dated.learn(visit.url, settlement.reward, now)
            for url in self._dated.observe(visit.url, outcome, now, self.watch.last_visit):
                self.watch.prioritise(url)
            return [settlement._replace(request_id=request_id) for settlement in settled]
        sent = self._in_flight.pop(request_id)
        if isinstance(outcome, Deferred):
            url = sent.file if sent.followed is None else sent.followed.url
            self._deferred.push(Method.GET, url, sent, outcome.until)
            return ()
        if sent.followed is None:
            self._note_check(sent.file, outcome)
            return ()
        return [Settlement(request_id, float(self._note_followed(sent.followed, outcome)))]

    def _queue_new_links(self, outcome: Outcome) -> None:
        new_pages = {link.url: link.page for link in self.watch.new_links()}
        if isinstance(outcome, Page) and new_pages:
            for place, url in enumerate(outcome.links.urls):
                page = new_pages.pop(url, None)
                if page is not None and not self._is_known(url_hash(url), url):
                    self._push(outcome.links.link(place), page, depth=1)

    def _is_known(self, key: int, url: str) -> bool:
        return key in self._queued or key in self._known or url in self._files

    def _push_list(self, url: str, page: str) -> None:
        key = url_hash(url)
        if not self._is_known(key, url):
            self._queued.add(key)
            self._following.push(self._new_link(url, page, _LIST_SCORE, _LIST_DEPTH))

    def _push(self, link: Link, page: str, depth: int) -> None:
        self._queued.add(url_hash(link.url))
        self._following.push(self._new_link(link.url, page, self._value(link, page), depth))

    def _new_link(self, url: str, page: str, score: float, depth: int) -> LinkToFollow:
        return LinkToFollow(url, page, score, depth, cycle=self.watch.cycles_begun)

    def _note_links_of_followed(self, link: LinkToFollow, page: Page) -> None:
        """Queue the new links of a followed page as well, if it is near enough to a watched one."""
        if link.depth < _MOST_DEPTH:
            for place, url in enumerate(page.links.urls):
                key = url_hash(url)
                is_new = key not in self.watch.links and not self._is_known(key, url)
                if is_new and not self._following.skips(url):
                    self._push(page.links.link(place), link.url, link.depth + 1)
        self.watch.links.add_unwatched(page.out_links or ())

    def _note_check(self, file: str, outcome: Outcome) -> None:
        if isinstance(outcome, Failure) and outcome.status in _GONE:
            self._files.missing(file)
        else:
            self._files.present(file)

    def _note_followed(self, link: LinkToFollow, outcome: Outcome) -> bool:
        """Learn what a link led to; return whether it was a file."""
        if isinstance(outcome, Redirect) and link.hops < _MOST_HOPS:
            self._follow_redirect(link, outcome.location)
            return False
        if isinstance(outcome, Refused):
            return False
        found = isinstance(outcome, Target)
        if found:
            self._files.add(link.url)
            self._note_file_on(link.page)
        elif isinstance(outcome, Page):
            self._note_links_of_followed(link, outcome)
            if link.url in self._lists:
                self._watch_also(link.url)
        self._following.learn(link.url, led_to_file=found)
        return found

    def _follow_redirect(self, link: LinkToFollow, location: str) -> None:
        key = url_hash(location)
        if not self._is_known(key, location):
            self._queued.add(key)
            self._following.push(link._replace(url=location, hops=link.hops + 1))

    def _note_file_on(self, page: str) -> None:
        """Watch a page that was followed, once it has held several files; its shape counts as useful."""
        self._following.learn(page, led_to_file=True)
        self._files_on[page] = self._files_on.get(page, 0) + 1
        if self._files_on[page] == _FILES_UNTIL_WATCHED:
            self._watch_also(page)

    def _watch_also(self, page: str) -> None:
        if self.watch.watched_count < self._settings.most_pages or self.watch.drop_least_useful():
            self.watch.add_pages([page])

    def save(self) -> State:
        """Return the whole state, that of the watch included."""
        return {
            **nested("watch", self.watch.save()),
            "files": self._files.save(),
            "lists": self._lists.save(),
            "dated": self._dated.save(),
            "following": self._following.save(),
            "met": sorted(self._queued),
            "deferred_own": self._deferred.save(_to_json),
            "visits": [[number, *visit] for number, visit in self._visits.items()],
            "asked": [[number, _to_json(sent)] for number, sent in self._in_flight.items()],
            "own_turn": self._turn,
            "watch_turn": self._watch_turn,
            "spent": list(self._spent),
            "files_on": [list(pair) for pair in self._files_on.items()],
        }

    def load(self, state: State) -> None:
        self.watch.load(part_of(state, "watch"))
        self._files.load(state["files"])
        self._following.load(state["following"])
        self._lists.load(state["lists"])
        self._dated.load(state["dated"])
        self._queued = set(state["met"])
        self._deferred.load(state["deferred_own"], _from_json)
        self._visits = {number: _VisitInFlight(*visit) for number, *visit in state["visits"]}
        self._in_flight = {number: _from_json(asked) for number, asked in state["asked"]}
        self._turn, self._watch_turn = state["own_turn"], state["watch_turn"]
        first, second, third = state["spent"]
        self._spent = (first, second, third)
        self._files_on = dict(state["files_on"])

    def arm_label(self, arm: int) -> str:
        """Say why something is requested."""
        return _WORDS.get(arm) or self.watch.arm_label(arm)


def _to_json(sent: _InFlight) -> list[object]:
    return [None if sent.followed is None else list(sent.followed), sent.file]


def _from_json(saved: list[object]) -> _InFlight:
    followed, file = saved
    return _InFlight(LinkToFollow(*followed) if isinstance(followed, list) else None, str(file))
