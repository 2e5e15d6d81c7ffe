"""The nouns: what a page holds, what a strategy requests, and the outcome.

They are plain values. Drivers make outcomes, strategies make requests, and nothing here reads a clock, a
socket or a file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, Final, NamedTuple, Protocol


class Kind(StrEnum):
    """What a URL turns out to be; the values are the labels that archives on disk hold."""

    PAGE = "html"
    TARGET = "target"
    OTHER = "other"
    REDIRECT = "redirect"
    BROKEN = "broken"


class OutcomeKind(StrEnum):
    """The word for each kind of `Outcome`, the same in events, logs, traces and explanations."""

    PAGE = "page"
    TARGET = "target"
    REDIRECT = "redirect"
    OTHER = "other"
    UNCHANGED = "unchanged"
    FAILURE = "failure"
    DEFERRED = "deferred"
    REFUSED = "refused"


class Method(StrEnum):
    """How a URL is requested; each costs one request."""

    GET = "GET"
    HEAD = "HEAD"


class Link(NamedTuple):
    """A URL found on a page, and its place there.

    ``tag_path`` runs from ``html`` to the link element; each token is the tag with its classes and id
    (``ul.menu wide#top``). ``anchor`` is the link's text, ``context`` the text of the element around it.
    ``modified`` is when the URL last changed, in seconds since the epoch, where a sitemap or a feed says so.
    """

    url: str
    tag_path: tuple[str, ...]
    anchor: str = ""
    context: str = ""
    modified: float | None = None


class NearbyText(NamedTuple):
    """What names a link to a person who looks at the page; strategies do not see it.

    ``row`` is the text of the table row, list item or definition that holds the link, its cells apart by
    `CELL_MARK`; ``heading`` is the heading above the link, or the data set that it belongs to; ``licence`` is
    the one that a list states, ``archived`` where a web archive keeps it. Empty where there is none.
    """

    row: str = ""
    heading: str = ""
    licence: str = ""
    archived: str = ""


CELL_MARK: Final = " | "


class PageLinks(Protocol):
    """The links of a page: every URL at once, the rest of a link when it is needed.

    On a typical page nearly all links are known already. Their tag paths and texts would cost more than
    everything else that a crawler does with a page, so they are not built.
    """

    @property
    def urls(self) -> Sequence[str]:
        """The links' URLs in document order; one may occur more than once."""

    @property
    def title(self) -> str:
        """The title of the page; empty where it has none."""

    def link(self, index: int) -> Link:
        """Return the link at this position of ``urls``, whole."""

    def nearby_text(self, index: int) -> NearbyText:
        """Return what names the link at this position; called only where a run is recorded."""


class LinkList:
    """Links that are whole already, as tests and stored pages have them.

    >>> LinkList([Link("http://example.org/a", ("html", "body", "a"))]).urls
    ['http://example.org/a']
    """

    __slots__ = ("_links", "_nearby_texts", "title", "urls")

    def __init__(
        self, links: Sequence[Link] = (), title: str = "", nearby_texts: Sequence[NearbyText] = ()
    ) -> None:
        self._links = links
        self._nearby_texts = nearby_texts
        self.title = title
        self.urls = [link.url for link in links]

    def link(self, index: int) -> Link:
        """Return the link at this position."""
        return self._links[index]

    def nearby_text(self, index: int) -> NearbyText:
        """Return what names the link at this position; the last links may have been given without."""
        return self._nearby_texts[index] if index < len(self._nearby_texts) else NearbyText()


NO_LINKS: PageLinks = LinkList()


class Request(NamedTuple):
    """What a strategy wants next, and why: the arm that it drew and the score that won."""

    id: int
    method: Method
    url: str
    arm: int | None = None
    score: float | None = None


class Later(NamedTuple):
    """An answer of ``choose``: nothing before this time, in seconds since the epoch."""

    at: float


Facts = Mapping[str, object]
"""What extractors found on a page, by the extractor's name; values that JSON can hold."""

NO_FACTS: Final[Facts] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Page:
    """What lists links: HTML, a sitemap, a feed, the answer of a search engine.

    ``links`` holds what the rules of the run admit; `NO_LINKS` in the answer to a HEAD. ``facts`` are what
    the extractors of the run found. ``out_links`` are the hashes (`coati.web.urls.url_hash`) of all links
    that are there now, known ones included, in rising order; None where the strategy does not need them,
    and for some only those that an API listed before (`coati.readers.listed_links`).
    ``relevant``: the page itself is what the user wants (the goal of the run holds for its facts), and counts
    as a target.
    """

    kind: ClassVar[OutcomeKind] = OutcomeKind.PAGE
    status: int
    size_bytes: int
    links: PageLinks
    facts: Facts = field(default_factory=lambda: NO_FACTS)
    out_links: Sequence[int] | None = None
    relevant: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """What the user wants."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.TARGET
    status: int
    size_bytes: int
    media_type: str


@dataclass(frozen=True, slots=True)
class Redirect:
    """Points elsewhere; whether the next hop is worth a request is the strategy's decision."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.REDIRECT
    status: int
    size_bytes: int
    location: str


@dataclass(frozen=True, slots=True)
class Other:
    """Neither a page nor a target: an image behind a plain URL, a script, a style sheet."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.OTHER
    status: int
    size_bytes: int
    media_type: str


@dataclass(frozen=True, slots=True)
class Unchanged:
    """What this run observed of the URL before still holds (304)."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.UNCHANGED
    status: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Failure:
    """An error status, a broken body. ``status`` is 0 where no answer came at all."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.FAILURE
    status: int
    size_bytes: int
    reason: str


AT_THE_END: Final = math.inf
"""A time for `Deferred.until`: when nothing else is left to request."""


@dataclass(frozen=True, slots=True)
class Deferred:
    """An outage, which says nothing about the URL: it waits, and may be requested again from ``until`` on."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.DEFERRED
    status: int
    size_bytes: int
    reason: str
    until: float


@dataclass(frozen=True, slots=True)
class Refused:
    """Not requested, because robots.txt, the scope or another rule forbids it; it cost no request."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.REFUSED
    reason: str


Outcome = Page | Target | Redirect | Other | Unchanged | Failure | Deferred | Refused


def is_wanted(outcome: Outcome) -> bool:
    """Tell whether an outcome is what the user wants: a target, or a page that is relevant itself."""
    return isinstance(outcome, Target) or (isinstance(outcome, Page) and outcome.relevant)


class Settlement(NamedTuple):
    """A reward that is final: the page that ``request_id`` fetched brought ``reward``."""

    request_id: int
    reward: float


class Hosts(Protocol):
    """Which hosts may get a request at the time of a choice; a driver passes it to ``choose``."""

    def ready(self, host: str) -> bool:
        """Tell whether a host may get a request now."""

    def take_ready(self) -> Sequence[str]:
        """Return, once each, the hosts that `ready` said were not ready, and that are now.

        A strategy over many hosts lets those sleep that are not ready, and wakes these. Which hosts sleep is
        not part of its state: a restored strategy takes all for awake, and checks.
        """


class _EveryHost:
    def ready(self, host: str) -> bool:
        return True

    def take_ready(self) -> Sequence[str]:
        return ()


EVERY_HOST: Final[Hosts] = _EveryHost()
"""Any host may get a request at any time: what drivers without a clock pass."""
