"""A query to a search engine as a URL, so that it can be requested, logged and replayed like any URL.

There are four of them, each with ``&page=`` from the second page of results on::

    search://ENGINE/?q=WORDS          pages with these words
    search://ENGINE/?related=URL      pages like this one
    search://ENGINE/?backlinks=URL    pages that link to this one
    search://ENGINE/?site=URL         files of this site, as an index of a web archive knows them

Only a strategy makes queries. No page can: `coati.web.urls.resolve` and `normalise` know only web addresses,
so a link or a redirect to ``search://`` leads nowhere, and nothing else spends the user's quota.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qsl, quote_plus

from coati.errors import UsageError
from coati.web.urls import MAX_URL_CHARS, QUERY_SCHEME, is_query, normalise

_ENGINE = re.compile(r"[a-z][a-z0-9-]{0,31}\Z")
_PAGE = re.compile(r"[1-9][0-9]{0,3}\Z")
_MAX_PAGE = 9999
_FORM = "a query looks like search://ENGINE/?q=words"


class Ability(StrEnum):
    """What a search engine can search; the value is the parameter of the URL."""

    KEYWORDS = "q"
    RELATED = "related"
    BACKLINKS = "backlinks"
    SITE = "site"


@dataclass(frozen=True, slots=True)
class Query:
    """A question to a search engine; equal questions are equal values, and have one URL.

    ``text`` is words, or the URL whose relatives or backlinks are looked for. Raises `UsageError` where that
    is not a query.

    >>> Query("searxng", "  food   security ", page=2).address
    'search://searxng/?q=food+security&page=2'
    >>> Query("local", "HTTP://Example.org", Ability.BACKLINKS).address
    'search://local/?backlinks=http://example.org/'
    """

    engine: str
    text: str
    ability: Ability = Ability.KEYWORDS
    page: int = 1

    def __post_init__(self) -> None:
        """Bring the text into its normal form."""
        _check_engine(self.engine)
        if not 1 <= self.page <= _MAX_PAGE:
            raise UsageError(f"a query has no page {self.page}: pages of results count from 1 to {_MAX_PAGE}")
        object.__setattr__(self, "text", _normal_text(self.text, self.ability))
        if len(self.address) > MAX_URL_CHARS:
            raise UsageError(f"a query of {len(self.text)} characters is too long: {self.text[:60]!r}...")

    @property
    def address(self) -> str:
        """The URL of the query, in normal form."""
        page = f"&page={self.page}" if self.page > 1 else ""
        text = quote_plus(self.text, safe="/:")
        return f"{QUERY_SCHEME}//{self.engine}/?{self.ability.value}={text}{page}"


def parse_query(address: str) -> Query:
    """Read the URL of a query, in normal form or not; raise `UsageError` that says what is wrong.

    >>> parse_query("search://local?page=1&q=food%20security")
    Query(engine='local', text='food security', ability=<Ability.KEYWORDS: 'q'>, page=1)
    """
    if not is_query(address) or len(address) > MAX_URL_CHARS:
        raise UsageError(f"not the URL of a query: {address[:60]!r}; {_FORM}")
    authority, mark, parameters = address.removeprefix(QUERY_SCHEME).partition("?")
    if not mark or not authority.startswith("//"):
        raise UsageError(f"{address!r} is an empty query: {_FORM}")
    engine = authority[2:].removesuffix("/")
    _check_engine(engine)
    pairs = parse_qsl(parameters, keep_blank_values=True)
    values = dict(pairs)
    twice = len(values) < len(pairs)
    page = values.pop("page", "1")
    if not _PAGE.match(page):
        raise UsageError(f"{page!r} is not a page of results: they count from 1 to {_MAX_PAGE}")
    abilities = [ability for ability in Ability if ability in values]
    if len(abilities) != 1 or len(values) != 1 or twice:
        known = ", ".join(f"{ability.value}=" for ability in Ability)
        raise UsageError(f"{address!r} must have one of {known}, and nothing else but page=")
    return Query(engine, values[abilities[0]], abilities[0], int(page))


def _check_engine(engine: str) -> None:
    if not engine:
        raise UsageError(f"the query names no search engine: {_FORM}")
    if not _ENGINE.match(engine):
        raise UsageError(
            f"{engine!r} is not a name of a search engine: lower-case letters, digits and hyphens"
        )


def _normal_text(text: str, ability: Ability) -> str:
    if ability is not Ability.KEYWORDS:
        url = normalise(text)
        if url is None:
            raise UsageError(f"{ability.value}= needs a URL, not {text[:60]!r}")
        return url
    # Terms come out of pages: whatever cannot be seen separates words at most.
    seen = "".join(character if character.isprintable() else " " for character in text)
    words = " ".join(unicodedata.normalize("NFC", seen).split())
    if not words:
        raise UsageError("a query needs words to look for")
    return words
