"""The contract of a search engine: which queries it takes, how, how often, and how its response is read.

A provider is of one of two kinds. An `HttpProvider` says which HTTP request sends a query and reads what
comes back; it does no I/O itself, so that the driver's bounds and its pace hold. A `LocalProvider` answers in
this process: an index of one's own, or a library that talks to an engine by itself.

An engine is not a site: robots.txt, the scope and the check for private addresses do not apply to it. The
user named it, and its own pace and quota apply instead. To what it finds, all of them do.

A key comes from the environment, when the provider is made. It may be in the URL or the headers of a
`ProviderRequest`, which is not written anywhere: a run knows only the query's URL.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from coati.readers.hits import Hits
from coati.web.queries import Ability, Query


class ProviderRequest(NamedTuple):
    """The HTTP request that sends a query: a GET, or a POST where there is a body."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class Provider(Protocol):
    """What each search engine says of itself."""

    @property
    def name(self) -> str:
        """The engine's name in URLs: ``search://NAME/?q=...``."""

    @property
    def abilities(self) -> frozenset[Ability]:
        """Which kinds of queries it takes."""

    @property
    def delay_seconds(self) -> float:
        """Seconds from one query to the next."""

    @property
    def max_queries(self) -> int | None:
        """The most queries of one run, retries included; None: as many as the budget allows."""


class HttpProvider(Provider, Protocol):
    """An engine that is queried over HTTP."""

    def request(self, query: Query) -> ProviderRequest:
        """Return the request that sends a query."""

    def read(self, body: bytes, content_type: str) -> Hits:
        """Read the body of a successful response; raise `ValueError` where it is not one of the engine."""


@runtime_checkable
class Prepares(Protocol):
    """What an `HttpProvider` has that must find something out before its first query of a session."""

    def preparation(self) -> ProviderRequest | None:
        """Return the request that finds it out; None where it is known."""

    def prepare(self, body: bytes, content_type: str) -> None:
        """Read the response; raise `ValueError` where it is not one of the engine."""


@runtime_checkable
class LocalProvider(Provider, Protocol):
    """An engine that answers in this process, in bounded time; called by one thread at a time, but by any."""

    def search(self, query: Query) -> Hits:
        """Answer a query; raise `ConnectionError` where the engine cannot be queried now."""


AnyProvider = HttpProvider | LocalProvider
