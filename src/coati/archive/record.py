"""What an archive holds of a URL, and what it says about itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from coati.web.media import BLOCKED_EXTENSIONS

if TYPE_CHECKING:
    from coati.model import Kind
    from coati.web.media import TargetTypes


PASSING_STATUSES: Final = frozenset({408, 421, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524})
"""Statuses that say how a server feels, and not what a URL is."""

IN_TROUBLE: Final = PASSING_STATUSES | {500}
"""Those, and the one by which servers say either that they are in trouble or that a page is broken."""

# No answer at all, and a part of one, say as little.
_PASSING = PASSING_STATUSES | {0, 206}


@dataclass(frozen=True, slots=True)
class Entry:
    """What the index knows of a capture: of what a URL answered at one moment; its record is not read.

    ``url`` is in normal form. ``media_type`` is the Content-Type as it was served, parameters
    included. ``size_bytes`` is the size of the decoded body, also where the body itself was left
    out. ``kind`` is a label that came with the data (a replica's truth); None: the target types
    decide. ``location`` is where a redirect leads, absolute and in normal form. ``status`` is 0
    where a fetch failed without an answer. ``fetched_at`` is in seconds since the epoch.
    """

    url: str
    status: int
    media_type: str
    size_bytes: int
    kind: Kind | None = None
    location: str = ""
    fetched_at: float | None = None

    @property
    def moment(self) -> float:
        """When it was fetched, as captures of a URL are ordered: an unknown time is before all others."""
        return -math.inf if self.fetched_at is None else self.fetched_at

    @property
    def passing(self) -> bool:
        """Whether it says nothing lasting about the URL: no answer, an outage, a part of the body."""
        return self.status in _PASSING


@dataclass(frozen=True, slots=True)
class Record:
    """One response.

    ``headers`` are as served. ``body`` is decoded: without transfer and content encoding. It is
    None where it was left out: the size is kept, the bytes are not. ``sent`` are the headers of the request,
    without secrets, where they are known; they are written and not read back.
    """

    entry: Entry
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    sent: tuple[tuple[str, str], ...] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ArchiveMeta:
    """What an archive says about itself.

    ``types`` is None where every entry is labelled with its kind. ``blocked_extensions`` are those
    that the crawl behind it never requested: links to them are not gaps.
    """

    name: str
    start_url: str
    types: TargetTypes | None
    origin: str = ""
    licence: str = ""
    blocked_extensions: frozenset[str] = field(default=BLOCKED_EXTENSIONS)
