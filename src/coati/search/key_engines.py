"""Search engines that sell an API: Brave, Google Programmable Search and Mojeek.

Each takes its key from the environment when it is made. The key is sent, and written nowhere.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import urlencode

from coati.errors import ConfigError
from coati.readers.hits import Hits, bounded_hits
from coati.search.json_answers import hits_in, list_in, read_json
from coati.search.provider import ProviderRequest
from coati.web.queries import Ability, Query

_KEYWORDS = frozenset({Ability.KEYWORDS})


def key_from(variable: str, engine: str) -> str:
    """Read a key from the environment; raise `ConfigError` that says which variable is missing."""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ConfigError(f"{engine} needs a key: set the environment variable {variable} to yours")
    return key


@dataclass(frozen=True, slots=True)
class Brave:
    """The Brave Search API; its key is in BRAVE_API_KEY."""

    language: str = "en"
    max_queries: int | None = None
    base_url: str = "https://api.search.brave.com"
    key: str = field(default_factory=lambda: key_from("BRAVE_API_KEY", "brave"), repr=False)
    name: str = "brave"
    abilities: frozenset[Ability] = _KEYWORDS
    delay_seconds: float = 1.1

    def request(self, query: Query) -> ProviderRequest:
        """Return the request that sends a query; the API has ten pages of twenty results."""
        parameters = {
            "q": query.text,
            "count": 20,
            "offset": min(query.page - 1, 9),
            "search_lang": self.language.partition("-")[0].lower(),
        }
        url = f"{self.base_url}/res/v1/web/search?{urlencode(parameters)}"
        return ProviderRequest(url, (("X-Subscription-Token", self.key),))

    def read(self, body: bytes, content_type: str) -> Hits:
        """Read a response."""
        answer = read_json(body, content_type)
        results = list_in(answer, "web", "results")
        more = bool((answer.get("query") or {}).get("more_results_available"))
        return bounded_hits(hits_in(results, "url", "title", "description"), more=more)


@dataclass(frozen=True, slots=True)
class GoogleProgrammable:
    """Google Programmable Search; its key is in GOOGLE_API_KEY, the id of your engine in GOOGLE_CSE_ID."""

    language: str = "en"
    max_queries: int | None = None
    base_url: str = "https://www.googleapis.com"
    key: str = field(default_factory=lambda: key_from("GOOGLE_API_KEY", "google"), repr=False)
    engine_id: str = field(default_factory=lambda: key_from("GOOGLE_CSE_ID", "google"), repr=False)
    name: str = "google"
    abilities: frozenset[Ability] = _KEYWORDS
    delay_seconds: float = 1.0

    def request(self, query: Query) -> ProviderRequest:
        """Return the request that sends a query; the API has ten pages of ten results."""
        parameters = {
            "key": self.key,
            "cx": self.engine_id,
            "q": query.text,
            "num": 10,
            "start": 10 * min(query.page - 1, 9) + 1,
            "lr": f"lang_{self.language.partition('-')[0].lower()}",
        }
        return ProviderRequest(f"{self.base_url}/customsearch/v1?{urlencode(parameters)}")

    def read(self, body: bytes, content_type: str) -> Hits:
        """Read a response; one without results has no items."""
        answer = read_json(body, content_type)
        results = list_in(answer, "items") if "items" in answer else []
        more = bool((answer.get("queries") or {}).get("nextPage"))
        return bounded_hits(hits_in(results, "link", "title", "snippet"), more=more)


@dataclass(frozen=True, slots=True)
class Mojeek:
    """The Mojeek Search API, an index of its own; its key is in MOJEEK_API_KEY."""

    language: str = "en"
    max_queries: int | None = None
    base_url: str = "https://api.mojeek.com"
    key: str = field(default_factory=lambda: key_from("MOJEEK_API_KEY", "mojeek"), repr=False)
    name: str = "mojeek"
    abilities: frozenset[Ability] = _KEYWORDS
    delay_seconds: float = 1.0

    def request(self, query: Query) -> ProviderRequest:
        """Return the request that sends a query."""
        parameters = {
            "api_key": self.key,
            "q": query.text,
            "fmt": "json",
            "t": 20,
            "s": 20 * (query.page - 1) + 1,
            "lb": self.language.partition("-")[0].upper(),
        }
        return ProviderRequest(f"{self.base_url}/search?{urlencode(parameters)}")

    def read(self, body: bytes, content_type: str) -> Hits:
        """Read a response; an error comes with status 200 and says so inside."""
        answer = read_json(body, content_type).get("response")
        if not isinstance(answer, dict) or answer.get("status") != "OK":
            raise ValueError("the engine refused the query")
        results = list_in(answer, "results") if "results" in answer else []
        return bounded_hits(hits_in(results, "url", "title", "desc"), more=bool(results))
