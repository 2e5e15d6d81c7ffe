"""Which URLs a crawl may request at all: its scope, what it never fetches, and traps.

Rules are the user's and the run's, not a strategy's: a driver applies them to what it extracts, so each
strategy sees the same web. A refusal has a reason from a closed set, and is counted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import unquote

from coati.errors import ConfigError
from coati.web.likely_extensions import DATA_EXTENSIONS
from coati.web.media import BLOCKED_EXTENSIONS
from coati.web.public_suffixes import is_public_suffix
from coati.web.queries import parse_query
from coati.web.urls import extension_of, host_of, is_query, normalise, path_of, query_of, without_www

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping


class Scope(StrEnum):
    """How far from the start URL a crawl may go."""

    HOST = "host"
    DOMAIN = "domain"
    PATH = "path"
    ANY = "any"


class TrapRule(StrEnum):
    """By what a URL alone shows that it belongs to a trap.

    The published rule counts characters as they are sent, so that a long name in another alphabet, six
    characters for each letter, is taken for a trap. Ours counts letters, and spares what ends like a wanted
    file; so it refuses nothing that the published one admits.
    """

    OFF = "off"
    PUBLISHED = "published"
    OURS = "ours"


class Refusal(StrEnum):
    """Why a URL is not requested."""

    SCOPE = "out of scope"
    EXTENSION = "blocked extension"
    EXCLUDED = "excluded by a pattern"
    EXCLUDED_HOST = "excluded host"
    NOT_INCLUDED = "not included by a pattern"
    TOO_LONG = "trap: URL too long"
    REPEATS = "trap: repeating parts"
    NO_ENGINE = "no such search engine"
    NO_ABILITY = "not offered by the search engine"
    QUOTA = "search quota used up"


# How much longer than the start URL a URL may get, and how often one of its parts may recur, before it is
# taken for a trap: the numbers of the crawler that was published with the EDBT 2026 paper.
_TRAP_EXTRA_CHARS = 350
_TRAP_REPEATS = 3


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one crawl, which begins at ``start_url`` and at those of ``more_start_urls``.

    ``wanted_extensions`` are those of the files that the user wants (`coati.web.likely_extensions`).

    >>> rules = Rules("https://www.example.org/")
    >>> rules.refusal("http://data.example.org/a.csv") is None
    True
    >>> rules.refusal("http://example.com/")
    <Refusal.SCOPE: 'out of scope'>
    """

    start_url: str
    scope: Scope = Scope.DOMAIN
    blocked_extensions: frozenset[str] = BLOCKED_EXTENSIONS
    include: tuple[re.Pattern[str], ...] = ()
    exclude: tuple[re.Pattern[str], ...] = ()
    exclude_hosts: frozenset[str] = frozenset()
    traps: TrapRule = TrapRule.OURS
    wanted_extensions: frozenset[str] = DATA_EXTENSIONS
    more_start_urls: tuple[str, ...] = ()
    start_urls: tuple[str, ...] = field(init=False, repr=False)
    # There may be thousands of start URLs, and a check must cost the same with them.
    _starts: frozenset[str] = field(init=False, repr=False, compare=False)
    # The folders of the start URLs, by their site.
    _places: Mapping[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Work out once what each check needs of the start URLs."""
        starts = tuple(_checked(url) for url in (self.start_url, *self.more_start_urls))
        places: dict[str, tuple[str, ...]] = {}
        for url in starts:
            site, folder = _site_of(host_of(url)), path_of(url).rpartition("/")[0] + "/"
            places[site] = tuple(dict.fromkeys((*places.get(site, ()), folder)))
        object.__setattr__(self, "start_url", starts[0])
        object.__setattr__(self, "start_urls", starts)
        object.__setattr__(self, "_starts", frozenset(starts))
        object.__setattr__(self, "_places", places)

    def refusal(self, url: str) -> Refusal | None:
        """Say why a URL in normal form must not be requested; None if it may.

        A start URL always may: patterns are meant for what is found from there. So may a query,
        which belongs to no site.
        """
        if url in self._starts or is_query(url):
            return None
        if not self._in_scope(url, self.scope):
            return Refusal.SCOPE
        if extension_of(url) in self.blocked_extensions:
            return Refusal.EXTENSION
        if self.exclude_hosts and self._excludes_host(url):
            return Refusal.EXCLUDED_HOST
        unwanted = self._unwanted(url) if self.exclude or self.include else None
        return unwanted or self._trap(url)

    def list_refusal(self, url: str) -> Refusal | None:
        """Say why a list of links (`coati.readers.list_addresses`) must not be requested; None if it may.

        Only its host counts: a sitemap is at the root of a site whose folder is crawled, and the
        patterns for what is found from it are not meant for it.
        """
        scope = Scope.HOST if self.scope is Scope.PATH else self.scope
        admitted = url in self._starts or is_query(url) or self._in_scope(url, scope)
        return None if admitted else Refusal.SCOPE

    def page_request_refusal(self, url: str) -> Refusal | None:
        """Say why a request that a page makes in a browser is not allowed; None if it is.

        Its host counts, and what the user excludes: patterns of what to include are for pages and files.
        """
        if self.exclude_hosts and self._excludes_host(url):
            return Refusal.EXCLUDED_HOST
        if any(pattern.search(url) for pattern in self.exclude):
            return Refusal.EXCLUDED
        return self.list_refusal(url)

    def _unwanted(self, url: str) -> Refusal | None:
        if any(pattern.search(url) for pattern in self.exclude):
            return Refusal.EXCLUDED
        if self.include and not any(pattern.search(url) for pattern in self.include):
            return Refusal.NOT_INCLUDED
        return None

    def _excludes_host(self, url: str) -> bool:
        host = host_of(url)
        return host in self.exclude_hosts or any(above in self.exclude_hosts for above in _above(host))

    def _in_scope(self, url: str, scope: Scope) -> bool:
        if scope is Scope.ANY:
            return True
        host = host_of(url)
        if self._is_own(host, url, scope):
            return True
        # A site keeps its www where it would be a suffix of many without.
        bare = without_www(host)
        return bare != host and self._is_own(bare, url, scope)

    def _is_own(self, host: str, url: str, scope: Scope) -> bool:
        folders = self._places.get(host)
        if folders is not None and (scope is not Scope.PATH or path_of(url).startswith(folders)):
            return True
        return scope is Scope.DOMAIN and any(above in self._places for above in _above(host))

    def _trap(self, url: str) -> Refusal | None:
        if self.traps is TrapRule.OFF:
            return None
        if len(url) > len(self.start_url) + _TRAP_EXTRA_CHARS and self._is_too_long(url):
            return Refusal.TOO_LONG
        if _repeats(path_of(url).split("/")):
            return Refusal.REPEATS
        query = query_of(url)
        return Refusal.REPEATS if query and _repeats(query.replace(";", "&").split("&")) else None

    def _is_too_long(self, url: str) -> bool:
        """Tell whether one that takes many bytes is too long for people, too."""
        if self.traps is TrapRule.PUBLISHED:
            return True
        most = len(self.start_url) + _TRAP_EXTRA_CHARS
        return extension_of(url) not in self.wanted_extensions and len(unquote(url)) > most


def _checked(url: str) -> str:
    start = parse_query(url).address if is_query(url) else normalise(url)
    if start is None:
        raise ConfigError(f"the start URL {url!r} does not begin with http:// or https://, or is not valid")
    return start


def _site_of(host: str) -> str:
    """Name the site of a host: without www, where that leaves a site and not a suffix of many."""
    bare = without_www(host)
    return host if bare != host and is_public_suffix(bare) else bare


def _above(host: str) -> Iterator[str]:
    """Return the names above a host, the nearest first."""
    _, dot, above = host.partition(".")
    while dot:
        yield above
        _, dot, above = above.partition(".")


def _repeats(parts: list[str]) -> bool:
    """Tell whether a part that is not empty recurs as often as in a trap."""
    # In most URLs nothing recurs, and a set shows that in a tenth of the time.
    if len(parts) - len(set(parts)) < _TRAP_REPEATS - 1:
        return False
    return max(Counter(part for part in parts if part).values(), default=0) >= _TRAP_REPEATS
