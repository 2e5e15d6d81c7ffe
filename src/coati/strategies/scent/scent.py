"""Scent: of all links that wait, follow the one that promises most targets per request.

One frontier for every link, and no decision beforehand about what is a page and what is a target. A link is
described by a row of keys (`link_keys`): its URL, its place on the page, its anchor, the page where it was
found. Three things are learnt of rows, each fetch being one example:

- the probability that the link is a target, and that it is of no use (an error, a picture, a redirect to what
  is known): two logistic models (`coati.learners.hashed_logistic`);
- how many targets per request it brings to follow it, if it is a page: means over chains of keys, with doubt
  (`coati.learners.value_chains`), learnt from labels that look some steps ahead (`page_labels`).

From these follows a link's score, the expected targets per request (`link_scores`); the value is raised by
some of its doubt, since links of a sort that was never tried may be good. Where bytes are scarce, scores are
targets, or bytes of targets, per byte (`Aim`).

Before anything is learnt there is general knowledge: what data files and pages end with. It only decides what
is tried first.

What remains are hubs that nothing announces. While even the best link promises much less than the crawl had
so far, or hardly anything, every second request is taken from a sweep over the folders of the site, the
shallowest first (`sweep`): the home page of a section is more often such a hub than a page deep inside.

Pages of the API of a site's own software (`api_pages`) are arms beside all links: the best of them is taken
when it promises more than the best link.

Links that nothing tells apart wait in one queue with one score (`link_queues`). Scores are refreshed where
it counts: the best one before it is used and the next best if it fell, and everything else in turn. So the
cost of a request does not grow with the crawl beyond what `most_queues` allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coati.learners.value_chains import ChainSettings
from coati.model import Deferred, Method, Page, Redirect, Refused, Request, Target
from coati.readers.listed import ARCHIVED, is_api
from coati.strategies.deferrals import Deferrals
from coati.strategies.known_urls import KnownUrls
from coati.strategies.scent.api_pages import API_ELEMENTS, ApiPages, with_list
from coati.strategies.scent.key_names import LinkTexts
from coati.strategies.scent.link_evidence import explained
from coati.strategies.scent.link_groups import LinkGroups
from coati.strategies.scent.link_keys import COLUMNS, SPECIFIC, Key, Likeness, LinkKeys, key_of
from coati.strategies.scent.link_queues import BLOCK, LinkQueues
from coati.strategies.scent.link_scores import Aim, Expected, LinkOutcome, LinkScores
from coati.strategies.scent.listed_files import ListedFiles
from coati.strategies.scent.page_labels import PageLabels
from coati.strategies.scent.sweep import Sweep
from coati.strategies.strategy import Outlook
from coati.web.likely_extensions import DATA_EXTENSIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy.typing as npt

    from coati.model import Hosts, Later, Link, Outcome, PageLinks, Settlement
    from coati.strategies.scent.link_keys import Row
    from coati.strategies.state import State
    from coati.strategies.strategy import ScoreExplanation

CHAINS: tuple[tuple[Key, ...], ...] = (
    (Key.TOP, Key.SECOND, Key.DIRECTORY, Key.SHAPE),
    (Key.INNER_TOP, Key.INNER, Key.INNER_SHAPE),
    (Key.TOP, Key.DIRECTORY, Key.FIRST_WORD),
    (Key.ELEMENT, Key.TAIL, Key.TAG_PATH),
    (Key.SOURCE_DIRECTORY, Key.SOURCE),
    (Key.DIRECTORY_EXTENSION, Key.DIRECTORY_ANCHOR),
    (Key.EXTENSION, Key.FILE_NAME),
    (Key.ANCHOR,),
)


@dataclass(frozen=True, slots=True)
class ScentSettings:
    """What can be turned. Chosen over all sites of the study at once (experiments/scent), never for one.

    ``exploration`` is the part of the doubt that is added to a link's value, ``caution`` the part that is
    taken off a link's value when the page that leads to it is judged, ``discount`` what a step ahead costs.
    ``file_odds`` and ``page_odds`` are the log-odds of being a target that an extension gives before
    anything is learnt.
    """

    aim: Aim = Aim.TARGETS_PER_REQUEST
    exploration: float = 0.4
    caution: float = 0.4
    discount: float = 0.8
    rate: float = 0.15
    file_odds: float = 2.0
    page_odds: float = -1.5
    expect_errors: bool = True
    chains: tuple[tuple[Key, ...], ...] = CHAINS
    values: ChainSettings = field(default_factory=ChainSettings)
    # A hedge. It is a dry time while the best score is below this share of what the crawl had so far, or
    # below this many targets per request; then one in this many requests is the sweep's (0: no sweep).
    dry: float = 0.5
    poor: float = 0.1
    sweep_every: int = 2
    # Whether some links of a queue are skipped after one that disappointed (`LinkQueues.skip_ahead`).
    leaps: bool = True
    # One block of queues is scored again once per this many answers that taught something.
    refresh_every: int = 8
    # With more queues than this waiting, new links are described by their general keys only.
    most_queues: int = 1 << 16


# The best queue is scored again before it is used; if it fell, so are the next best, at most this many times.
_TRIES = 4
_NEXT_BEST = 64
# A score that fell by less than this share, or by less than this, is still the best.
_FALL = 0.03
_SMALL_FALL = 0.005
# A link that is a target with this probability is not judged again before it is used.
_SURELY = 0.98
# The sweep skips links with less than this share of the best score.
_HOPELESS = 0.1
# Redirects are followed at once up to this many in a row.
_MOST_HOPS = 5
_NOTHING = Expected(0.0, 1.0, 0.0, 0.0)


# What is looked up for each request, without asking an enumeration.
_ELEMENT = int(Key.ELEMENT)
# The last part of the tag path of what an index of a web archive knows.
_HINT = key_of(Key.ELEMENT, ARCHIVED)
# Stands for the queue of a page of an API, which waits elsewhere (`ApiPages`).
_API = -2
# Where bytes are scarce, scores are not targets per request: an API is queried while it is worth this much.
_WORTH_ASKING = 0.5
# `expects` says what this many requests promise, for those who choose among sites (experiments/many_sites).
_AHEAD = 30
# Among this many queues.
_LOOKED_AT = 256


class _Choice(NamedTuple):
    """A link to take, what is expected of it, and whether the sweep chose it."""

    number: int
    expected: Expected
    swept: bool = False


class _Sent(NamedTuple):
    """A request in flight; ``queue`` is -1 and ``row`` None for the start page: nothing is expected of it."""

    number: int
    queue: int
    row: Row | None
    expected: Expected
    score: float = 0.0
    # How many redirects led here.
    hops: int = 0
    swept: bool = False

    def save(self) -> list[Any]:
        row = None if self.row is None else self.row.tolist()
        return [self.number, self.queue, row, list(self.expected), self.score, self.hops, self.swept]

    @classmethod
    def load(cls, saved: Sequence[Any]) -> _Sent:
        number, queue, row, expected, *rest = saved
        keys = None if row is None else np.array(row, np.uint32)
        return cls(number, queue, keys, Expected(*expected), *rest)


class Scent:
    """The crawler; ``likely_extensions`` are those of the wanted files, without dots. A seed breaks ties.

    >>> from coati.model import EVERY_HOST, LinkList, Link
    >>> crawl = Scent(["http://example.org/"])
    >>> request = crawl.choose(0.0, EVERY_HOST)
    >>> links = [Link("http://example.org/" + name, ("html", "a")) for name in ("a.html", "b.csv")]
    >>> crawl.observe(request.id, Page(200, 9, LinkList(links)), 1.0)
    []
    >>> crawl.choose(1.0, EVERY_HOST).url
    'http://example.org/b.csv'
    """

    def __init__(
        self,
        start_urls: Sequence[str],
        seed: int = 0,
        settings: ScentSettings | None = None,
        likely_extensions: Collection[str] = DATA_EXTENSIONS,
    ) -> None:
        self._settings = settings = settings or ScentSettings()
        # What is poor is said in targets per request.
        self._poor = settings.poor if settings.aim is Aim.TARGETS_PER_REQUEST else 0.0
        self._keys = LinkKeys(likely_extensions)
        self._known = KnownUrls()
        self._queues = LinkQueues(COLUMNS, seed)
        self._scores = LinkScores(
            self._settings.aim,
            self._settings.rate,
            self._settings.chains,
            self._settings.values,
            expect_errors=self._settings.expect_errors,
        )
        self._sweep = Sweep()
        self._labels = PageLabels(self._scores.values, self._settings.discount)
        self._apis = ApiPages(self._scores)
        self._listed = ListedFiles()
        self._in_flight: dict[int, _Sent] = {}
        self._deferred: Deferrals[_Sent] = Deferrals()
        # What is requested before all else: the start pages, and where redirects lead.
        self._urgent: list[_Sent] = []
        self._groups = LinkGroups(self._describe_group)
        self._turn = 0
        # How many blocks of queues were scored again in turn.
        self._refreshed = 0
        # What is expected of queues that are surely targets. It holds until an answer teaches something.
        self._sure: dict[int, Expected] = {}
        # How many of the requests were for pages of APIs: what happens in turns happens without them.
        self._api_requests = 0
        self._set_priors()
        for url in reversed(start_urls):
            self._begin_at(url)

    def _set_priors(self) -> None:
        settings = self._settings
        for likeness, odds in ((Likeness.FILE, settings.file_odds), (Likeness.PAGE, settings.page_odds)):
            self._scores.odds.set_prior(key_of(Key.FILE_LIKE, likeness.name), (odds, 0.0))

    # --- the contract ---------------------------------------------------------------------------

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Take the most promising link."""
        deferred = self._deferred.take(now, idle=False)
        if deferred is not None:
            return self._send(deferred)
        if self._urgent:
            return self._send(self._urgent.pop())
        api = self._best_api()
        if api is not None:
            return self._take_api(api)
        chosen = self._best()
        if chosen is not None:
            return self._take(chosen)
        deferred = self._deferred.take(now, idle=not self._in_flight)
        return self._deferred.answer() if deferred is None else self._send(deferred)

    def redo(self, request: Request, now: float) -> None:
        """Repeat a logged choice; nearly always it is the one that `choose` would make."""
        deferred = self._deferred.take_logged(request)
        if deferred is not None:
            self._send(deferred)
            return
        for at, sent in enumerate(self._urgent):
            if self._known[sent.number] == request.url:
                self._send(self._urgent.pop(at))
                return
        for number in self._apis:
            if self._known[number] == request.url:
                self._take_api(number)
                return
        chosen = self._best()
        if chosen is None or self._known[chosen.number] != request.url:
            number = self._known.find(request.url)
            expected = self._expect(self._queue_of(number))
            chosen = _Choice(number, expected, self._groups.is_swept(request.arm))
        self._take(chosen)

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Learn from one answer, and let the new links of a page wait."""
        sent = self._in_flight.pop(request_id)
        if isinstance(outcome, Deferred):
            self._defer(sent, outcome.until)
            return []
        if isinstance(outcome, Refused):
            return self._labels.follow(sent.number, target=False)
        if isinstance(outcome, Redirect) and self._hop(sent, outcome.location):
            return []
        if sent.queue == _API and sent.row is not None:
            return self._observe_api(request_id, sent, sent.row, outcome)
        target = isinstance(outcome, Target)
        self._learn(sent, LinkOutcome(target, isinstance(outcome, Page), outcome.size_bytes))
        settled = self._labels.follow(sent.number, target=target)
        label = math.inf if target else -math.inf
        if isinstance(outcome, Page):
            label, more = self._read(request_id, sent, outcome)
            settled += more
        if sent.row is not None:
            self._compare(sent, sent.row, label)
        return settled

    def expects(self) -> float | None:
        """Return the targets per request that the next choices promise; None before the start.

        The best link alone says little: it may be the last good one, and its score counts our doubt as hope.
        """
        if self._urgent:
            return None if self._urgent[-1].row is None else self._urgent[-1].score
        queue = self._queues.best()
        if queue is None:
            best = 0.0
        elif self._settings.aim is Aim.TARGETS_PER_REQUEST:
            best = self._promise_ahead()
        else:
            best = self._judge(queue, self._settings.exploration)[0]
        api = self._best_api()
        return best if api is None else max(best, self._apis.score(self._apis.row(api)))

    def outlook(self, requests: int) -> Outlook | None:
        """Return what the best links promise by what is known now; None where bytes are scarce."""
        if self._settings.aim is not Aim.TARGETS_PER_REQUEST:
            return None
        queues, links = self._queues.waiting()
        if not len(queues):
            return Outlook(0, 0.0)
        return _best_of(self._scores.scores(self._queues.columns(queues), hope=0.0), links, requests)

    def arm_label(self, arm: int) -> str:
        """Name the links that share a directory, an extension and the end of their tag path."""
        return self._groups.label(arm)

    def explain(self, link: str | Link, source_url: str = "") -> ScoreExplanation:
        """Say what score decides about a link, and what speaks for and against it.

        ``link`` is the URL of a link that waits, or any link with the page where it was found.
        """
        if isinstance(link, str):
            row = self._row_of(self._known.find(link))
            texts = LinkTexts(link)
        else:
            row = np.array(self._keys.row(link, self._keys.source(source_url)), np.uint32)
            texts = LinkTexts(link.url, anchor=link.anchor, source_url=source_url)
        texts = texts._replace(tail=self._keys.tail_text(int(row[Key.TAIL])))
        if int(row[Key.ELEMENT]) in API_ELEMENTS:
            if not isinstance(link, str):
                row = with_list(row, link.tag_path)
            in_flight = [sent.row for sent in self._in_flight.values() if sent.queue == _API]
            return self._apis.explained(row, texts.tail, [each for each in in_flight if each is not None])
        # While a link of this queue is in flight, doubt earns nothing (`_lower`).
        alike_in_flight = any(
            np.array_equal(sent.row, row) for sent in self._in_flight.values() if sent.row is not None
        )
        return explained(row, texts, self._scores, 0.0 if alike_in_flight else self._settings.exploration)

    # --- choosing -------------------------------------------------------------------------------

    def _begin_at(self, url: str) -> None:
        number = self._known.add(url)
        if number is not None:
            self._labels.add(-1)
            self._urgent.append(_Sent(number, -1, None, _NOTHING))

    def _row_of(self, number: int) -> Row:
        for sent in self._urgent:
            if sent.number == number and sent.row is not None:
                return sent.row
        if number in self._apis:
            return self._apis.row(number)
        return self._queues.row(self._queue_of(number))

    def _queue_of(self, number: int) -> int:
        queue = self._queues.queue_of(number)
        if queue is None:
            raise ValueError(f"{self._known[number]} does not wait")
        return queue

    @property
    def _step(self) -> int:
        """How many choices were made among links."""
        return self._turn - self._api_requests

    def _best_api(self) -> int | None:
        """Return the page of an API that is to be asked now; None if a link promises more."""
        best = self._apis.best()
        if best is None:
            return None
        number, score = best
        queue = self._queues.best()
        if queue is None:
            return number
        if self._settings.aim is Aim.TARGETS_PER_REQUEST:
            # By what is known now: the links of a list are alike, and what one of them brought is not yet in
            # the score that the others were given when they came.
            return number if score >= self._judge(queue, self._settings.exploration)[0] else None
        return number if score >= _WORTH_ASKING else None

    def _take_api(self, number: int) -> Request:
        score = self._apis.score(self._apis.row(number))
        return self._send(_Sent(number, _API, self._apis.take(number), _NOTHING, score))

    def _best(self) -> _Choice | None:
        """Return the link to take."""
        self._refresh()
        best = self._best_queue()
        if best is None:
            return None
        queue, expected = best
        score = self._queues.score(queue)
        if self._is_dry(score):
            shallow = self._sweep.next(partial(self._is_worth_a_look, _HOPELESS * score))
            if shallow is not None:
                return _Choice(shallow, self._expect(self._queue_of(shallow)), swept=True)
        return _Choice(self._queues.first(queue), expected)

    def _best_queue(self) -> tuple[int, Expected] | None:
        """Return the queue with the highest score that has not fallen since, and what is expected of it."""
        queues = self._queues
        in_flight = self._queues_in_flight() if self._in_flight else set()
        self._lower(in_flight)
        tries = 0
        while (queue := queues.best()) is not None:
            if queue in self._sure and queue not in in_flight:
                return queue, self._sure[queue]
            hope = 0.0 if queue in in_flight else self._settings.exploration
            score, expected = self._judge(queue, hope)
            before = queues.score(queue)
            queues.set_score(queue, score)
            if tries == _TRIES or score >= min((1 - _FALL) * before, before - _SMALL_FALL):
                self._note(queue, expected)
                return queue, expected
            self._refresh_queues(queues.best_in(queue // BLOCK, _NEXT_BEST))
            self._lower(in_flight)
            tries += 1
        return None

    def _note(self, queue: int, expected: Expected) -> None:
        if expected.target >= _SURELY:
            self._sure[queue] = expected

    def _is_worth_a_look(self, least: float, number: int) -> bool:
        queue = self._queues.queue_of(number)
        return queue is not None and self._queues.score(queue) >= least

    def _lower(self, in_flight: set[int]) -> None:
        """Let doubt earn nothing for queues with a link in flight: its outcome may prove them bad."""
        for queue in in_flight:
            self._score_again(queue, 0.0)

    def _queues_in_flight(self) -> set[int]:
        """Return the queues of which one link is in flight and others wait."""
        return {
            sent.queue
            for sent in self._in_flight.values()
            if sent.row is not None and self._queues.holds(sent.queue, sent.row)
        }

    def _is_dry(self, best: float) -> bool:
        """Tell whether it is the sweep's turn: the best link promises much less than before, or little."""
        every = self._settings.sweep_every
        if not every or self._step % every:
            return False
        return best < max(self._settings.dry * self._scores.so_far, self._poor)

    def _refresh(self) -> None:
        queues = self._queues
        turn = self._scores.lessons // self._settings.refresh_every
        if turn > self._refreshed and len(queues):
            self._refreshed = turn
            self._refresh_queues(queues.waiting_in(turn % queues.blocks))

    def _refresh_queues(self, queues: npt.NDArray[np.intp]) -> None:
        if len(queues):
            scores = self._scores.scores(self._queues.columns(queues), self._settings.exploration)
            self._queues.set_scores(queues, scores)

    def _take(self, chosen: _Choice) -> Request:
        number, expected, swept = chosen
        queue = self._queue_of(number)
        sent = _Sent(number, queue, self._queues.row(queue), expected, self._queues.score(queue), swept=swept)
        self._queues.take(number)
        return self._send(sent)

    def _send(self, sent: _Sent) -> Request:
        url = self._known[sent.number]
        arm = None if sent.row is None else self._groups.of(sent.number, sent.row, swept=sent.swept)
        request = Request(self._turn, Method.GET, url, arm, sent.score)
        self._in_flight[self._turn] = sent
        self._turn += 1
        if sent.queue == _API and sent.row is not None:
            self._api_requests += 1
            self._apis.sent(sent.row)
        return request

    def _describe_group(self, number: int, tail: int) -> str:
        return self._keys.label(self._known[number], tail)

    # --- scoring --------------------------------------------------------------------------------

    def _expect(self, queue: int) -> Expected:
        return self._scores.expect(self._queues.row(queue))

    def _judge(self, queue: int, hope: float) -> tuple[float, Expected]:
        """Return a queue's score of now, and what is expected of it."""
        row = self._queues.row(queue)
        expected = self._scores.expect(row)
        return self._scores.score(row, expected, hope) + self._queues.tie(queue), expected

    def _score_again(self, queue: int, hope: float) -> None:
        self._queues.set_score(queue, self._judge(queue, hope)[0])

    def _promise_ahead(self) -> float:
        """Return the mean of what the next links promise by what is known now.

        Only the queues with the highest scores so far are scored again: to score all of them would change it
        by a hundredth, and cost several times as much as the rest of a request.
        """
        queues = self._queues.best_queues(_LOOKED_AT)
        scores = self._scores.scores(self._queues.columns(queues), hope=0.0)
        left, promised = _AHEAD, 0.0
        for at in np.argsort(-scores, kind="stable").tolist():
            links = self._queues.count(queues.item(at), left)
            promised += links * scores.item(at)
            left -= links
            if not left:
                break
        return promised / _AHEAD

    # --- learning -------------------------------------------------------------------------------

    def _learn(self, sent: _Sent, answer: LinkOutcome) -> None:
        """Learn what a link turned out to be."""
        target, page, _ = answer
        lessons = self._scores.lessons
        listed = sent.row is not None and self._apis.lists(sent.row)
        if not (target or page) and sent.row is not None and sent.row.item(_ELEMENT) == _HINT:
            # Files that went are what an old index is full of: they say nothing of the site's links.
            self._scores.learn_place(sent.row)
        else:
            self._scores.learn(sent.row, answer, counts=not listed)
        if listed and not target and sent.row is not None:
            self._listed.discard(self._known[sent.number])
            if not page:
                # What it lists alive would mostly be found by links, too; what is dead is paid for. So a miss
                # counts twice: for links that are alike, and for the list.
                self._scores.learn_place(sent.row)
        if self._scores.lessons > lessons:
            self._sure.clear()

    def _defer(self, sent: _Sent, until: float) -> None:
        """Let a link that met an outage wait; its queue was lowered while the link was in flight."""
        self._deferred.push(Method.GET, self._known[sent.number], sent, until)
        if sent.queue == _API and sent.row is not None:
            self._apis.sent(sent.row, -1)
        elif sent.row is not None and self._queues.holds(sent.queue, sent.row):
            self._score_again(sent.queue, self._settings.exploration)

    def _hop(self, sent: _Sent, location: str) -> bool:
        """Go where a redirect leads; False if it was a miss: what it leads to is known, or it never ends.

        At once, since the link was worth a request, and one that leads on is seldom dead. A server that leads
        on without end must not have all requests: after some hops it counts as a miss, and the next waits.
        """
        number = self._known.add(location)
        if number is None:
            return False
        if sent.row is None or sent.hops < _MOST_HOPS:
            if sent.queue == _API and sent.row is not None:
                self._apis.sent(sent.row, -1)
            self._labels.add_redirect(sent.number)
            self._urgent.append(sent._replace(number=number, hops=sent.hops + 1))
            return True
        self._labels.add(-1)
        if sent.queue == _API:
            return False
        queue = self._queues.place(sent.row)
        self._queues.push(queue, number)
        self._score_again(queue, self._settings.exploration)
        return False

    def _observe_api(self, request_id: int, sent: _Sent, row: Row, outcome: Outcome) -> list[Settlement]:
        """Learn what an answer of an API is worth; where it is closed, nothing else is learnt from it."""
        if not isinstance(outcome, Page):
            return []
        found = self._new_links(sent.number, outcome.links)
        self._listed.add(self._known[number] for number, _ in found)
        self._apis.answered(row, [self._queues.row(queue) for _, queue in found])
        return self._open_page(request_id, sent._replace(row=None), found)[1]

    def _compare(self, sent: _Sent, row: Row, label: float) -> None:
        """Draw conclusions from an answer that was worse or better than expected for links that are alike."""
        queues, expected = self._queues, sent.expected
        if queues.holds(sent.queue, row):
            if self._settings.leaps:
                queues.skip_ahead(sent.queue) if label < expected.value else queues.stop_skipping(sent.queue)
            if self._in_flight:
                # Then its score was lowered while the link was in flight.
                self._score_again(sent.queue, self._settings.exploration)

    def _read(self, request_id: int, sent: _Sent, page: Page) -> tuple[float, list[Settlement]]:
        """Let the new links of a page wait, and judge the page by them and by files that an API listed."""
        found = self._new_links(sent.number, page.links)
        return self._open_page(request_id, sent, found, self._listed.count_new(page.out_links or ()))

    def _open_page(
        self, request_id: int, sent: _Sent, found: list[tuple[int, int]], held: int = 0
    ) -> tuple[float, list[Settlement]]:
        if not found:
            return self._labels.open(request_id, sent.number, sent.row, [], held)
        # Places of queues that went may have gone to new ones.
        self._sure.clear()
        queues = np.array(sorted({queue for _, queue in found}))
        settings, promise_of = self._settings, {}
        scored = self._scores.score_all(self._queues.columns(queues), settings.exploration)
        for queue, (score, expected) in zip(queues.tolist(), scored, strict=True):
            promise_of[queue] = expected.target + settings.discount * expected.behind(-settings.caution)
            self._queues.set_score(queue, score + self._queues.tie(queue))
            self._note(queue, expected)
        promised = [(number, promise_of[queue]) for number, queue in found]
        return self._labels.open(request_id, sent.number, sent.row, promised, held)

    def _new_links(self, page: int, links: PageLinks) -> list[tuple[int, int]]:
        """Let the links wait whose URLs are new; return number and queue of each."""
        known, queues, most_queues = self._known, self._queues, self._settings.most_queues
        urls = links.urls
        source = None
        found = []
        for index in known.new_indices(urls):
            url = urls[index]
            number = known.add(url)
            if number is None:
                continue
            if source is None:
                source = self._keys.source(known[page])
            link = links.link(index)
            row = np.array(self._keys.row(link, source), np.uint32)
            if is_api(link.tag_path) and not self._apis.full:
                self._labels.add(-1)
                self._apis.push(number, row, link.tag_path)
                continue
            if len(queues) >= most_queues:
                row[SPECIFIC] = 0
            queue = queues.place(row)
            queues.push(queue, number)
            self._sweep.add(url, number)
            self._labels.add(page)
            found.append((number, queue))
        return found

    # --- saving ---------------------------------------------------------------------------------

    def save(self) -> State:
        """Return everything that was learnt, what waits, and what is in flight."""
        return {
            **self._known.save(),
            **self._queues.save(),
            **self._scores.save(),
            **self._sweep.save(),
            **self._labels.save(),
            **self._keys.save(),
            **self._apis.save(),
            **self._listed.save(),
            **self._groups.save(),
            "in_flight": [[turn, sent.save()] for turn, sent in self._in_flight.items()],
            "deferred": self._deferred.save(_Sent.save),
            "urgent": [sent.save() for sent in self._urgent],
            "turn": self._turn,
            "refreshed": self._refreshed,
            "sure": [[queue, *expected] for queue, expected in self._sure.items()],
            "api_requests": self._api_requests,
        }

    def load(self, state: State) -> None:
        """Take over a saved state."""
        self._known = KnownUrls()
        for part in (
            self._known,
            self._queues,
            self._scores,
            self._sweep,
            self._labels,
            self._keys,
            self._apis,
            self._listed,
            self._groups,
        ):
            part.load(state)
        self._in_flight = {turn: _Sent.load(sent) for turn, sent in state["in_flight"]}
        self._deferred.load(state["deferred"], _Sent.load)
        self._urgent = [_Sent.load(sent) for sent in state["urgent"]]
        self._turn = state["turn"]
        self._refreshed = state["refreshed"]
        self._sure = {queue: Expected(*expected) for queue, *expected in state["sure"]}
        self._api_requests = state["api_requests"]


def _best_of(scores: npt.NDArray[np.float32], links: npt.NDArray[np.intp], requests: int) -> Outlook:
    """Add up the scores of the best links; each queue has a score and a number of links."""
    order = np.argsort(-scores, kind="stable")
    before = np.cumsum(links[order]) - links[order]
    taken = np.clip(requests - before, 0, links[order])
    return Outlook(int(links.sum()), float(scores[order] @ taken))
