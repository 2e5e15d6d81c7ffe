"""What a link is worth: expected targets per request, or targets and their bytes for each byte fetched.

With pT the probability of a target, pE that of a useless link (an error, a picture, a redirect to what is
known) and v the targets behind a page, ``pH = (1 - pT)(1 - pE)`` is the probability of a page, and a link's
score is ``(pT + pH v) / (1 + pH v)``: one request for the link and one for each target behind it.

Where bytes are scarce instead of requests, the same targets are divided by the bytes of the link and of the
targets behind it, as far as sizes can be foreseen; and where bytes are what is wanted, each target counts by
its size.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coati.learners.hashed_logistic import HashedLogistic
from coati.learners.size_means import SizeMeans
from coati.learners.value_chains import ValueChains
from coati.strategies.scent.link_keys import Key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from coati.learners.value_chains import ChainSettings
    from coati.strategies.scent.link_keys import Row

    Rows = npt.NDArray[np.uint32]
    Floats = npt.NDArray[np.float32]

# The log-odds of a target and of a useless link, of which nothing is known.
_BIAS = (-1.0, -3.0)
# Where a link stood, apart from what its address is like.
_PLACE = np.array([Key.ELEMENT, Key.TAIL, Key.TAG_PATH, Key.SOURCE, Key.TAIL_EXTENSION])
# What tells sizes.
_SIZE_KEYS = np.array([Key.EXTENSION, Key.DIRECTORY_EXTENSION])
_PAGES, _TARGETS = 0, 1
# What an answer without use costs: mostly an error page.
_USELESS_BYTES = 2_000.0
# Scores by bytes are targets in this many bytes, about as many as a request takes.
BYTES_UNIT = 100_000.0
# An answer that was expected but for this much of a probability teaches nothing.
_SURE = 0.005
# No page promises more than about 20,000 targets: what pages promise goes into labels, labels tell what pages
# promise, and nothing else keeps this from growing without end on a site made for it.
_MOST_VALUE = 10.0
_ZERO_32, _MOST_VALUE_32 = np.array(0, np.float32), np.array(_MOST_VALUE, np.float32)
# Up to this many rows are faster scored one by one than all at once.
_FEW = 6


class Aim(StrEnum):
    """What a strategy maximises, per what cost."""

    TARGETS_PER_REQUEST = "targets per request"
    TARGETS_PER_BYTE = "targets per byte"
    BYTES_PER_BYTE = "bytes of targets per byte"


class LinkOutcome(NamedTuple):
    """What a link turned out to be."""

    target: bool
    page: bool
    size_bytes: int


class Expected(NamedTuple):
    """Of one row: the probabilities of a target and of a page, a page's value and the doubt about it."""

    target: float
    page: float
    value: float
    doubt: float

    def behind(self, share: float) -> float:
        """Return the expected targets behind a page, with this share of the doubt added to its value."""
        return math.expm1(min(max(self.value + share * self.doubt, 0.0), _MOST_VALUE)) * self.page


class _Expected(NamedTuple):
    """Of many rows: the probabilities of a target and of a page, a page's value and the doubt about it."""

    target: Floats
    page: Floats
    values: Floats
    doubts: Floats

    def behind(self, share: float) -> Floats:
        """Return the expected targets behind a page, with this share of the doubt added to its value."""
        hoped = self.values + np.float32(share) * self.doubts
        np.minimum(np.maximum(hoped, _ZERO_32, out=hoped), _MOST_VALUE_32, out=hoped)
        np.expm1(hoped, out=hoped)
        hoped *= self.page
        return hoped


