"""The words of a generated web with data (`coati.testing.data_web`), and which of them a site has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coati.testing.data_web_kinds import SiteKind
from coati.testing.data_web_rows import Rows

if TYPE_CHECKING:
    from coati.testing.data_web_rows import Floats, Numbers

_DATA_WORDS = (
    *("data", "dataset", "datasets", "download", "csv", "catalogue", "metadata", "statistics", "table"),
    *("tables", "series", "records", "open", "portal", "archive", "files", "resources", "api", "licence"),
    *("repository", "survey", "indicators", "query", "export", "format"),
)
# Words of those who talk about data: news, courses, firms, software.
_TALK_WORDS = (
    *("news", "article", "blog", "course", "software", "conference", "consulting", "journal", "podcast"),
    *("training", "jobs", "events", "strategy", "insight", "solutions", "webinar", "review", "opinion"),
)
_MORE_DATA_WORDS, _MORE_TALK_WORDS, _GENERAL, _TOPIC_WORDS = 45, 42, 600, 60

# The words of a front page by kind: of its topic, about data, of those who talk about data.
_WORDS = {
    SiteKind.REPOSITORY: (22, 36, 6),
    SiteKind.CLOSED: (22, 36, 6),
    SiteKind.DECOY: (22, 18, 20),
    SiteKind.ORDINARY: (8, 4, 14),
    SiteKind.HUB: (10, 10, 14),
}
_GENERAL_ON_PAGE = 70
# A site talks about some aspects of its topic; one that only writes of the topic too, about fewer.
_ASPECTS, _ASPECTS_OF_MENTION = 14, 6
_WORDS_OF_MENTION = 6
# Portals have many subjects; other sites write of the topic less often.
_MENTIONS_ELSEWHERE = 0.5
# Of the sites about the topic, those that call it by the words that the user has for it.
_CALLED_SO, _OTHERS_CALLED_SO = 0.9, 0.6


class WebWords:
    """All words of a web by number; topic 0 begins with the words that the user has for it."""

    def __init__(self, topic_words: list[str], topics: int) -> None:
        self.names: list[str] = []
        self.data = self._added([*_DATA_WORDS, *_invented("datum", _MORE_DATA_WORDS)])
        self.talk = self._added([*_TALK_WORDS, *_invented("talk", _MORE_TALK_WORDS)])
        self.general = self._added(_invented("word", _GENERAL))
        self.called = self._added(topic_words)
        own = self._added(_invented("topic", _TOPIC_WORDS))
        self.topics = [
            np.concatenate([self.called, own]),
            *(self._added(_invented(f"other{letters(topic)}", _TOPIC_WORDS)) for topic in range(1, topics)),
        ]

    def _added(self, names: list[str]) -> Numbers:
        first = len(self.names)
        self.names += names
        return np.arange(first, len(self.names))


def draw_words(
    words: WebWords, kind: Numbers, topic: Numbers, mentions: float, rng: np.random.Generator
) -> Rows:
    """Draw the words of all front pages."""
    rows, drawn = [], []

    def add(sites: Numbers, made: Numbers) -> None:
        rows.append(np.repeat(sites, made.shape[1]))
        drawn.append(made.ravel())

    everyone = np.arange(len(kind))
    add(everyone, _zipf(words.general, (len(kind), _GENERAL_ON_PAGE), rng))
    for each, (about, data, talk) in _WORDS.items():
        sites = np.flatnonzero(kind == each)
        add(sites, _zipf(words.data, (len(sites), data), rng))
        add(sites, _zipf(words.talk, (len(sites), talk), rng))
        for number, topic_words in enumerate(words.topics):
            of_topic = np.flatnonzero((kind == each) & (topic == number))
            add(of_topic, _of_aspects(topic_words, _ASPECTS, (len(of_topic), about), rng))
    chance = rng.random(len(kind))
    is_portal = (kind == SiteKind.REPOSITORY) | (kind == SiteKind.CLOSED)
    called_so = np.where(is_portal, _CALLED_SO, _OTHERS_CALLED_SO)
    mention = np.where(is_portal, mentions, mentions * _MENTIONS_ELSEWHERE)
    mentioning = np.flatnonzero((topic != 0) & (chance < mention))
    shape = (len(mentioning), _WORDS_OF_MENTION)
    add(mentioning, _of_aspects(words.topics[0], _ASPECTS_OF_MENTION, shape, rng))
    named = np.flatnonzero(chance < np.where(topic == 0, called_so, mention))
    add(named, np.tile(words.called, (len(named), 1)))
    return Rows.of_draws(np.concatenate(rows), np.concatenate(drawn), len(kind))


def _zipf(words: Numbers, shape: tuple[int, int], rng: np.random.Generator) -> Numbers:
    return words[np.searchsorted(_cumulated(len(words)), rng.random(shape))]


def _of_aspects(words: Numbers, aspects: int, shape: tuple[int, int], rng: np.random.Generator) -> Numbers:
    """Draw the words of each row from some of the words alone, which are other ones in each row."""
    chosen = np.argsort(rng.random((shape[0], len(words))), axis=1)[:, :aspects]
    places = np.searchsorted(_cumulated(aspects), rng.random(shape))
    return words[np.take_along_axis(chosen, places, axis=1)]


def _cumulated(count: int) -> Floats:
    weights = 1 / (np.arange(count) + 3.0)
    shares: Floats = np.cumsum(weights) / weights.sum()
    shares[-1] = 1.0
    return shares


def _invented(stem: str, count: int) -> list[str]:
    return [f"{stem}{letters(number)}" for number in range(count)]


def letters(number: int) -> str:
    """Write a number in letters: words have no digits.

    >>> letters(104)
    'bae'
    """
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))
