"""The search engine over a generated web with data (`coati.testing.data_web`): it knows front pages."""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING

import numpy as np

from coati.web.page_words import words_in
from coati.web.queries import Ability

if TYPE_CHECKING:
    from coati.testing.data_web_kinds import DataWebParameters
    from coati.testing.data_web_rows import Floats, Numbers, Rows
    from coati.web.queries import Query

HITS_PER_PAGE = 50
# More repetitions of a word do not make a page more alike.
_MOST_COUNTED = 3
# A page is found that has this share of the words of a query.
_SHARE_OF_WORDS = 0.75


class WebEngine:
    """Finds sites by words, by likeness to a site, or by their links to one; ``seed`` moves the chance."""

    def __init__(
        self, parameters: DataWebParameters, words: Rows, names: list[str], links: Rows, seed: int
    ) -> None:
        self._parameters = parameters
        self._words = words
        self._number_of = {name: number for number, name in enumerate(names)}
        self._seed = seed
        self._sites = len(words.ends) - 1
        self._with_word = words.turned(len(names))
        pages_with = np.maximum(1, np.diff(self._with_word.ends))
        self._idf = np.log(1 + self._sites / pages_with)
        self._linking = links.turned(self._sites)

    def hits(self, query: Query, site: int | None) -> list[int]:
        """Return one page of results; ``site`` is what a query for related pages or backlinks is about."""
        found = self._found(query, site)
        first = (query.page - 1) * HITS_PER_PAGE
        return list(map(int, found[first : first + HITS_PER_PAGE]))

    def _found(self, query: Query, site: int | None) -> Numbers:
        if query.ability is Ability.BACKLINKS:
            return np.array([], int) if site is None else self._linking.row(site)
        if query.ability is Ability.RELATED:
            if site is None:
                return np.array([], int)
            weights = np.minimum(self._words.counts_of(site), _MOST_COUNTED) / _MOST_COUNTED
            return self._ranked(
                self._words.row(site), weights, 1, self._parameters.fitted.related_noise, query.text
            )
        query_words = {self._number_of[word] for word in words_in(query.text) if word in self._number_of}
        least = math.ceil(_SHARE_OF_WORDS * len(query_words))
        words, noise = np.array(sorted(query_words), int), self._parameters.keyword_noise
        return self._ranked(words, np.ones(len(query_words)), least, noise, query.text)

    def _ranked(self, words: Numbers, weights: Floats, least: int, noise: float, text: str) -> Numbers:
        """Return the sites with at least ``least`` of the words, the best first."""
        scores, having = np.zeros(self._sites), np.zeros(self._sites, int)
        for word, weight in zip(words.tolist(), weights.tolist(), strict=True):
            sites, counts = self._with_word.row(word), self._with_word.counts_of(word)
            scores[sites] += weight * self._idf[word] * counts / (counts + 1.0)
            having[sites] += 1
        found = np.flatnonzero(having >= max(1, least))
        chance = np.random.default_rng([self._seed, zlib.crc32(text.encode())]).random(len(found))
        ranks = scores[found] / scores.max(initial=1e-9) + noise * chance
        return found[np.argsort(-ranks, kind="stable")]
