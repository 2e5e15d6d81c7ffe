"""DuckDuckGo, through the library ddgs (the extra ``duckduckgo``): no key, and no promise that it lasts."""

from __future__ import annotations

from importlib.util import find_spec

from coati.errors import ConfigError
from coati.readers.hits import Hits, bounded_hits
from coati.search.json_answers import hits_in
from coati.web.queries import Ability, Query

_RESULTS = 20


class DuckDuckGo:
    """Queries DuckDuckGo; the library talks to it by itself."""

    name = "duckduckgo"
    abilities = frozenset({Ability.KEYWORDS})
    delay_seconds = 3.0

    def __init__(self, language: str = "en", max_queries: int | None = None) -> None:
        if find_spec("ddgs") is None:
            raise ConfigError("duckduckgo needs the library ddgs: pip install coati[duckduckgo]")
        self.max_queries = max_queries
        self._region = "us-en" if language == "en" else f"wt-{language.partition('-')[0].lower()}"

    def search(self, query: Query) -> Hits:
        """Answer a query; raise `ConnectionError` where it cannot be queried now."""
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException

        try:
            found = DDGS().text(query.text, region=self._region, max_results=_RESULTS, page=query.page)
        except DDGSException as error:
            if "no results" in str(error).lower():
                return bounded_hits(())
            raise ConnectionError("DuckDuckGo does not respond") from error
        hits = list(hits_in(found, "href", "title", "body"))
        return bounded_hits(hits, more=len(hits) == _RESULTS)
