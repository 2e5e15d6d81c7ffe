"""SB-CLASSIFIER: a sleeping bandit over groups of links with similar tag paths (Gauquier et al., EDBT 2026).

Each new link of a page is classified by its URL. One taken for a target is fetched at once; one taken for a
page waits in the group of its tag path. A bandit chooses among the groups that have links waiting, a random
link of the group is followed, and the number of new targets that its page links to is the group's reward.

The loop of the paper is recursive and sequential. Here it is a machine that can stop between any two
requests. A fetched page is *open* while a cursor goes through its links in document order; at a link that
needs a request (a HEAD while the classifier is untrained, a GET for a supposed target) the machine hands the
request out. With one request in flight this gives exactly the paper's order, since each answer is observed
before the cursor moves on. With several, the cursor does not wait: it continues with the classifier as it is.
A page closes, and its reward is final, when the cursor is through and none of its own requests is in flight.

A page's new links are its own from the moment it is observed, and pages are gone through in the order in
which they were observed. So it makes no difference whether a page is handed over whole or, as a log keeps it,
with its new links only. A supposed target that turns out to be a page is *forced*: it counts as a pull of its
own group, and its turn comes after the pages that are open.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from coati.bandits.sleeping_ucb import SleepingUcb
from coati.model import (
    Deferred,
    Link,
    LinkList,
    Method,
    Page,
    Redirect,
    Refused,
    Request,
    Settlement,
    Target,
)
from coati.strategies.chance import draw
from coati.strategies.deferrals import Deferrals
from coati.strategies.known_urls import KnownUrls
from coati.strategies.sb.path_groups import PathGroups
from coati.strategies.sb.tag_path_vectors import TagPathSpace
from coati.strategies.sb.url_classes import UrlClass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Hosts, Later, Outcome, PageLinks
    from coati.strategies.sb.path_groups import GroupIndex
    from coati.strategies.sb.url_classes import UrlClasses
    from coati.strategies.state import State


@dataclass(frozen=True, slots=True)
class TagPathSettings:
    """The paper's parameters, with its defaults.

    ``count_pulls_at_page`` is the published code's way: an arm's pulls grow only when an HTML page was
    processed, so that a group of dead links looks untried until it is drained. ``miss_reward`` (usually
    None: no reward) is an arm's reward for a link that led to no page.
    """

    exploration: float = 2 * 2**0.5
    similarity: float = 0.75
    ngram: int = 2
    log2_dimensions: int = 12
    word_bits: int = 15
    count_pulls_at_page: bool = False
    miss_reward: float | None = None


class _Role(IntEnum):
    """Why a request was made."""

    FOLLOW = 0  # drawn from a group, or the start page
    PROBE = 1  # a HEAD that tells the class of a link
    TAKE = 2  # a supposed target, fetched at once


# By role.
_METHODS = (Method.GET, Method.HEAD, Method.GET)


class _Task(NamedTuple):
    """A request that is wanted or in flight.

    ``opener`` is the request whose page needs it, -1 for none; ``learn``: the class was predicted, so
    the answer is an example for the classifier.
    """

    role: _Role
    number: int
    url: str
    arm: int
    score: float
    opener: int
    path: tuple[str, ...]
    learn: bool


@dataclass(slots=True)
class _OpenPage:
    """A page whose links are being gone through.

    ``new`` holds the new ones that are left, the next at the end: their place on the page and their number.
    """

    request_id: int
    arm: int
    links: PageLinks
    new: list[tuple[int, int]]
    waiting: int = 0
    reward: int = 0


NO_ARM = -1


class TagPathStrategy:
    """The crawler of the paper, over a classifier of URLs (`coati.strategies.sb.url_classes`)."""

    def __init__(
        self,
        start_urls: Sequence[str],
        classes: UrlClasses,
        seed: int = 0,
        settings: TagPathSettings | None = None,
        groups: GroupIndex | None = None,
    ) -> None:
        self._settings = settings or TagPathSettings()
        self._classes = classes
        self._seed = seed
        self._space = TagPathSpace(
            self._settings.ngram, self._settings.log2_dimensions, self._settings.word_bits
        )
        self._groups = groups or PathGroups(self._settings.similarity, self._space.dimensions)
        self._policy = SleepingUcb(self._settings.exploration)
        self._known = KnownUrls()
        # One byte per URL: whether its class was predicted, so that fetching it teaches the classifier.
        self._predicted = bytearray()
        self._waiting_links: list[array[int]] = []
        self._examples: list[str] = []
        self._wanted: list[_Task] = []
        self._in_flight: dict[int, _Task] = {}
        self._deferred: Deferrals[_Task] = Deferrals()
        self._open: list[_OpenPage] = []
        self._settled: list[Settlement] = []
        self._turn = 0
        self._requests = 0
        for url in start_urls:
            number = self._add_url(url)
            if number is not None:
                self._wanted.append(_Task(_Role.FOLLOW, number, url, NO_ARM, 0.0, -1, (), learn=False))

    # --- the contract ---------------------------------------------------------------------------

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Return the request that an open page needs, else a random link of the best group."""
        deferred = self._deferred.take(now, idle=False)
        if deferred is not None:
            return self._send(self._pulled_again(deferred))
        task = self._next_wanted()
        if task is None:
            choice = self._best_group()
            if choice is None:
                return self._take_deferred(now)
            arm, score = choice
            pool = self._waiting_links[arm]
            task = self._follow(arm, score, draw(self._seed, self._turn, len(pool)))
        return self._send(task)

    def _take_deferred(self, now: float) -> Request | Later | None:
        deferred = self._deferred.take(now, idle=not self._in_flight)
        return self._deferred.answer() if deferred is None else self._send(self._pulled_again(deferred))

    def redo(self, request: Request, now: float) -> None:
        """Repeat a logged choice."""
        deferred = self._deferred.take_logged(request)
        if deferred is not None:
            self._send(self._pulled_again(deferred))
            return
        task = self._next_wanted()
        if task is None:
            if request.arm is None or request.arm >= len(self._waiting_links):
                raise ValueError(f"the log chose {request.url} from a group that does not exist")
            pool = self._waiting_links[request.arm]
            place = draw(self._seed, self._turn, len(pool)) if pool else 0
            if not pool or self._known[pool[place]] != request.url:
                place = [self._known[number] for number in pool].index(request.url)
            task = self._follow(request.arm, request.score or 0.0, place)
        if task.url != request.url:
            raise ValueError(f"the log chose {request.url} where {task.url} is due")
        self._send(task)

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Learn from one answer, and continue with the pages that are open."""
        task = self._in_flight.pop(request_id)
        if isinstance(outcome, Deferred):
            self._requests -= 1
            self._defer(task, outcome.until)
            return ()
        if isinstance(outcome, Refused):
            self._requests -= 1
        if task.learn:
            self._classes.learn(task.url, outcome)
        opener = self._opener(task)
        if opener is not None:
            opener.waiting -= 1
        if isinstance(outcome, Redirect) and task.role is not _Role.PROBE:
            self._hop(task, outcome.location, opener)
        elif task.role is _Role.FOLLOW:
            self._followed(request_id, task, outcome)
        elif opener is not None:
            self._answered(request_id, task, outcome, opener)
        self._advance()
        settled, self._settled = self._settled, []
        return settled

    def arm_label(self, arm: int) -> str:
        """Show the path of the link that founded the group."""
        return self._examples[arm] if 0 <= arm < len(self._examples) else "the start page"

    # --- requests -------------------------------------------------------------------------------

    def _next_wanted(self) -> _Task | None:
        if not self._wanted:
            # Only with several requests in flight is there anything left to advance here.
            self._advance()
        return self._wanted.pop(0) if self._wanted else None

    def _best_group(self) -> tuple[int, float] | None:
        if self._requests > 1:
            return self._policy.choose(self._requests)
        # ln 1 = 0: no bonus and no mean yet, so that all groups are equal.
        awake = self._policy.awake_arms()
        return (awake[draw(self._seed, self._turn, len(awake))], 0.0) if awake else None

    def _follow(self, arm: int, score: float, place: int) -> _Task:
        pool = self._waiting_links[arm]
        number, last = pool[place], pool.pop()
        if place < len(pool):
            pool[place] = last
        if not pool:
            self._policy.sleep(arm)
        if not self._settings.count_pulls_at_page:
            # At selection: else a group of dead links looks untried, and the bonus keeps choosing it.
            self._policy.pull(arm)
        learn = bool(self._predicted[number])
        return _Task(_Role.FOLLOW, number, self._known[number], arm, score, -1, (), learn)

    def _counts_as_pull(self, task: _Task) -> bool:
        return task.role is _Role.FOLLOW and task.arm != NO_ARM and not self._settings.count_pulls_at_page

    def _pulled_again(self, task: _Task) -> _Task:
        """Count the pull of a link that was deferred by an outage."""
        if self._counts_as_pull(task):
            self._policy.pull(task.arm)
        return task

    def _defer(self, task: _Task, until: float) -> None:
        """Undo a pull that failed in an outage; a page that waits for the link stays open."""
        if self._counts_as_pull(task):
            self._policy.undo_pull(task.arm)
        self._deferred.push(_METHODS[task.role], task.url, task, until)

    def _send(self, task: _Task) -> Request:
        arm = None if task.arm == NO_ARM else task.arm
        request = Request(self._turn, _METHODS[task.role], task.url, arm, task.score)
        self._in_flight[self._turn] = task
        self._turn += 1
        self._requests += 1
        return request

    # --- answers --------------------------------------------------------------------------------

    def _opener(self, task: _Task) -> _OpenPage | None:
        for page in reversed(self._open):
            if page.request_id == task.opener:
                return page
        return None

    def _hop(self, task: _Task, location: str, opener: _OpenPage | None) -> None:
        """Follow a redirect for the same reason; each hop is a request."""
        number = self._add_url(location)
        if number is None:
            if task.role is _Role.FOLLOW:
                self._missed(task.arm)
            return
        self._wanted.append(task._replace(number=number, url=location, learn=False))
        if opener is not None:
            opener.waiting += 1

    def _followed(self, request_id: int, task: _Task, outcome: Outcome) -> None:
        if isinstance(outcome, Page):
            self._open_page(request_id, task.arm, outcome.links)
        else:
            self._missed(task.arm)

    def _answered(self, request_id: int, task: _Task, outcome: Outcome, opener: _OpenPage) -> None:
        if task.role is _Role.PROBE:
            self._place(task, self._classes.probed(task.url, outcome), opener)
        elif isinstance(outcome, Target):
            opener.reward += 1
        elif isinstance(outcome, Page):
            arm = self._group(task.path)
            if not self._settings.count_pulls_at_page:
                self._policy.pull(arm)
            self._open_page(request_id, arm, outcome.links)

    def _missed(self, arm: int) -> None:
        if arm != NO_ARM and self._settings.miss_reward is not None:
            self._policy.observe(arm, self._settings.miss_reward)

    # --- open pages -----------------------------------------------------------------------------

    def _open_page(self, request_id: int, arm: int, links: PageLinks) -> None:
        if self._settings.count_pulls_at_page and arm != NO_ARM:
            self._policy.pull(arm)
        new = []
        urls = links.urls
        for index in self._known.new_indices(urls):
            number = self._add_url(urls[index])
            if number is not None:
                new.append((index, number))
        new.reverse()
        self._open.append(_OpenPage(request_id, arm, links, new))

    def _advance(self) -> None:
        """Move the cursors until a request is wanted, and close the pages that are through."""
        at = 0
        while at < len(self._open) and not self._wanted:
            page = self._open[at]
            self._scan(page)
            if self._wanted:
                return
            if page.waiting:
                at += 1
            else:
                del self._open[at]
                self._close(page)

    def _scan(self, page: _OpenPage) -> None:
        while page.new and not self._wanted:
            index, number = page.new.pop()
            link = page.links.link(index)
            url_class, score = self._classes.classify(link.url, link)
            predicted = url_class is not UrlClass.UNKNOWN
            self._predicted[number] = predicted
            task = _Task(
                _Role.PROBE, number, link.url, page.arm, score, page.request_id, link.tag_path, predicted
            )
            if predicted:
                self._place(task, url_class, page)
            else:
                page.waiting += 1
                self._wanted.append(task)

    def _place(self, task: _Task, url_class: UrlClass, page: _OpenPage) -> None:
        """Queue a link by its class."""
        if url_class is UrlClass.TARGET:
            page.waiting += 1
            self._wanted.append(task._replace(role=_Role.TAKE))
        elif url_class is UrlClass.PAGE:
            arm = self._group(task.path)
            self._waiting_links[arm].append(task.number)
            if len(self._waiting_links[arm]) == 1:
                self._policy.wake(arm)

    def _close(self, page: _OpenPage) -> None:
        if page.arm != NO_ARM:
            self._policy.observe(page.arm, page.reward)
        self._settled.append(Settlement(page.request_id, page.reward))

    def _group(self, path: tuple[str, ...]) -> int:
        arm = self._groups.join(self._space.vector(path))
        if arm == len(self._waiting_links):
            self._waiting_links.append(array("I"))
            self._examples.append(" > ".join(path))
            self._policy.wake(arm)
            self._policy.sleep(arm)
        return arm

    def _add_url(self, url: str) -> int | None:
        number = self._known.add(url)
        if number is not None:
            self._predicted.append(0)
        return number

    # --- saving ---------------------------------------------------------------------------------

    def save(self) -> State:
        """Return the whole state, open pages with their remaining links included."""
        pools = self._waiting_links
        return {
            **self._known.save(),
            **self._space.save(),
            **self._groups.save(),
            **self._policy.save(),
            **self._classes.save(),
            "predicted": bytes(self._predicted),
            "pool_sizes": [len(pool) for pool in pools],
            "pools": b"".join(pool.tobytes() for pool in pools),
            "examples": list(self._examples),
            "wanted": [list(task) for task in self._wanted],
            "in_flight": [[key, *task] for key, task in self._in_flight.items()],
            "deferred": self._deferred.save(list),
            "open": [_page_to_list(page) for page in self._open],
            "settled": [list(settlement) for settlement in self._settled],
            "counters": [self._turn, self._requests],
        }

    def load(self, state: State) -> None:
        self._known = KnownUrls()
        self._known.load(state)
        self._space.load(state)
        self._groups.load(state)
        self._policy.load(state)
        self._classes.load(state)
        self._predicted = bytearray(state["predicted"])
        links = array("I", state["pools"])
        self._waiting_links, start = [], 0
        for size in state["pool_sizes"]:
            self._waiting_links.append(links[start : start + size])
            start += size
        self._examples = list(state["examples"])
        self._wanted = [_task_from(task) for task in state["wanted"]]
        self._in_flight = {key: _task_from(task) for key, *task in state["in_flight"]}
        self._deferred.load(state["deferred"], _task_from)
        self._open = [_page_from(page) for page in state["open"]]
        self._settled = [Settlement(*settlement) for settlement in state["settled"]]
        self._turn, self._requests = state["counters"]


def _task_from(values: Sequence[Any]) -> _Task:
    role, number, url, arm, score, opener, path, learn = values
    return _Task(_Role(role), number, url, arm, score, opener, tuple(path), learn)


def _page_to_list(page: _OpenPage) -> list[Any]:
    left = [[number, *page.links.link(index)] for index, number in page.new]
    return [page.request_id, page.arm, left, page.waiting, page.reward]


def _page_from(values: Sequence[Any]) -> _OpenPage:
    request_id, arm, left, waiting, reward = values
    links = LinkList([Link(url, tuple(path), *rest) for _, url, path, *rest in left])
    new = [(index, number) for index, (number, *_) in enumerate(left)]
    return _OpenPage(request_id, arm, links, new, waiting, reward)
