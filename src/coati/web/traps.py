"""Sites without end: calendars that turn for ever, results beyond the last page, URLs that all exist.

No single URL shows that it belongs to a trap. So a `TrapWatch` keeps counts by shape: a URL's host and path
with numbers folded, and the names of its query's parameters. What it goes by is barrenness: how many answers
a shape has given since one of its pages last brought a target, also by a few steps. A shape that keeps
bringing targets is never cut, however large it is.

- Endless: more than ``max_urls_per_shape`` links of a shape were admitted, a tenth of this many were looked
  at, and nothing came of it.
- Too deep: a page was reached through more than ``max_chain`` pages of its own shape, and this many answers
  of that shape have brought nothing.
- Duplicate: the URL differs from a known one by a session id only; or its shape has given the same page
  ``max_equal_pages`` times in a row; or it is on a page that was seen that often already. Pages are compared
  without their own URL. A few equal pages are not a reason: the same frameset may be in many
  folders, and leads to other pages from each of them.

Memory is bounded: of shapes and of links, the latest are remembered. What is forgotten is only ever
counted too low, so that less is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from coati.errors import ConfigError
from coati.web.session_ids import session_free

# A long token with a number in it is an id; any other number is a number.
_FOLDED = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z]*[0-9])(?:[0-9a-fA-F]{8,}|[0-9A-Za-z]{16,})(?![A-Za-z0-9])|[0-9]+"
)

# How much of what was admitted has to be looked at before a shape can be called endless: a list of ten
# thousand data sets may well be read before the first of them is requested.
_LOOKED_AT = 0.1

# A target is evidence for the pages on the way to it, of this many shapes: list, data set, its files.
_WAY = 4

_SHAPES = 1 << 14
_LINKS = 1 << 16
_BODIES = 1 << 16

# Shorter URLs ("/", "/a") are in any page for many reasons.
_OWN_ADDRESS_CHARS = 4


class Trap(StrEnum):
    """Why a link is not followed."""

    ENDLESS = "trap: endless pages"
    TOO_DEEP = "trap: too deep"
    DUPLICATE = "duplicate page"


@dataclass(frozen=True, slots=True)
class TrapSettings:
    """How patient a crawl is with pages that bring nothing.

    >>> TrapSettings(max_chain=0)
    Traceback (most recent call last):
    coati.errors.ConfigError: max_chain is 0: it must be at least 1
    """

    enabled: bool = True
    # Links of one shape that are followed without any target. Real sites have thousands of numbered pages.
    max_urls_per_shape: int = 5_000
    # How many pages of one URL pattern are followed in a row (as by "next") without finding a target.
    max_chain: int = 200
    # How often the same page may come before its links, or its shape's, are left alone.
    max_equal_pages: int = 20

    def __post_init__(self) -> None:
        """Refuse limits that would forbid everything."""
        for name in ("max_urls_per_shape", "max_chain", "max_equal_pages"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}: it must be at least 1")


def shape_of(url: str) -> str:
    """Return the shape of a URL in normal form.

    >>> shape_of("http://example.org/calendar/2024/11?view=day&page=3")
    'example.org/calendar/0/0?view&page'
    """
    head, _, query = url.partition("?")
    slash = head.index("/", 8)
    shape = head[head.index("//") + 2 : slash] + _FOLDED.sub("0", head[slash:])
    if not query:
        return shape
    names = [_FOLDED.sub("0", part.partition("=")[0]) for part in query.split("&")]
    return f"{shape}?{'&'.join(names)}"


K = TypeVar("K")
V = TypeVar("V")


class _Recent(Generic[K, V]):
    """The latest entries, between ``size`` and twice as many."""

    __slots__ = ("_new", "_old", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._new: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        found = self._new.get(key)
        if found is None and (found := self._old.get(key)) is not None:
            self.put(key, found)
        return found

    def put(self, key: K, value: V) -> None:
        self._new[key] = value
        if len(self._new) >= self._size:
            self._old, self._new = self._new, {}

    def __len__(self) -> int:
        return len(self._new) + len(self._old)


@dataclass(slots=True)
class _Shape:
    """What is known of one shape; ``admitted`` and ``barren`` count since it last brought a target."""

    requested: bool = False
    admitted: int = 0
    barren: int = 0
    # The last page: how many links it had, what it said, and how often that came in a row.
    links: int = -1
    body: int | None = None
    equal: int = 0


@dataclass(frozen=True, slots=True)
class _Origin:
    """The page that links were found on: its shape and those on the way to it, and its steps in a chain."""

    way: tuple[_Shape, ...]
    chain: int


class TrapWatch:
    """Watches one crawl.

    For each response, call `answered`; for a page, then call `filter_links` with its links and the places of
    those that are new to the run.

    >>> watch = TrapWatch(TrapSettings(max_urls_per_shape=1))
    >>> watch.answered("http://example.org/day/1", is_target=False)
    >>> watch.filter_links("http://example.org/day/1", b"", ["http://example.org/day/2"], [0])
    {}
    >>> watch.answered("http://example.org/day/2", is_target=False)
    >>> watch.filter_links("http://example.org/day/2", b"", ["http://example.org/day/3"], [0])
    {0: <Trap.ENDLESS: 'trap: endless pages'>}
    """

    def __init__(self, settings: TrapSettings) -> None:
        self._settings = settings
        self._shapes: _Recent[str, _Shape] = _Recent(_SHAPES)
        # By hash, to be small: a wrong origin does no harm worth mentioning.
        self._origins: _Recent[int, _Origin] = _Recent(_LINKS)
        self._sessions: _Recent[int, bool] = _Recent(_LINKS)
        self._bodies: _Recent[int, int] = _Recent(_BODIES)

    def answered(self, url: str, *, is_target: bool) -> None:
        """Count a response of any kind; a target is evidence for its own shape and for those on its way."""
        shape = self._shape(url)
        shape.requested = True
        if not is_target:
            shape.barren += 1
            return
        origin = self._origins.get(hash(url))
        for paid in (shape, *(() if origin is None else origin.way)):
            paid.admitted = paid.barren = paid.equal = 0
            if paid.body is not None:
                self._bodies.put(paid.body, 0)

    def filter_links(
        self,
        page_url: str,
        body: bytes,
        urls: Sequence[str],
        fresh: Iterable[int],
        *,
        visited: bool = False,
    ) -> dict[int, Trap]:
        """Return the links of a page that must not be followed, by their place among ``urls``.

        ``fresh`` are the places of links that are new to the run, each URL once; all others are left alone.
        A page that was ``visited`` before is expected to be like itself.
        """
        fresh = list(fresh)
        own = self._shape(page_url)
        brings_links = bool(fresh)
        seen_too_often = not visited and self._compare(
            own, page_url, body, len(urls), brings_links=brings_links
        )
        if not fresh:
            return {}
        origin = self._origin(page_url, own)
        traps: dict[int, Trap] = {}
        promising = False
        for place in fresh:
            url = urls[place]
            shape = self._shape(url)
            trap = Trap.DUPLICATE if seen_too_often else self._judge(url, shape, own, origin)
            if trap is None:
                self._admit(url, shape, origin)
                promising = promising or not shape.requested
            else:
                traps[place] = trap
        if promising and own.barren and not visited:
            # It is not known yet where such links lead: breadth first, a thousand data sets are seen before
            # the first of their files.
            own.barren -= 1
        return traps

    def relearn(self, page_url: str, urls: Iterable[str]) -> None:
        """Count links of a page that were admitted in an earlier session."""
        origin = self._origin(page_url, self._shape(page_url))
        for url in urls:
            self._admit(url, self._shape(url), origin)

    def _judge(self, url: str, shape: _Shape, own: _Shape, origin: _Origin) -> Trap | None:
        limits = self._settings
        if self._is_session_twin(url) or shape.equal >= limits.max_equal_pages:
            return Trap.DUPLICATE
        looked_at = shape.barren >= _LOOKED_AT * limits.max_urls_per_shape
        if shape.admitted >= limits.max_urls_per_shape and looked_at:
            return Trap.ENDLESS
        if shape is own and origin.chain >= limits.max_chain and shape.barren >= limits.max_chain:
            return Trap.TOO_DEEP
        return None

    def _admit(self, url: str, shape: _Shape, origin: _Origin) -> None:
        shape.admitted += 1
        self._origins.put(hash(url), origin)
        free = session_free(url)
        if free != url:
            self._sessions.put(hash(free), True)

    def _is_session_twin(self, url: str) -> bool:
        """Tell whether a URL is known with another session id, or with one where this has none."""
        free = session_free(url)
        if free == url and not self._sessions:
            return False
        if self._sessions.get(hash(free)):
            return True
        # Seen without any id.
        return free != url and self._origins.get(hash(free)) is not None

    def _origin(self, page_url: str, own: _Shape) -> _Origin:
        before = self._origins.get(hash(page_url))
        if before is None:
            return _Origin((own,), 0)
        if before.way[0] is own:
            return _Origin(before.way, before.chain + 1)
        others = tuple(shape for shape in before.way if shape is not own)
        return _Origin((own, *others)[:_WAY], 0)

    def _compare(self, shape: _Shape, url: str, body: bytes, links: int, *, brings_links: bool) -> bool:
        """Compare a page with the earlier ones; True if it was seen too often for its links to count.

        Taking a body in costs more than all else here. A page that brings no link and has not even as many
        as the last of its shape is another one anyway.
        """
        alike, shape.links = shape.links == links, links
        if not body or not (brings_links or alike):
            shape.body, shape.equal = None, 0
            return False
        digest = hash(_without_address(body, url))
        shape.equal = shape.equal + 1 if digest == shape.body else 0
        shape.body = digest
        times = self._bodies.get(digest) or 0
        self._bodies.put(digest, times + 1)
        return times >= self._settings.max_equal_pages

    def _shape(self, url: str) -> _Shape:
        key = shape_of(url)
        shape = self._shapes.get(key)
        if shape is None:
            shape = _Shape()
            self._shapes.put(key, shape)
        return shape


def _without_address(body: bytes, url: str) -> bytes:
    """Take a page's own address out of it: a page that says "/a was not found" is the same for /b."""
    own = url[url.index("/", 8) :]
    if len(own) < _OWN_ADDRESS_CHARS:
        return body
    body = body.replace(own.encode(), b"")
    return body.replace(own.replace("&", "&amp;").encode(), b"") if "&" in own else body
