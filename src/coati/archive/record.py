"""What an archive holds of a URL, and what it says about itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coati.web.media import BLOCKED_EXTENSIONS

if TYPE_CHECKING:
    from coati.model import Kind
    from coati.web.media import TargetTypes


@dataclass(frozen=True, slots=True)
class Entry:
    """What the index knows of a URL, without reading its record.

    ``size_bytes`` is the size of the body as it was served, also where the body itself was left out.
    ``kind`` is a label that came with the data (a replica's truth); None: the target types decide.
    ``status`` is 0 where a fetch failed without an answer.
    """

    url: str
    status: int
    media_type: str
    size_bytes: int
    kind: Kind | None = None
    location: str = ""
    fetched_at: float | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One response. ``body`` is None where it was left out: the size is kept, the bytes are not."""

    entry: Entry
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class ArchiveMeta:
    """What an archive says about itself. ``types`` is None where every entry is labelled with its kind."""

    name: str
    start_url: str
    types: TargetTypes | None
    origin: str = ""
    licence: str = ""
    blocked_extensions: frozenset[str] = field(default=BLOCKED_EXTENSIONS)
