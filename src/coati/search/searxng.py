"""SearXNG: a search engine that one runs oneself, and that queries others without a key.

Its server must allow the JSON format (``search: formats: [html, json]`` in its settings.yml); one that does
not answers 403. One that needs a password gets it from the environment (``SEARXNG_AUTH=user:password``),
since a URL is kept in the files of a run.
"""

from __future__ import annotations

import os
from base64 import b64encode
from urllib.parse import urlencode

from coati.errors import ConfigError
from coati.readers.hits import Hits, bounded_hits
from coati.search.json_answers import hits_in, list_in, read_json
from coati.search.provider import ProviderRequest
from coati.web.queries import Ability, Query
from coati.web.urls import normalise, userinfo_of


class SearxNg:
    """Queries the SearXNG server at a URL."""

    name = "searxng"
    abilities = frozenset({Ability.KEYWORDS})

    def __init__(self, url: str, language: str = "en", max_queries: int | None = None) -> None:
        base = normalise(url)
        if userinfo_of(url) is not None:
            raise ConfigError(
                "searxng=URL: a user and a password do not belong in the URL, which the files of a run"
                " keep; set the environment variable SEARXNG_AUTH to user:password"
            )
        if base is None:
            raise ConfigError(f"searxng={url}: not the URL of a server; one looks like http://localhost:8888")
        if "?" in base:
            # Not repeated here: it may hold a key.
            raise ConfigError("searxng=URL: leave out the part from ? on; the URL of a server has none")
        self._base = base.rstrip("/").removesuffix("/search")
        self._language = language
        self._headers = _authorisation(os.environ.get("SEARXNG_AUTH", ""))
        self.delay_seconds = 1.0
        self.max_queries = max_queries

    def request(self, query: Query) -> ProviderRequest:
        """Return the request that sends a query."""
        parameters = {"q": query.text, "format": "json", "language": self._language, "pageno": query.page}
        return ProviderRequest(f"{self._base}/search?{urlencode(parameters)}", self._headers)

    def read(self, body: bytes, content_type: str) -> Hits:
        """Read a response; raise `ValueError` where it is not JSON."""
        answer = read_json(body, content_type, "the server must allow the format json in its settings.yml")
        hits = list(hits_in(list_in(answer, "results"), "url", "title", "content"))
        return bounded_hits(hits, more=bool(hits))


def _authorisation(user: str) -> tuple[tuple[str, str], ...]:
    return (("Authorization", f"Basic {b64encode(user.encode()).decode()}"),) if user else ()
