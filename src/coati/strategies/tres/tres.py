"""TRES (Kontogiannis et al., 2021): a focused crawler by reinforcement learning, as adapted in EDBT 2026.

A step follows one link to a page; its reward is 1 if a classifier of texts takes the page for one like the
example pages, else 0. A link is described by seven numbers: three say how relevant the pages on the way to it
were, four what its URL and its anchor promise. A network learns what a link is worth, later steps included,
and a regression tree sorts the links that wait, so that each step values one random link per leaf
(`coati.strategies.tres.tree_frontier`) and follows the best of them. The first steps are random.

TRES looks for relevant pages and knows nothing of files. The paper's adaptation to target files gives it
three advantages, which no other crawler has: it knows for free which links are pages, it has example pages
that link to targets, from other sites, and it has a list of words that speak of data
(`coati.strategies.tres.terms`). Links that are not pages never wait: those of a fetched page are requested
right after it, in document order, whatever they turn out to be.

Both papers leave these points open; here the next action of a step, which Q-learning needs, is the one that
was chosen next; a redirect is not a step, and where it leads has the features of the link; a page that fails
is a step with reward 0; a page's path is the one on which it was found first.

Its parts are passed to the constructor. `tres_light` has a logistic regression on words for the texts
and a network in numpy for the values; `coati.strategies.tres.neural` has TRES's own, on PyTorch.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from coati.errors import UsageError
from coati.learners.double_q import DoubleQ, QSettings
from coati.learners.word_logistic import WordLogistic, words_of
from coati.model import Deferred, Failure, Kind, Link, Method, Page, Redirect, Refused, Request, Settlement
from coati.strategies.deferrals import Deferrals
from coati.strategies.known_urls import KnownUrls
from coati.strategies.tres.terms import KEYWORDS, has_keyphrase, has_keyword
from coati.strategies.tres.tree_frontier import TreeFrontier, TreeSettings

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

    from coati.learners.double_q import QLearner
    from coati.model import Hosts, Later, Outcome
    from coati.strategies.state import State
    from coati.strategies.tres.tree_frontier import LeafPick
    from coati.strategies.truth import SiteTruth

    Rows = npt.NDArray[np.float32]

FEATURES = (
    "the page with the link was relevant",
    "1 / links since a relevant page",
    "share of relevant pages on the way",
    "a keyword in the URL",
    "a keyword in the anchor",
    "a keyphrase in the anchor",
    "probability by URL and anchor",
)

_RELEVANT = 0.5
_NO_PAGE = -1
# Words of a link that are looked at.
_MOST_LINK_WORDS = 60


class TextClassifier(Protocol):
    """Tells texts like the example pages from others; trained before the crawl."""

    def probability(self, text: str) -> float:
        """Return the probability that a text is relevant."""


@dataclass(frozen=True, slots=True)
class TresExamples:
    """Texts of pages of other sites: ones that link to targets, and ones that do not."""

    positive: Sequence[str]
    negative: Sequence[str]

    def __post_init__(self) -> None:
        """Refuse examples that no classifier can be trained with."""
        if not self.positive or not self.negative:
            raise UsageError("TRES needs example pages with targets and without, from other sites")


@dataclass(frozen=True, slots=True)
class TresSettings:
    """The published parameters."""

    tree: TreeSettings = field(default_factory=TreeSettings)
    values: QSettings = field(default_factory=QSettings)


@dataclass(frozen=True, slots=True)
class TresParts:
    """What the crawler is given: the truth about kinds, what judges texts and what values links."""

    truth: SiteTruth
    classifier: TextClassifier
    values: QLearner
    keywords: Collection[str] = KEYWORDS


class TresStrategy:
    """The crawler. Links to pages wait in the tree; others are requested as soon as they are found."""

    def __init__(
        self, start_urls: Sequence[str], parts: TresParts, seed: int = 0, settings: TresSettings | None = None
    ) -> None:
        self.parts = parts
        self._seed = seed
        self._known = KnownUrls()
        self._tree = TreeFrontier(len(FEATURES), (settings or TresSettings()).tree)
        # By URL: the page on which it was found.
        self._father = array("i")
        # By fetched page: whether it is relevant, relevant pages and pages on the way to it (itself
        # included), and links since the last relevant one (0: itself, -1: there was none).
        self._ways: dict[int, tuple[bool, int, int, int]] = {}
        self._files: deque[int] = deque()
        self._in_flight: dict[int, tuple[int, Rows | None]] = {}
        self._deferred: Deferrals[tuple[int, Rows | None]] = Deferrals()
        # Steps whose next action is not known yet.
        self._unfinished: list[tuple[Rows, float]] = []
        self._turn = 0
        for url in start_urls:
            number = self._add_url(url, _NO_PAGE)
            if number is not None:
                self._files.append(number)

    # --- the contract ---------------------------------------------------------------------------

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Return a link that is not a page, else the best of one link per leaf."""
        waiting = bool(self._files) or bool(len(self._tree))
        deferred = self._deferred.take(now, idle=not waiting and not self._in_flight)
        if deferred is not None:
            return self._request(*deferred)
        if self._files:
            return self._request(self._files.popleft())
        return self._follow(*self._best()) if waiting else self._deferred.answer()

    def redo(self, request: Request, now: float) -> None:
        """Repeat a logged choice: nearly always the one that `choose` would make."""
        deferred = self._deferred.take_logged(request)
        if deferred is not None:
            self._request(*deferred)
            return
        if self._files:
            if self._known[self._files[0]] != request.url:
                raise ValueError(f"the log chose {request.url} where {self._known[self._files[0]]} is due")
            self._request(self._files.popleft())
            return
        if len(self._tree):
            pick, value = self._best()
            if self._known[pick.number] == request.url:
                self._follow(pick, value)
                return
        self._follow(self._tree.find(self._known.find(request.url)), request.score)

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Judge a page, learn from the step, and queue its links."""
        number, row = self._in_flight.pop(request_id)
        if isinstance(outcome, Deferred):
            self._deferred.push(Method.GET, self._known[number], (number, row), outcome.until)
            return ()
        if isinstance(outcome, Redirect):
            self._add_redirect(outcome.location, number, row)
            return ()
        if isinstance(outcome, Page):
            reward = self._judge(number, str(outcome.facts.get("text", "")))
            self._take_links(number, outcome)
        elif isinstance(outcome, Refused) or row is None:
            return ()
        else:
            reward = 0.0
        if row is not None and isinstance(outcome, Page | Failure):
            self._tree.learn(row, reward)
            self._unfinished.append((row, reward))
        return (Settlement(request_id, reward),)

    def arm_label(self, arm: int) -> str:
        """Say what the links of a leaf have in common."""
        conditions = self._tree.conditions(arm)
        texts = [f"{FEATURES[feature]} {side} {threshold:.2g}" for feature, side, threshold in conditions]
        return " and ".join(texts) or "all links"

    @property
    def leaves(self) -> int:
        """How many links are valued per step, at most."""
        return self._tree.leaves

    # --- choosing -------------------------------------------------------------------------------

    def _best(self) -> tuple[LeafPick, float | None]:
        picks = self._tree.picks(self._seed, self._turn)
        if not self.parts.values.started:
            # The first pages are drawn from all that wait, leaf by leaf: leaves are few by then.
            rng = np.random.default_rng([self._seed, self._turn])
            return picks[int(rng.integers(len(picks)))], None
        values = self.parts.values.values(np.array([self._tree.row(pick.number) for pick in picks]))
        best = int(values.argmax())
        return picks[best], float(values[best])

    def _follow(self, pick: LeafPick, value: float | None) -> Request:
        row = self._tree.take(pick)
        for earlier, reward in self._unfinished:
            self.parts.values.learn(earlier, reward, row)
        self._unfinished = []
        return self._request(pick.number, row, pick.leaf, value)

    def _request(
        self, number: int, row: Rows | None = None, leaf: int | None = None, value: float | None = None
    ) -> Request:
        request = Request(self._turn, Method.GET, self._known[number], leaf, value)
        self._in_flight[self._turn] = (number, row)
        self._turn += 1
        return request

    # --- pages and links ------------------------------------------------------------------------

    def _judge(self, number: int, text: str) -> float:
        """Find out whether a page is relevant, and how relevant the way to it was."""
        relevant = self.parts.classifier.probability(text) >= _RELEVANT
        _, found, pages, since = self._ways.get(self._father[number], (False, 0, 0, -1))
        since = 0 if relevant else (since + 1 if since >= 0 else -1)
        self._ways[number] = (relevant, found + relevant, pages + 1, since)
        return float(relevant)

    def _take_links(self, number: int, page: Page) -> None:
        for index, url in enumerate(page.links.urls):
            new = self._add_url(url, number)
            if new is None:
                continue
            if self._is_page(url):
                self._tree.push(new, self._row(page.links.link(index), number))
            else:
                self._files.append(new)

    def _add_redirect(self, location: str, source: int, row: Rows | None) -> None:
        number = self._add_url(location, self._father[source])
        if number is None:
            return
        if row is not None and self._is_page(location):
            self._tree.push(number, row)
        else:
            self._files.append(number)

    def _add_url(self, url: str, father: int) -> int | None:
        number = self._known.add(url)
        if number is not None:
            self._father.append(father)
        return number

    def _is_page(self, url: str) -> bool:
        return self.parts.truth.kind(url) in {Kind.PAGE, Kind.REDIRECT}

    def _row(self, link: Link, father: int) -> Rows:
        relevant, found, pages, since = self._ways[father]
        address = words_of(link.url.partition("://")[2], _MOST_LINK_WORDS)
        anchor = words_of(link.anchor, _MOST_LINK_WORDS)
        keywords = self.parts.keywords
        return np.array(
            (
                relevant,
                1 / (since + 1) if since >= 0 else 0.0,
                found / pages,
                has_keyword(address, keywords),
                has_keyword(anchor, keywords),
                has_keyphrase(anchor),
                self.parts.classifier.probability(" ".join([*anchor, *address])),
            ),
            np.float32,
        )

    # --- saving ---------------------------------------------------------------------------------

    def save(self) -> State:
        """Return the state except what was given: the classifier and the texts are the same next time."""
        return {
            **self._known.save(),
            **self._tree.save(),
            **self.parts.values.save(),
            "fathers": np.array(self._father, np.int32),
            "ways": [[number, *way] for number, way in self._ways.items()],
            "files": list(self._files),
            "in_flight": [[key, number, _listed(row)] for key, (number, row) in self._in_flight.items()],
            "deferred": self._deferred.save(lambda sent: [sent[0], _listed(sent[1])]),
            "unfinished": [[_listed(row), reward] for row, reward in self._unfinished],
            "turn": self._turn,
        }

    def load(self, state: State) -> None:
        self._known = KnownUrls()
        self._known.load(state)
        self._tree.load(state)
        self.parts.values.load(state)
        self._father = array("i", state["fathers"].tobytes())
        self._ways = {number: tuple(way) for number, *way in state["ways"]}
        self._files = deque(state["files"])
        self._in_flight = {key: (number, _row_from(row)) for key, number, row in state["in_flight"]}
        self._deferred.load(state["deferred"], lambda sent: (sent[0], _row_from(sent[1])))
        self._unfinished = [(np.array(row, np.float32), reward) for row, reward in state["unfinished"]]
        self._turn = state["turn"]


def _listed(row: Rows | None) -> list[float] | None:
    return None if row is None else row.tolist()


def _row_from(values: Sequence[float] | None) -> Rows | None:
    return None if values is None else np.array(values, np.float32)


def tres_light(
    start_urls: Sequence[str],
    truth: SiteTruth,
    examples: TresExamples,
    seed: int = 0,
    settings: TresSettings | None = None,
) -> TresStrategy:
    """Build TRES with a regression on words for the texts, and without word vectors: `tres-light`."""
    settings = settings or TresSettings()
    classifier = WordLogistic(examples.positive, examples.negative, seed)
    values = DoubleQ(len(FEATURES), settings.values, seed)
    return TresStrategy(start_urls, TresParts(truth, classifier, values), seed, settings)
