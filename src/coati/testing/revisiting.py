"""The smallest strategy that visits pages again: for tests of drivers, and as an example."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from coati.model import (
    Deferred,
    Hosts,
    Later,
    Method,
    Other,
    Outcome,
    Page,
    Redirect,
    Request,
    Settlement,
    Target,
    Unchanged,
)
from coati.strategies.deferrals import Deferrals
from coati.strategies.state import State


class RevisitInTurn:
    """Asks for every URL once, breadth-first, and again each time that some seconds have passed.

    Its registry row would need all out-links (`coati.assembly.Need`): the score of a visit is how many links
    came or went at the last one, and its reward how many did this time. What failed or leads elsewhere is
    not visited again, and nothing is after ``visits`` visits.

    >>> from coati.model import EVERY_HOST, NO_LINKS
    >>> crawl = RevisitInTurn(["http://example.org/"], every_seconds=60.0)
    >>> first = crawl.choose(0.0, EVERY_HOST)
    >>> crawl.observe(first.id, Page(200, 9, NO_LINKS, out_links=[7]), 1.0)
    [Settlement(request_id=0, reward=1.0)]
    >>> crawl.choose(2.0, EVERY_HOST)
    Later(at=61.0)
    >>> crawl.choose(61.0, EVERY_HOST)
    Request(id=1, method=<Method.GET: 'GET'>, url='http://example.org/', arm=None, score=1.0)
    """

    def __init__(self, start_urls: Sequence[str], every_seconds: float = 10.0, visits: int = 3) -> None:
        self._every_seconds = every_seconds
        self._most_visits = visits
        self._urls: list[str] = []
        self._numbers: dict[str, int] = {}
        self._new: deque[int] = deque()
        # In the order of time, since all wait equally long.
        self._due: deque[tuple[float, int]] = deque()
        self._deferred: Deferrals[int] = Deferrals()
        self._in_flight: dict[int, int] = {}
        self._visits: list[int] = []
        self._changes: list[int] = []
        self._out_links: dict[int, list[int]] = {}
        self._turn = 0
        for url in start_urls:
            self._add_url(url)

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Take what was deferred and may be retried, else what is new, else what is due for a visit."""
        idle = not (self._new or self._due or self._in_flight)
        number = self._deferred.take(now, idle=idle)
        if number is not None:
            return self._request(number)
        if self._new:
            return self._request(self._new.popleft())
        if self._due and self._due[0][0] <= now:
            return self._request(self._due.popleft()[1])
        later = self._deferred.answer()
        if self._due and (later is None or self._due[0][0] < later.at):
            return Later(self._due[0][0])
        return later

    def redo(self, request: Request, now: float) -> None:
        """Take the URL of a logged request from where it waits."""
        number = self._deferred.take_logged(request)
        if number is None:
            number = self._take_logged(request.url)
        self._request(number)

    def _take_logged(self, url: str) -> int:
        number = self._numbers.get(url, -1)
        if number in self._new:
            self._new.remove(number)
            return number
        for place, (_, due) in enumerate(self._due):
            if due == number:
                del self._due[place]
                return due
        raise ValueError(f"{url} is not waiting to be requested")

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Meet the links of a page, count what changed, and let the URL wait for its next visit."""
        number = self._in_flight.pop(request_id)
        if isinstance(outcome, Deferred):
            self._deferred.push(Method.GET, self._urls[number], number, outcome.until)
            return ()
        if isinstance(outcome, Redirect):
            self._add_url(outcome.location)
        if not isinstance(outcome, Page | Target | Other | Unchanged):
            return ()
        self._changes[number] = self._count_changes(number, outcome)
        self._visits[number] += 1
        if self._visits[number] < self._most_visits:
            self._due.append((now + self._every_seconds, number))
        if isinstance(outcome, Page):
            for url in outcome.links.urls:
                self._add_url(url)
        return [Settlement(request_id, float(self._changes[number]))]

    def _count_changes(self, number: int, outcome: Outcome) -> int:
        if not isinstance(outcome, Page):
            return 0
        before = self._out_links.get(number, [])
        self._out_links[number] = list(outcome.out_links or ())
        return len(set(before) ^ set(self._out_links[number]))

    def save(self) -> State:
        """Return everything, as lists."""
        return {
            "urls": self._urls,
            "new": list(self._new),
            "due": [list(waiting) for waiting in self._due],
            "deferred": self._deferred.save(int),
            "in_flight": [list(pair) for pair in self._in_flight.items()],
            "visits": self._visits,
            "changes": self._changes,
            "out_links": [[number, links] for number, links in self._out_links.items()],
            "turn": self._turn,
        }

    def load(self, state: State) -> None:
        """Take over a saved state."""
        self._urls = list(state["urls"])
        self._numbers = {url: number for number, url in enumerate(self._urls)}
        self._new = deque(state["new"])
        self._due = deque((at, number) for at, number in state["due"])
        self._deferred.load(state["deferred"], int)
        self._in_flight = dict(state["in_flight"])
        self._visits, self._changes = list(state["visits"]), list(state["changes"])
        self._out_links = {number: list(links) for number, links in state["out_links"]}
        self._turn = state["turn"]

    def arm_label(self, arm: int) -> str:
        """Name the only arm there is."""
        return f"all links ({arm})"

    def _add_url(self, url: str) -> None:
        if url not in self._numbers:
            self._numbers[url] = len(self._urls)
            self._new.append(len(self._urls))
            self._urls.append(url)
            self._visits.append(0)
            self._changes.append(0)

    def _request(self, number: int) -> Request:
        request = Request(self._turn, Method.GET, self._urls[number], score=float(self._changes[number]))
        self._in_flight[self._turn] = number
        self._turn += 1
        return request
