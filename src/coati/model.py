"""The nouns: what a page holds, what a strategy asks for, what came of it.

They are plain values. Drivers make outcomes, strategies make requests, and nothing here reads a clock, a
socket or a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol


class Kind(StrEnum):
    """What a URL turns out to be; the truth that an archive records and a replay answers with."""

    PAGE = "html"
    TARGET = "target"
    OTHER = "other"
    REDIRECT = "redirect"
    BROKEN = "broken"


class Method(StrEnum):
    """How a URL is asked for; each costs one request."""

    GET = "GET"
    HEAD = "HEAD"


class Link(NamedTuple):
    """A URL found on a page, and where on the page it stood.

    ``tag_path`` runs from ``html`` to the link element; each token is the tag with its classes and id
    (``ul.menu wide#top``). ``anchor`` is the link's text, ``context`` the text of the element around it.
    """

    url: str
    tag_path: tuple[str, ...]
    anchor: str = ""
    context: str = ""


class PageLinks(Protocol):
    """The links of a page: every URL at once, the rest of a link when somebody asks for it.

    On a typical page nearly all links are known already. Their tag paths and texts would cost more than
    everything else that a crawler does with a page, so nobody builds them.
    """

    @property
    def urls(self) -> Sequence[str]:
        """The links' URLs in document order; one may stand more than once."""

    def link(self, index: int) -> Link:
        """Give the link at this position of ``urls``, whole."""


class LinkList:
    """Links that are whole already, as tests and stored pages have them.

    >>> LinkList([Link("http://example.org/a", ("html", "body", "a"))]).urls
    ['http://example.org/a']
    """

    __slots__ = ("_links", "urls")

    def __init__(self, links: Sequence[Link] = ()) -> None:
        self._links = links
        self.urls = [link.url for link in links]

    def link(self, index: int) -> Link:
        """Give the link at this position."""
        return self._links[index]


NO_LINKS: PageLinks = LinkList()


class Request(NamedTuple):
    """What a strategy wants next, and why: the arm that it drew and the score that won."""

    id: int
    method: Method
    url: str
    arm: int | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """HTML. ``links`` holds what the rules of the run admit; `NO_LINKS` in the answer to a HEAD."""

    status: int
    size_bytes: int
    links: PageLinks


@dataclass(frozen=True, slots=True)
class Target:
    """What the user wants."""

    status: int
    size_bytes: int
    media_type: str


@dataclass(frozen=True, slots=True)
class Redirect:
    """Points elsewhere; whether the next hop is worth a request is the strategy's decision."""

    status: int
    size_bytes: int
    location: str


@dataclass(frozen=True, slots=True)
class Other:
    """Neither a page nor a target: an image behind a plain URL, a script, a style sheet."""

    status: int
    size_bytes: int
    media_type: str


@dataclass(frozen=True, slots=True)
class Failure:
    """An error status, a time-out, a broken body. ``status`` is 0 where no answer came at all."""

    status: int
    size_bytes: int
    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Not asked for, because robots.txt, the scope or another rule forbids it; it cost no request."""

    reason: str


Outcome = Page | Target | Redirect | Other | Failure | Refused


class Settlement(NamedTuple):
    """A reward that is final: the page that ``request_id`` fetched brought ``reward``."""

    request_id: int
    reward: float


Ready = Callable[[str], bool]
"""Whether a host may be asked now; a driver passes it to ``choose``."""


def always_ready(_host: str) -> bool:
    """Answer that any host may be asked: the clock-free drivers' `Ready`."""
    return True
