"""Pages of APIs that wait (`coati.shortcuts`), apart from other links, and what each kind of them is worth.

Each is an arm of its own kind: where its tag path ends with ``api page`` a profile promises that it lists
files, with ``api probe`` that it may. A page that lists ``k`` links, each of them a target with probability
``p``, is worth ``p k / (1 + k)`` targets per request: a little less than the files that it listed before, and
more than most other links. Until the first answer ``p`` is the promise, which falls with each answer that is
closed or lists nothing new. From then on it is what is thought now of some of the links that were listed
last, so files that turn out to be dead pull the rest of the list down with them.

They stand apart so that an API that is closed leaves no trace in what is learnt of the site's own links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from coati.readers.listed import API_PAGE, API_PROBE
from coati.strategies.scent.link_keys import Key, key_of
from coati.strategies.strategy import ScoreExplanation, ScoreReason
from coati.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from coati.strategies.scent.link_keys import Row
    from coati.strategies.scent.link_scores import LinkScores

# How likely it is that files are listed there, and how many at a time.
PROMISES: Final = {API_PAGE: 0.95, API_PROBE: 0.5}
_PROMISED_FILES = 50
# How many answers the promise counts for.
_WEIGHT = 2.0
# This many of the links that were listed last speak for those that come next.
_SAMPLE = 8
# After this many answers in a row that brought nothing new, a list is asked no more, even where nothing else
# is left: a server that gives the same page under every number has no end. The files of this many pages are
# seldom all known.
_BARREN = 8
# More than these wait among all other links; no honest site offers this many at once.
_MOST = 256

# Where the row of a page of an API says which list it belongs to.
_LIST = Key.TAG_PATH

API_ELEMENTS = frozenset(key_of(Key.ELEMENT, element) for element in PROMISES)
_CHANCES = {key_of(Key.ELEMENT, element): chance for element, chance in PROMISES.items()}


def with_list(row: Row, tag_path: tuple[str, ...]) -> Row:
    """Write into the row of a page of an API which list it belongs to."""
    row[_LIST] = key_of(_LIST, ">".join(tag_path[:-1]))
    return row


@dataclass(slots=True)
class _List:
    """What is known of one list: requests, answers that listed something new, and what they listed."""

    asked: int = 0
    good: int = 0
    links: int = 0
    # Answers in a row that brought nothing new.
    barren: int = 0
    sample: npt.NDArray[np.uint32] | None = None


class ApiPages:
    """What waits, and what was learnt of each list; URLs are numbers of `KnownUrls`.

    ``scores`` tells what links are worth now.
    """

    def __init__(self, scores: LinkScores) -> None:
        self._scores = scores
        self._waiting: dict[int, Row] = {}
        self._lists: dict[int, _List] = {}
        # The ends of the tag paths of links that were listed.
        self._listed: set[int] = set()

    def __contains__(self, number: object) -> bool:
        """Tell whether a page waits here."""
        return number in self._waiting

    def __iter__(self) -> Iterator[int]:
        """Go through the pages that wait, the oldest first."""
        return iter(self._waiting)

    @property
    def full(self) -> bool:
        """Whether no more are taken."""
        return len(self._waiting) >= _MOST

    def push(self, number: int, row: Row, tag_path: tuple[str, ...]) -> None:
        """Let a page wait; its list is the same whether its tag path ends with a page or a probe."""
        self._waiting[number] = with_list(row, tag_path)

    def lists(self, row: Row) -> bool:
        """Tell whether a link is like one that an API listed."""
        return bool(self._listed) and int(row[Key.TAIL]) in self._listed

    def row(self, number: int) -> Row:
        """Return what a page is described by."""
        return self._waiting[number]

    def take(self, number: int) -> Row:
        """Let a page wait no longer."""
        return self._waiting.pop(number)

    def best(self) -> tuple[int, float] | None:
        """Return the page that is worth most, and how much; the oldest among equals."""
        if not self._waiting:
            return None
        asked = ((number, row) for number, row in self._waiting.items() if not self._is_given_up(row))
        scored = [(self.score(row), -number) for number, row in asked]
        if not scored:
            return None
        score, number = max(scored)
        return -number, score

    def score(self, row: Row) -> float:
        """Return the expected targets per request of a page; a request in flight counts as one in vain."""
        known = self._lists.get(int(row[_LIST])) or _List()
        promise = _CHANCES.get(int(row[Key.ELEMENT]), 0.0)
        if known.sample is None:
            behind = promise * _PROMISED_FILES
            return behind / (1 + behind) * _WEIGHT / (_WEIGHT + known.asked)
        listed = known.links / known.good
        # One good answer is no proof that the next one is as good: the last page of a list is often empty.
        good = (known.good + _WEIGHT * promise) / (known.asked + _WEIGHT)
        return self._chance(known.sample) * good * listed / (1 + listed)

    def _chance(self, sample: npt.NDArray[np.uint32]) -> float:
        told = self._scores.score_all(sample, hope=0.0)
        return sum(score for score, _ in told) / len(told)

    def sent(self, row: Row, times: int = 1) -> None:
        """Count a request for a page of this list; -1 takes one back that met an outage or a redirect."""
        self._list(row).asked += times

    def answered(self, row: Row, listed: Sequence[Row]) -> None:
        """Learn what an answer listed that was new."""
        known = self._list(row)
        known.barren = 0 if listed else known.barren + 1
        if listed:
            known.good += 1
            known.links += len(listed)
            self._listed.update(int(each[Key.TAIL]) for each in listed[:_MOST])
            known.sample = np.array(listed[:: max(1, len(listed) // _SAMPLE)][:_SAMPLE], np.uint32).T

    def _is_given_up(self, row: Row) -> bool:
        known = self._lists.get(int(row[_LIST]))
        return known is not None and known.barren >= _BARREN

    def _list(self, row: Row) -> _List:
        return self._lists.setdefault(int(row[_LIST]), _List())

    def explained(self, row: Row, tail: str, in_flight: Sequence[Row]) -> ScoreExplanation:
        """Say why a page has its score; ``in_flight`` are the pages that were requested and not answered."""
        known = self._lists.get(int(row[_LIST])) or _List()
        score = self.score(row)
        where = tail or "an API"
        pages = known.asked - sum(int(each[_LIST]) == int(row[_LIST]) for each in in_flight)
        if known.sample is None:
            tried = f", though {format_count(pages, 'page')} brought nothing" if pages else ""
            words = f"the site's software may list files here ({where}){tried}"
        else:
            links = format_count(round(known.links / known.good), "new link")
            words = (
                f"the site's software lists files here ({where}): {known.good} of"
                f" {format_count(pages, 'page')} brought {links} each"
            )
        return ScoreExplanation(score, [ScoreReason(words, score)])

    def save(self) -> dict[str, Any]:
        """Return what waits and what was learnt."""
        return {
            "api_waiting": [[number, row.tolist()] for number, row in self._waiting.items()],
            "api_listed": sorted(self._listed),
            "api_lists": [
                [kind, known.asked, known.good, known.links, known.barren, _plain(known.sample)]
                for kind, known in self._lists.items()
            ],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over what was saved."""
        self._waiting = {number: np.array(row, np.uint32) for number, row in state["api_waiting"]}
        self._listed = set(state["api_listed"])
        self._lists = {
            kind: _List(asked, good, links, barren, None if sample is None else np.array(sample, np.uint32))
            for kind, asked, good, links, barren, sample in state["api_lists"]
        }


def _plain(sample: npt.NDArray[np.uint32] | None) -> list[list[int]] | None:
    return None if sample is None else sample.tolist()
