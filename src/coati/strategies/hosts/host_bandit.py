"""A crawl over many hosts: first which host, then which of its pages (Anthelion, CIKM 2014).

Each choice draws a number. If it is above lambda the host with the best score is taken, else any host with
pages that wait; in the host, the page that promises most. What was fetched is a reward of one for its host if
it is relevant (a target counts as well), and an example for the classifier. Lambda may decay: after t choices
it is lambda * m / (t + m).

What the paper leaves open, since its crawls were replays without failures: an error is bad for its host and
not an example; a redirect is neither good nor bad, and its location counts as found on the page that led
there; a refusal counts for nothing. The parent of a page is the one that it was found on first, as in the
published code.

Hosts that may not get a request now sleep, and are not part of what is saved.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from coati.model import Deferred, Failure, Method, Page, Redirect, Refused, Request, Settlement, is_wanted
from coati.strategies.chance import draw
from coati.strategies.deferrals import Deferrals
from coati.strategies.hosts.awake_hosts import AwakeHosts
from coati.strategies.hosts.known_hosts import KnownHosts
from coati.strategies.hosts.page_features import FoundPage
from coati.strategies.hosts.page_models import probability
from coati.strategies.hosts.waiting_pages import WaitingPages
from coati.strategies.known_urls import KnownUrls
from coati.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Hosts, Later, Outcome
    from coati.strategies.hosts.host_scores import HostScores
    from coati.strategies.hosts.page_models import PageModel
    from coati.strategies.state import State

ON_EXPLORE: Final = "on-explore"
ON_DEMAND: Final = "on-demand"

# Labels of pages: not fetched (or no page at all), not relevant, relevant.
_UNKNOWN, _BAD, _GOOD = range(3)
_NO_PAGE = 0xFFFFFFFF
_FINE = 1 << 53


@dataclass(frozen=True, slots=True)
class Exploration:
    """How often any host is taken (lambda in the paper); after m choices it is half as often.

    With a ``half_after`` of 0 it stays as it is.

    >>> Exploration(0.5, 10_000).at(10_000), Exploration(0.5).at(10_000)
    (0.25, 0.5)
    """

    share: float
    half_after: int = 0

    def at(self, turn: int) -> float:
        """Return lambda after this many choices."""
        return self.share * self.half_after / (turn + self.half_after) if self.half_after else self.share


class HostBandit:
    """Hosts are the arms, a pull fetches the host's most promising page.

    ``scores`` ranks the hosts, ``model`` the pages inside a host. With ``on_demand`` all pages of the chosen
    host are scored again, otherwise each once, when it is found; ``siblings`` says whether the model uses
    what came of the other links of the page that a page was found on.
    """

    def __init__(  # noqa: PLR0913 - each by name
        self,
        start_urls: Sequence[str],
        seed: int,
        *,
        scores: HostScores,
        model: PageModel,
        exploration: Exploration,
        on_demand: bool = False,
        siblings: bool = False,
    ) -> None:
        self._seed = seed
        self._scores = scores
        self._model = model
        self._exploration = exploration
        self._on_demand = on_demand
        # By page: how many of its children were good, and bad.
        self._children: dict[int, list[int]] | None = {} if siblings else None
        self._known = KnownUrls()
        self._hosts = KnownHosts()
        self._waiting = WaitingPages()
        self._awake = AwakeHosts()
        # By page: its host, the page that it was found on, its label.
        self._host_of = array("I")
        self._parent_of = array("I")
        self._labels = array("B")
        self._in_flight: dict[int, int] = {}
        self._deferred: Deferrals[int] = Deferrals()
        self._turn = 0
        for url in start_urls:
            if url not in self._known:
                self._add_url(url, _NO_PAGE)

    # --- choosing -------------------------------------------------------------------------------

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Take a deferred page that is due, else draw a host among those that may get a request."""
        self._wake(hosts.take_ready())
        idle = not len(self._waiting) and not self._in_flight
        page = self._deferred.take(now, idle=idle)
        if page is not None:
            return self._request(page, None)
        while len(self._awake):
            host, score = self._draw()
            if hosts.ready(self._hosts.name(host)):
                return self._request(self._take_best(host), score)
            self._sleep(host)
        return self._deferred.answer()

    def _draw(self) -> tuple[int, float | None]:
        chance = draw(self._seed, 2 * self._turn, _FINE) / _FINE
        if chance > self._exploration.at(self._turn):
            return self._scores.choose(self._turn)
        return self._awake[draw(self._seed, 2 * self._turn + 1, len(self._awake))], None

    def _take_best(self, host: int) -> int:
        self._rescore(host)
        page = self._waiting.pop(host)
        self._left(host)
        return page

    def redo(self, request: Request, now: float) -> None:
        """Take the page of a logged request: nearly always the best of its host."""
        page = self._deferred.take_logged(request)
        self._request(self._take_logged(request.url) if page is None else page, request.score)

    def _take_logged(self, url: str) -> int:
        host = self._hosts.find(host_of(url))
        if host is None or host not in self._waiting:
            raise ValueError(f"{url} is not waiting to be requested")
        self._rescore(host)
        if self._known[self._waiting.best_page(host)] == url:
            page = self._waiting.pop(host)
        else:
            page = self._waiting.take(host, lambda number: self._known[number] == url)
        self._left(host)
        return page

    def _rescore(self, host: int) -> None:
        if self._on_demand:
            self._waiting.rescore(host, lambda page: self._model.promise(self._found(page)))

    def _request(self, page: int, score: float | None) -> Request:
        host = self._host_of[page]
        self._hosts.bad[host] += 1
        self._changed(host)
        request = Request(self._turn, Method.GET, self._known[page], host, score)
        self._in_flight[self._turn] = page
        self._turn += 1
        return request

    # --- learning -------------------------------------------------------------------------------

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Reward the host, learn from the page, and queue its new links."""
        page = self._in_flight.pop(request_id)
        if isinstance(outcome, Deferred | Refused | Redirect):
            self._undo(page)
            if isinstance(outcome, Deferred):
                self._deferred.push(Method.GET, self._known[page], page, outcome.until)
            elif isinstance(outcome, Redirect) and outcome.location not in self._known:
                self._add_url(outcome.location, self._parent_of[page])
            return ()
        good = is_wanted(outcome)
        self._reward(page, good=good)
        if not isinstance(outcome, Failure):
            self._label(page, good=good)
        if isinstance(outcome, Page):
            urls = outcome.links.urls
            for place in self._known.new_indices(urls):
                if urls[place] not in self._known:
                    self._add_url(urls[place], page)
        return (Settlement(request_id, float(good)),)

    def _undo(self, page: int) -> None:
        host = self._host_of[page]
        self._hosts.bad[host] -= 1
        self._changed(host)

    def _reward(self, page: int, *, good: bool) -> None:
        if good:
            host = self._host_of[page]
            self._hosts.good[host] += 1
            self._hosts.bad[host] -= 1
            self._changed(host)

    def _label(self, page: int, *, good: bool) -> None:
        self._model.learn(self._found(page), relevant=good)
        self._labels[page] = _GOOD if good else _BAD
        parent = self._parent_of[page]
        if self._children is not None and parent != _NO_PAGE:
            self._children.setdefault(parent, [0, 0])[good] += 1

    def _add_url(self, url: str, parent: int) -> None:
        page = self._known.add(url)
        if page is None:
            return
        host = self._hosts.number(host_of(url))
        self._host_of.append(host)
        self._parent_of.append(parent)
        self._labels.append(_UNKNOWN)
        if self._waiting.push(host, page, self._model.promise(self._found(page, url))):
            if host not in self._awake:
                self._awake.add(host)
            self._changed(host)

    def _found(self, page: int, url: str = "") -> FoundPage:
        """Return what is known of a page before it is fetched."""
        parent = self._parent_of[page]
        label = None if parent == _NO_PAGE else self._labels[parent] == _GOOD
        url = url or self._known[page]
        if self._children is None or parent not in self._children:
            return FoundPage(url, label)
        bad, good = self._children[parent]
        return FoundPage(url, label, good_sibling=good > 0, bad_sibling=bad > 0)

    # --- which hosts may be chosen --------------------------------------------------------------

    def _changed(self, host: int) -> None:
        """Rank a host by what is known of it now."""
        if host in self._awake:
            best = probability(self._waiting.best(host))
            self._scores.put(host, self._hosts.good[host], self._hosts.bad[host], best)

    def _left(self, host: int) -> None:
        """Note that a page of a host no longer waits."""
        if host not in self._waiting and host in self._awake:
            self._sleep(host)

    def _sleep(self, host: int) -> None:
        self._awake.discard(host)
        self._scores.remove(host)

    def _wake(self, names: Sequence[str]) -> None:
        for name in names:
            host = self._hosts.find(name)
            if host is not None and host in self._waiting and host not in self._awake:
                self._awake.add(host)
                self._changed(host)

    # --- saving ---------------------------------------------------------------------------------

    def save(self) -> State:
        """Return everything but which hosts sleep."""
        awake = self._awake.save()
        asleep = [host for host in self._waiting.hosts() if host not in self._awake]
        return {
            **self._known.save(),
            **self._hosts.save(),
            **self._waiting.save(),
            **self._model.save(),
            **self._scores.save(),
            "page_hosts": np.array(self._host_of, np.uint32),
            "page_parents": np.array(self._parent_of, np.uint32),
            "page_labels": np.array(self._labels, np.uint8),
            "awake": np.array(awake + asleep, np.uint32),
            "children": [[page, *counts] for page, counts in (self._children or {}).items()],
            "in_flight": list(self._in_flight.items()),
            "deferred": self._deferred.save(int),
            "turn": self._turn,
        }

    def load(self, state: State) -> None:
        for host in self._awake.save():
            self._sleep(host)
        self._known = KnownUrls()
        self._known.load(state)
        self._hosts.load(state)
        self._waiting.load(state)
        self._model.load(state)
        self._scores.load(state)
        self._host_of = array("I", state["page_hosts"].tobytes())
        self._parent_of = array("I", state["page_parents"].tobytes())
        self._labels = array("B", state["page_labels"].tobytes())
        if self._children is not None:
            self._children = {page: counts for page, *counts in state["children"]}
        self._in_flight = dict(state["in_flight"])
        self._deferred.load(state["deferred"], int)
        self._turn = state["turn"]
        for host in state["awake"].tolist():
            self._awake.add(host)
            self._changed(host)

    def arm_label(self, arm: int) -> str:
        """Name a host."""
        return self._hosts.name(arm)