class LinkScores:
    """Learns from answers, and scores rows of keys."""

    def __init__(
        self,
        aim: Aim,
        rate: float,
        chains: Sequence[Sequence[int]],
        values: ChainSettings,
        *,
        expect_errors: bool = True,
    ) -> None:
        self.odds = HashedLogistic(_BIAS, rate)
        self.values = ValueChains(chains, values)
        self._aim = aim
        self._expect_errors = expect_errors
        self._sizes = None if aim is Aim.TARGETS_PER_REQUEST else SizeMeans(classes=2)
        # Targets so far, and what was paid for them in the unit of a score.
        self._gained = 0.0
        self._paid = 0.0
        # How many answers taught something; a page does, whatever was expected: its links are new.
        self.lessons = 0

    @property
    def so_far(self) -> float:
        """What a score would have been over the whole crawl."""
        return self._gained / self._paid if self._paid else 0.0

    def learn(self, row: Row | None, answer: LinkOutcome, *, counts: bool = True) -> None:
        """Take one answer into account; ``row`` is None for the start page.

        ``counts`` is false for what an API listed: it says nothing of what to expect from links.
        """
        if row is not None:
            answers = answer.target, not answer.target and not answer.page
            learnt = self.odds.learn(row, answers, tolerance=_SURE)
            self.lessons += learnt or not answer.target
        if self._sizes is None:
            self._gained += counts and answer.target
            self._paid += counts
            return
        useful = answer.target or answer.page
        # The size of an answer without use depends on who asks: a crawl stops at its headers.
        size = max(1, answer.size_bytes) if useful else _USELESS_BYTES
        if row is not None and useful:
            self._sizes.learn(_TARGETS if answer.target else _PAGES, row[_SIZE_KEYS], int(size))
        if not counts:
            return
        paid = size / BYTES_UNIT
        self._paid += paid
        if answer.target:
            self._gained += paid if self._aim is Aim.BYTES_PER_BYTE else 1.0

    def learn_place(self, row: Row) -> None:
        """Learn that a link was of no use, and blame the place where it stood alone."""
        place = np.zeros_like(row)
        place[_PLACE] = row[_PLACE]
        self.lessons += self.odds.learn(place, (False, True), bias=False)

    def score_all(self, columns: Rows, hope: float) -> list[tuple[float, Expected]]:
        """Return the score of each row, one per column, with ``hope`` of the doubt, and what is expected."""
        if self._sizes is None and columns.shape[1] <= _FEW:
            each = [(row, self.expect(row)) for row in columns.T.copy()]
            return [(self.score(row, one, hope), one) for row, one in each]
        expected = self._expect(columns)
        scores = self._scored(columns, expected, hope).tolist()
        each_expected = map(Expected._make, zip(*(part.tolist() for part in expected), strict=True))
        return list(zip(scores, each_expected, strict=True))

    def scores(self, columns: Rows, hope: float) -> Floats:
        """Score many rows, one per column, and nothing else: what a crawl does all the time."""
        return self._scored(columns, self._expect(columns), hope)

    def _expect(self, columns: Rows) -> _Expected:
        target, useless = self.odds.predict_all(columns)
        values, doubts = self.values.predict_all(columns)
        page = 1 - target
        if self._expect_errors:
            page *= 1 - useless
        return _Expected(target, page, values, doubts)

    def expect(self, row: Row) -> Expected:
        """Say what one row leads to."""
        target, useless = self.odds.predict(row)
        page = (1 - target) * (1 - useless if self._expect_errors else 1.0)
        value, doubt = self.values.predict(row)
        return Expected(target, page, value, doubt)

    def score(self, row: Row, expected: Expected, hope: float) -> float:
        """Score one row of which this is expected."""
        if self._sizes is not None:
            many = _Expected(*(np.array([part], np.float32) for part in expected))
            return float(self._scored(row[:, None], many, hope)[0])
        hoped = expected.behind(hope)
        return (expected.target + hoped) / (1 + hoped)

    def _scored(self, columns: Rows, expected: _Expected, hope: float) -> Floats:
        target, page, hoped = expected.target, expected.page, expected.behind(hope)
        targets = target + hoped
        if self._sizes is None:
            hoped += 1
            targets /= hoped
            return targets
        keys = columns[_SIZE_KEYS]
        # A page says little about the size of the targets behind it.
        gained = target * self._sizes.expected(_TARGETS, keys) + hoped * self._sizes.overall(_TARGETS)
        useless = np.maximum(1 - target - page, 0)
        paid = gained + page * self._sizes.expected(_PAGES, keys) + useless * _USELESS_BYTES
        if self._aim is Aim.BYTES_PER_BYTE:
            return np.asarray(gained / paid, np.float32)
        return np.asarray(BYTES_UNIT * targets / paid, np.float32)

    # --- saving ---------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Return everything that was learnt."""
        sizes = {} if self._sizes is None else self._sizes.save()
        return {
            **self.odds.save(),
            **self.values.save(),
            **sizes,
            "scores_so_far": [self._gained, self._paid, self.lessons],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over what was saved."""
        self.odds.load(state)
        self.values.load(state)
        if self._sizes is not None:
            self._sizes.load(state)
        self._gained, self._paid, self.lessons = state["scores_so_far"]
