"""The search engines of one run: which one answers a query, and how many queries each may still get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.errors import ConfigError, UsageError
from coati.model import Page, Refused
from coati.readers.formats import Format
from coati.readers.hits import write_hits
from coati.readers.registry import PageReader
from coati.search.provider import LocalProvider
from coati.web.queries import Query, parse_query
from coati.web.rules import Refusal
from coati.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from coati.model import Outcome
    from coati.search.provider import AnyProvider, Provider
    from coati.web.rules import Rules

_SUCCESS = 200


def engine_host(provider: Provider) -> str:
    """Return the host of an engine for pacing and counts; raise `UsageError` for a bad name.

    It is what `coati.web.urls.host_of` gives for its queries.
    """
    return host_of(Query(provider.name, "words").address)


class Engines:
    """Finds the provider of a query, and counts queries.

    ``queries_before`` returns how many queries an engine got before, by its host: in earlier sessions of the
    run. What an archive answered may be among them: better too few queries than too many. Raises `UsageError`
    where an engine could not be queried.
    """

    def __init__(
        self, providers: Iterable[AnyProvider] = (), queries_before: Callable[[str], int] = lambda _: 0
    ) -> None:
        self._providers: dict[str, AnyProvider] = {}
        self._left: dict[str, int] = {}
        for provider in providers:
            name, host = provider.name, engine_host(provider)
            if name in self._providers:
                raise ConfigError(f"two search engines have the name {name!r}")
            if not provider.delay_seconds >= 0:
                raise ConfigError(f"{name}: the delay between queries must not be negative")
            self._providers[name] = provider
            if provider.max_queries is not None:
                self._left[name] = provider.max_queries - queries_before(host)

    def admit(self, query: Query) -> AnyProvider | Refusal:
        """Return the engine that answers a query, and count it; or why none does."""
        provider = self._providers.get(query.engine)
        if provider is None:
            return Refusal.NO_ENGINE
        if query.ability not in provider.abilities:
            return Refusal.NO_ABILITY
        left = self._left.get(query.engine)
        if left is not None:
            if left <= 0:
                return Refusal.QUOTA
            self._left[query.engine] = left - 1
        return provider

    def answers_here(self, address: str) -> bool:
        """Tell whether the engine of a query is one in this process, which needs no network."""
        return isinstance(self._providers.get(parse_query(address).engine), LocalProvider)

    def respond(self, address: str, rules: Rules | None = None) -> Outcome:
        """Answer a query without a network, as replay does; raise `UsageError` where that needs one."""
        query = parse_query(address)
        provider = self.admit(query)
        if isinstance(provider, Refusal):
            return Refused(provider)
        if not isinstance(provider, LocalProvider):
            raise UsageError(
                f"the search engine {query.engine} is on the network: only a live crawl queries it"
            )
        body = write_hits(provider.search(query))
        return Page(_SUCCESS, len(body), PageReader(rules).read(Format.HITS, body, address).links)
