"""How much a page speaks of the topic: by the user's words in any form, and by words that go with them.

At first only the user's words are known. But pages say the same in other words: in another language, with the
names of places, in the terms of a trade. So words are learnt that pages with the user's words have and pages
without them do not. Both look like data, and what all such pages have in common says nothing of the topic. A
page with as many of the learnt words as a page on the topic usually has is on the topic too.
"""

from __future__ import annotations

import math
import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from coati.web.page_words import words_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

# A site is on the topic from this score on.
ON_TOPIC = 0.5

# Two words are forms of one word if they begin alike: this many letters, and this part of the longer one.
_ALIKE_LETTERS, _ALIKE_SHARE = 4, 0.6
# A word goes with the topic if this many pages on it have it, and this many times as often as other pages.
_LEAST_PAGES, _LEAST_LIFT = 3, 3.0
# The weight of a word of the user that pages of all kinds have, and of one that says "data"; others count 1.
# Both say less about the topic of a site, but a user who searches "health data" or "statistics data" means
# them.
_GENERAL_WEIGHT, _DATA_WEIGHT = 0.5, 0.25
# All of these together count at most this part of the others: else a page with "about" and "from" alone would
# be on the topic of "data about floods from rivers".
_MOST_GENERAL = 0.5
# Such words with fewer letters are "of" and "the", and count nothing.
_LEAST_GENERAL_LETTERS = 4
# The words are weighed again when there is this much more to learn from.
_GROWTH = 1.1


class Topic:
    """Scores pages from 0, nothing of the topic, to 1.

    ``general`` are words that pages of all kinds have, ``data`` those that say "data": they say little about
    a topic.

    >>> topic = Topic("the risk of floods", {"the", "of"})
    >>> topic.score(["flooding", "risk"]), topic.score(["flood"]), topic.score(["recipe"])
    (1.0, 0.5, 0.0)
    >>> round(Topic("flood data", data={"data"}).score(["data"]), 2)
    0.2
    """

    def __init__(self, words: str, general: Collection[str] = (), data: Collection[str] = ()) -> None:
        self._without = frozenset((*general, *data))
        # The user's words and what each counts; words that count nothing are left out.
        self._called = _bounded(
            {
                _plain(word): weight
                for word in words_in(words)
                if (weight := _DATA_WEIGHT if word in data else _weight(word, general))
            }
        )
        # By word: which of the user's words it is a form of, -1 for none.
        self._forms: dict[str, int] = {}
        # By word: how many pages on the topic have it, and how many others. A page with a part of the user's
        # words is a part of a page on the topic.
        self._on: defaultdict[str, float] = defaultdict(float)
        self._off: defaultdict[str, float] = defaultdict(float)
        self._pages_on = self._pages_off = 0.0
        # The weights of the words of the topic, and the best words first: both as of the last weighing.
        self._weights: dict[str, float] = {}
        self.terms: list[str] = []
        # What the learnt words of a page on the topic add up to.
        self._usual = 0.0
        self._weighed_at = 0.0

    @property
    def version(self) -> float:
        """Changes when pages may score otherwise than before."""
        return self._weighed_at

    def share(self, words: Iterable[str]) -> float:
        """Return which part of the user's words is there, in any form; 1 where none of them counts."""
        if not self._called:
            return 1.0
        found = {self._form(word) for word in words}
        missing = sum(weight for place, weight in enumerate(self._called.values()) if place not in found)
        return 1 - missing / sum(self._called.values())

    def score(self, words: Collection[str]) -> float:
        """Return how much a page with these words speaks of the topic."""
        share = self.share(words)
        if share == 1 or not self._usual:
            return share
        return max(share, min(1.0, sum(self._weights.get(word, 0.0) for word in words) / self._usual))

    def learn(self, words: Mapping[str, int]) -> None:
        """Learn from a page that looks like data, by the user's words on it."""
        share = self.share(words)
        for word in words:
            if self._form(word) < 0:
                self._on[word] += share
                self._off[word] += 1 - share
        self._pages_on += share
        self._pages_off += 1 - share
        if self._pages_on + self._pages_off >= _GROWTH * self._weighed_at:
            self._weigh()

    def _weigh(self) -> None:
        self._weighed_at = self._pages_on + self._pages_off
        self._weights, self._usual = {}, 0.0
        for word, pages in self._on.items():
            lift = self._lift(word)
            if pages >= _LEAST_PAGES and lift >= _LEAST_LIFT:
                self._weights[word] = math.log(lift)
                self._usual += self._share_on(word) * math.log(lift)
        # A word that one page alone has leads to that page.
        least = min(2.0, self._pages_on)
        told = {
            word: self._share_on(word) * math.log(self._lift(word))
            for word, pages in self._on.items()
            if pages >= least and word not in self._without
        }
        # Of equal ones, those that were found first: they are the frequent ones of the first page.
        self.terms = sorted((word for word in told if told[word] > 0), key=lambda word: -told[word])

    def _share_on(self, word: str) -> float:
        return (self._on[word] + 0.5) / (self._pages_on + 1)

    def _lift(self, word: str) -> float:
        return self._share_on(word) * (self._pages_off + 1) / (self._off[word] + 0.5)

    def _form(self, word: str) -> int:
        found = self._forms.get(word)
        if found is None:
            plain = _plain(word)
            found = next((place for place, called in enumerate(self._called) if _alike(plain, called)), -1)
            self._forms[word] = found
        return found

    def save(self) -> list[Any]:
        """Return what was learnt."""
        words = [[word, pages, self._off[word]] for word, pages in self._on.items()]
        weights = list(self._weights.items())
        return [words, self._pages_on, self._pages_off, weights, self._usual, self.terms, self._weighed_at]

    def load(self, saved: list[Any]) -> None:
        words, self._pages_on, self._pages_off, weights, self._usual, terms, self._weighed_at = saved
        self._on = defaultdict(float, {word: pages for word, pages, _ in words})
        self._off = defaultdict(float, {word: pages for word, _, pages in words})
        self._weights, self.terms = dict(weights), list(terms)


def _weight(word: str, general: Collection[str]) -> float:
    if word not in general:
        return 1.0
    return _GENERAL_WEIGHT if len(word) >= _LEAST_GENERAL_LETTERS else 0.0


def _bounded(weights: Mapping[str, float]) -> dict[str, float]:
    """Lower the weights of general words where they are many beside others."""
    others = sum(weight for weight in weights.values() if weight == 1)
    general = sum(weights.values()) - others
    factor = min(1.0, _MOST_GENERAL * others / general) if others and general else 1.0
    return {word: weight if weight == 1 else factor * weight for word, weight in weights.items()}


def _plain(word: str) -> str:
    """Return a word without accents."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))


def _alike(word: str, other: str) -> bool:
    if word == other:
        return True
    least = max(_ALIKE_LETTERS, math.ceil(_ALIKE_SHARE * max(len(word), len(other))))
    return min(len(word), len(other)) >= least and word[:least] == other[:least]
