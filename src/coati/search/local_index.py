"""A search engine of one's own over archived pages: keywords, related pages and backlinks, all offline."""

from __future__ import annotations

import math
import sqlite3
from pathlib import Path

from coati.readers.hits import Hit, Hits, bounded_hits
from coati.search.index_file import open_index, signed_hash
from coati.web.page_words import words_in
from coati.web.queries import Ability, Query
from coati.web.urls import site_of

_HITS_PER_PAGE = 50
_MAX_WORDS = 32
_RELATED_TERMS = 10
# A word of the title counts as much as three of the text. The two best pages of each site come first, then
# the next two of each, and so on: otherwise a large site fills the response, and no other one is ever found.
_RANKED = """
SELECT url, title, snippet FROM (
    SELECT page, score,
        (row_number() OVER (PARTITION BY site ORDER BY score, page) - 1) / 2 AS round
    FROM (
        SELECT found.page, found.score, pages.site
        FROM (SELECT rowid AS page, bm25(words, 3.0, 1.0) AS score FROM words WHERE words MATCH ?) AS found
        JOIN pages ON pages.id = found.page WHERE pages.site IS NOT ?
    ) ORDER BY round, score, page LIMIT ? OFFSET ?
) JOIN pages ON pages.id = page ORDER BY round, score, page
"""
# Pages that link to the very page come before those that link to its site.
_BACKLINKS = """
SELECT pages.url, pages.title, pages.snippet FROM (
    SELECT page, 0 AS order_of FROM links WHERE target = ?1
    UNION ALL
    SELECT page, 1 FROM site_links WHERE site = ?2 AND page NOT IN (SELECT page FROM links WHERE target = ?1)
) JOIN pages ON pages.id = page ORDER BY order_of, page LIMIT ?3 OFFSET ?4
"""
_TERMS = "SELECT title, terms FROM pages WHERE url = ?"
_PAGES_WITH = "SELECT doc FROM vocabulary WHERE term = ?"


class LocalIndex:
    """The engine named "local", over the index that `coati search index` made."""

    name = "local"
    abilities = frozenset(Ability)
    delay_seconds = 0.0

    def __init__(self, place: Path, max_queries: int | None = None) -> None:
        self.max_queries = max_queries
        self._connection = open_index(place)
        (self._pages,) = self._connection.execute("SELECT count(*) FROM pages").fetchone()

    def search(self, query: Query) -> Hits:
        """Answer a query, best first."""
        first = (query.page - 1) * _HITS_PER_PAGE
        window = (_HITS_PER_PAGE + 1, first)
        try:
            if query.ability is Ability.BACKLINKS:
                wanted = (signed_hash(query.text), site_of(query.text))
                rows = self._connection.execute(_BACKLINKS, (*wanted, *window)).fetchall()
            elif query.ability is Ability.RELATED:
                rows = self._ranked(self._terms_of(query.text), site_of(query.text), window)
            else:
                rows = self._ranked(words_in(query.text), None, window)
        except sqlite3.OperationalError as error:
            # The disk, or an index that was moved away: nothing that the query could help.
            raise ConnectionError(str(error)) from error
        return bounded_hits((Hit(*row) for row in rows[:_HITS_PER_PAGE]), more=len(rows) > _HITS_PER_PAGE)

    def _ranked(
        self, words: list[str], without_site: str | None, window: tuple[int, int]
    ) -> list[tuple[str, ...]]:
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(words[:_MAX_WORDS]))
        return self._connection.execute(_RANKED, (match, without_site, *window)).fetchall()

    def _terms_of(self, url: str) -> list[str]:
        """Return the words that make a page what it is: frequent on it and rare elsewhere."""
        row = self._connection.execute(_TERMS, (url,)).fetchone()
        if row is None:
            return []
        title, terms = row
        candidates = dict.fromkeys([*words_in(title), *terms.split()])
        ranked = sorted(candidates, key=self._rareness, reverse=True)
        return ranked[:_RELATED_TERMS]

    def _rareness(self, word: str) -> float:
        row = self._connection.execute(_PAGES_WITH, (word,)).fetchone()
        # A word that no other page has finds nothing.
        return 0.0 if row is None or row[0] <= 1 else math.log(self._pages / row[0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
