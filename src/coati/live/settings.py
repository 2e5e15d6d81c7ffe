"""How a live crawl sends requests: how fast, for how long, how much it reads. Polite by default."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from coati.errors import ConfigError
from coati.live.origin_headers import OriginHeader
from coati.version import __version__
from coati.web.links import MAX_PAGE_BYTES
from coati.web.urls import host_of, is_query

_MIB = 1024 * 1024


class RenderMode(StrEnum):
    """Which pages are rendered by a browser before their links are read."""

    NEVER = "never"
    AUTO = "auto"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """What a live crawl keeps to, for every host alike.

    >>> LiveSettings(contact="https://example.org/our-crawler").user_agent
    'Coati/0.1.0 (+https://example.org/our-crawler)'
    """

    # Seconds from the start of one request to the start of the next, for each host. 0 is for servers of
    # one's own: nothing but errors slows a crawl down then.
    delay_seconds: float = 1.0
    # Requests that are chosen and not yet observed, in all and for one host. More than one means that a
    # strategy chooses before it knows what came of its last choice.
    concurrency: int = 1
    per_host: int = 1
    # Where a site's owner can complain: an address or a page. It stands in the User-Agent.
    contact: str = ""
    # The User-Agent; Coati's own, unless given.
    agent: str = ""
    # Bytes per second that are taken off the wire, over all connections; None: as many as come.
    max_bytes_per_second: int | None = None
    # Whether robots.txt is fetched and obeyed. Off is for one's own sites.
    robots: bool = True
    # The largest file that is taken; one that declares more is not even begun.
    max_file_bytes: int = 1024 * _MIB
    # How much of a page is read; the links in the rest are not seen.
    max_page_bytes: int = MAX_PAGE_BYTES
    # A file above this size goes to disk as it arrives, so that it never stands in memory whole.
    stream_above_bytes: int = 1 * _MIB
    # Seconds to connect, to the first byte of an answer, and for a whole download.
    connect_timeout_seconds: float = 30.0
    answer_timeout_seconds: float = 60.0
    download_timeout_seconds: float = 3600.0
    # A body that comes more slowly than this, measured over `slow_window_seconds`, is given up.
    min_bytes_per_second: int = 256
    slow_window_seconds: float = 30.0
    # Hops from the first redirect to what it leads to.
    max_redirects: int = 10
    # How often a URL is retried that met an outage, before it is called broken; each time is charged.
    # The first time comes after `retry_seconds`, each further one after four times as long, the last at the
    # end.
    retries: int = 3
    retry_seconds: float = 10.0
    # The longest wait that a server may ask for (Retry-After). Who asks for more ends the crawl of it.
    max_retry_after_seconds: float = 300.0
    # How far the delay of a host may grow by its own Crawl-delay, by errors and by slowness.
    max_delay_seconds: float = 60.0
    headers: tuple[tuple[str, str], ...] = ()
    # Headers for one origin each: what only that one must see.
    origin_headers: tuple[OriginHeader, ...] = ()
    # Cookies for the origin of the start URL; those that the site sets are kept for the length of the crawl.
    cookies: tuple[tuple[str, str], ...] = ()
    proxy: str = ""
    # Which pages a browser renders, and the path of one, if not any that is found.
    render: str = RenderMode.NEVER
    browser: str = ""
    # What a page in a browser may take: time without what it fetches, requests, memory.
    render_seconds: float = 20.0
    render_requests: int = 50
    render_memory_bytes: int = 1024 * _MIB
    # Whether private and loopback addresses may get requests. None: only if a start URL itself names one.
    allow_private: bool | None = None
    # Whether a server must prove who it is. Off is for sites whose certificate has run out, and the like.
    verify_certificates: bool = True

    def __post_init__(self) -> None:
        """Refuse values that no crawl could keep to."""
        _require_at_least(
            1,
            concurrency=self.concurrency,
            per_host=self.per_host,
            max_file_bytes=self.max_file_bytes,
            max_page_bytes=self.max_page_bytes,
            stream_above_bytes=self.stream_above_bytes,
            render_memory_bytes=self.render_memory_bytes,
            max_bytes_per_second=self.max_bytes_per_second,
        )
        _require_above_0(
            connect_timeout_seconds=self.connect_timeout_seconds,
            answer_timeout_seconds=self.answer_timeout_seconds,
            download_timeout_seconds=self.download_timeout_seconds,
            slow_window_seconds=self.slow_window_seconds,
        )
        _require_at_least(
            0,
            delay_seconds=self.delay_seconds,
            min_bytes_per_second=self.min_bytes_per_second,
            max_redirects=self.max_redirects,
            retries=self.retries,
            retry_seconds=self.retry_seconds,
            max_retry_after_seconds=self.max_retry_after_seconds,
            max_delay_seconds=self.max_delay_seconds,
            render_seconds=self.render_seconds,
            render_requests=self.render_requests,
        )
        bound = ((header.name, header.value) for header in self.origin_headers)
        named = (("contact", self.contact), ("user_agent", self.agent))
        for name, value in (*named, *self.headers, *bound, *self.cookies):
            if not name.isprintable() or not value.isprintable():
                raise ConfigError(f"{name} holds a character that no HTTP header can")
        if self.proxy and not urlsplit(self.proxy).hostname:
            raise ConfigError("not a proxy: one looks like http://host:port")

    @property
    def user_agent(self) -> str:
        """Say honestly who is crawling: the program, its version, and the contact where there is one."""
        comment = f" (+{self.contact})" if self.contact else ""
        return f"{self.agent or f'Coati/{__version__}'}{comment}"

    @property
    def robots_agents(self) -> tuple[str, ...]:
        """Whose rules of robots.txt are kept: those for Coati under any name, and those for a given name."""
        return ("Coati", self.agent) if self.agent else ("Coati",)

    def allows_private(self, start_urls: Iterable[str]) -> bool:
        """Tell whether private addresses may get requests in a crawl from these URLs.

        Only what the user wrote counts. A public name that happens to lead to a private address is the
        attack, not the permission. A query may find anything.
        """
        if self.allow_private is not None:
            return self.allow_private
        return any(not is_query(url) and names_private(host_of(url)) for url in start_urls)


def _require_at_least(least: int, **values: float | None) -> None:
    for name, value in values.items():
        if value is not None and not value >= least:
            raise ConfigError(f"{name} is {value}: it must be at least {least}")


def _require_above_0(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise ConfigError(f"{name} is {value}: it must be above 0")


def names_private(host: str) -> bool:
    """Tell whether a host, as written in a URL, is a private one on the face of it.

    >>> [names_private(host) for host in ("localhost", "192.168.0.7", "[::1]", "intranet", "example.org")]
    [True, True, True, True, False]
    """
    try:
        return not ipaddress.ip_address(host.strip("[]")).is_global
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal", ".home.arpa"))
