"""The actions of discovery: ways from repositories that are known to pages that may belong to others."""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from typing import TYPE_CHECKING

from coati.web.page_words import words_in
from coati.web.queries import Ability, Query

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from coati.strategies.discovery.settings import DiscoverySettings

_TITLE_WORDS = 6
_TOP_TERMS = 3
# The generated query of BM25: the topic, this many frequent terms, and "data".
_QUERY_TERMS = 5


class Action(IntEnum):
    """An arm of the bandit, or a judgement of the user."""

    KEYWORDS = 0
    RELATED = 1
    BACKLINKS = 2
    FORWARD = 3
    ACCEPTED = 4
    REJECTED = 5
    PUT_OFF = 6

    @property
    def label(self) -> str:
        """What it does, in words."""
        return _LABELS[self]


_LABELS = {
    Action.KEYWORDS: "keyword search",
    Action.RELATED: "pages related to a repository",
    Action.BACKLINKS: "pages that link to a repository, and what else they link to",
    Action.FORWARD: "links of a repository to other sites",
    Action.ACCEPTED: "accepted by you",
    Action.REJECTED: "rejected by you",
    Action.PUT_OFF: "checks that were put off",
}

DISCOVERY_ACTIONS = (Action.KEYWORDS, Action.RELATED, Action.BACKLINKS, Action.FORWARD)


def possible_actions(settings: DiscoverySettings) -> frozenset[Action]:
    """Return the actions that the configured engines allow; the others sleep for good.

    Where no engine finds related pages, a keyword query replaces that query.
    """
    able = {Action.FORWARD}
    if settings.keyword_engines:
        able |= {Action.KEYWORDS, Action.RELATED}
    if settings.related_engines:
        able.add(Action.RELATED)
    if settings.backlink_engines:
        able.add(Action.BACKLINKS)
    return frozenset(able)


def first_query(settings: DiscoverySettings) -> Query:
    """Return the query that a search begins with: the user's own words."""
    return Query(settings.keyword_engines[0], settings.topic)


def keyword_query(settings: DiscoverySettings, term: str, turn: int) -> Query:
    """Return a query of the topic, a term of verified pages and "dataset"; engines take turns."""
    engine = settings.keyword_engines[turn % len(settings.keyword_engines)]
    return Query(engine, f"{settings.topic} {term} {settings.data_words[1]}")


def related_query(
    settings: DiscoverySettings, url: str, title: str, terms: Sequence[str], turn: int
) -> Query:
    """Return a query for pages like one: for an engine that finds them, or with its title and terms."""
    if settings.related_engines:
        return Query(settings.related_engines[turn % len(settings.related_engines)], url, Ability.RELATED)
    words = words_in(title)[:_TITLE_WORDS]
    words += [term for term in terms if term not in words][:_TOP_TERMS]
    engine = settings.keyword_engines[turn % len(settings.keyword_engines)]
    return Query(engine, " ".join(words) or f"{settings.topic} {settings.data_words[0]}")


def backlinks_query(settings: DiscoverySettings, url: str, turn: int) -> Query:
    """Return a query for the pages that link to one."""
    return Query(settings.backlink_engines[turn % len(settings.backlink_engines)], url, Ability.BACKLINKS)


def frequent_terms(
    pages: Iterable[Mapping[str, int]], without: Collection[str], most: int | None = None
) -> list[str]:
    """Return the most frequent words of pages, those on several pages first where counts are equal.

    >>> frequent_terms([{"rain": 2, "the": 9}, {"rain": 1, "snow": 3}], {"the"})
    ['rain', 'snow']
    """
    counts: Counter[str] = Counter()
    pages_with: Counter[str] = Counter()
    for page in pages:
        counts.update(page)
        pages_with.update(page.keys())
    kept = [word for word in counts if word not in without]
    kept.sort(key=lambda word: (-counts[word], -pages_with[word], word))
    return kept[:most]


def ranking_query(
    settings: DiscoverySettings, pages: Sequence[Mapping[str, int]], stop: Collection[str]
) -> list[str]:
    """Return the words by which verified pages are ranked: the topic, frequent terms, and "data"."""
    topic = words_in(settings.topic)
    data = settings.data_words[0].lower()
    terms = frequent_terms(pages, {*stop, *topic, data}, _QUERY_TERMS)
    return [*topic, *terms, data]
