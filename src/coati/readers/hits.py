"""What a search engine found, in one written form for all engines, and the page that it makes.

Engines respond in forms of their own, or are a function in this process. Drivers turn all
of that into the form written here, so an archived query can be replayed without the engine, and without a key
for it. The links of the page are the hits: the title is the anchor, the snippet the text around it, and the
tag path ``search > ENGINE > hit`` lets a strategy learn what an engine's hits are worth.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from coati.errors import UsageError
from coati.readers.dates import seconds_of
from coati.readers.listed import API_PAGE, ARCHIVED, Listed
from coati.web.queries import Ability, Query, parse_query
from coati.web.urls import MAX_URL_CHARS, host_of, normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HITS_TYPE = "application/vnd.coati.hits+json"

# No engine gives more than a hundred on one page of results; what is beyond this is damage or malice.
MAX_HITS = 1000
_MAX_TITLE_CHARS = 300
_MAX_SNIPPET_CHARS = 1000
_MAX_SEEN_CHARS = 30
# What every engine gives.
_ALL = frozenset({"url", "title", "snippet"})


class Hit(NamedTuple):
    """One result of a search, as the engine gave it; the URL may be anything.

    An index of a web archive says on which day it saw the URL last (``seen``, as 2019-12-31), and where what
    it saw is kept (``archived``).
    """

    url: str
    title: str = ""
    snippet: str = ""
    seen: str = ""
    archived: str = ""


class Hits(NamedTuple):
    """One page of results, best first; ``more`` says that the engine has a further page."""

    hits: tuple[Hit, ...] = ()
    more: bool = False


def bounded_hits(hits: Iterable[Hit], *, more: bool = False) -> Hits:
    r"""Collect hits, as many of them and as much of their texts as is sensible.

    >>> bounded_hits([Hit("http://a.test/", " All\n files ")]).hits[0].title
    'All files'
    """
    kept = [
        Hit(
            _without_password(hit.url),
            _words(hit.title, _MAX_TITLE_CHARS),
            _words(hit.snippet, _MAX_SNIPPET_CHARS),
            hit.seen[:_MAX_SEEN_CHARS],
            hit.archived,
        )
        for hit in islice(hits, MAX_HITS)
        if len(hit.url) <= MAX_URL_CHARS and len(hit.archived) <= 2 * MAX_URL_CHARS
    ]
    return Hits(tuple(kept), more)


def _without_password(url: str) -> str:
    """Leave out the user and the password that a URL may hold: hits are kept in the files of a run.

    >>> _without_password("http://me:secret@a.test/x"), _without_password("mailto:me@a.test")
    ('http://a.test/x', '')
    """
    return (normalise(url) or "") if "@" in url else url


def write_hits(found: Hits) -> bytes:
    """Write a page of results in the form that `read_hits` reads, within bounds."""
    found = bounded_hits(found.hits, more=found.more)
    return json.dumps({"hits": [_written(hit) for hit in found.hits], "more": found.more}).encode()


def read_hits(body: bytes) -> Hits:
    """Read a page of results; nothing raises, and a damaged one holds no hits.

    >>> read_hits(write_hits(Hits((Hit("http://a.test/", "A"),), more=True))).more
    True
    """
    try:
        found = json.loads(body)
        hits, more = found["hits"], bool(found["more"])
        return bounded_hits(map(_read, hits), more=more)
    except (ValueError, TypeError, LookupError, RecursionError):
        return Hits()


def list_hits(body: bytes, address: str) -> Iterator[Listed]:
    """Yield the links of a response to a query; that for a site leads to its own next page.

    Nothing raises: at a URL that is not a query, hits are hits and there is no next page.
    """
    engine = host_of(address).rpartition("/")[2]
    found = read_hits(body)
    query = _query_at(address)
    if query is None or query.ability is not Ability.SITE:
        path = ("search", engine, "hit")
        yield from (Listed(hit.url, path, hit.title, context=hit.snippet) for hit in found.hits)
        return
    following = _page_after(query) if found.more else None
    if following is not None:
        yield Listed(following.address, ("search", engine, API_PAGE))
    path = ("search", engine, ARCHIVED)
    for hit in found.hits:
        yield Listed(hit.url, path, hit.title, seconds_of(hit.seen), hit.snippet, archived=hit.archived)


def _query_at(address: str) -> Query | None:
    try:
        return parse_query(address)
    except UsageError:
        return None


def _page_after(query: Query) -> Query | None:
    """Return the query for the next page of results; None after the last that can be requested."""
    try:
        return replace(query, page=query.page + 1)
    except UsageError:
        return None


def _written(hit: Hit) -> dict[str, object]:
    """Return a hit as it is written; what only web archives give is left out where it is empty."""
    items = hit._asdict().items()
    return {name: value for name, value in items if name in _ALL or value}


def _read(saved: dict[str, object]) -> Hit:
    url, title, snippet = (str(saved[name]) for name in ("url", "title", "snippet"))
    return Hit(url, title, snippet, str(saved.get("seen", "")), str(saved.get("archived", "")))


def _words(text: str, most: int) -> str:
    # Cut before and after: a text of megabytes is not to be split into words.
    return " ".join(text[: 4 * most].split())[:most]
