"""Outcomes as rows of the log, and back, without loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coati.model import (
    AT_THE_END,
    NO_FACTS,
    Deferred,
    Failure,
    Kind,
    LinkList,
    Other,
    Page,
    Redirect,
    Refused,
    Target,
    Unchanged,
)
from coati.runs.iso_times import from_iso, to_iso

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Facts, Link, Outcome

REFUSED = "refused"
DEFERRED = "deferred"
UNCHANGED = "unchanged"

# When a request is deferred to: a time, or this word.
_END = "the end"


class OutcomeRow(NamedTuple):
    """The columns of ``requests`` that say what came of a request."""

    kind: str
    status: int | None = None
    size_bytes: int = 0
    media_type: str | None = None
    location: str | None = None
    reason: str | None = None
    deferred_until: str | None = None


def to_row(outcome: Outcome, page_type: str = "") -> OutcomeRow:  # noqa: PLR0911 - one per outcome
    """Write an outcome; a page's links stand in a table of their own, its media type is for readers."""
    match outcome:
        case Page(status, size):
            return OutcomeRow(Kind.PAGE.value, status, size, media_type=storable(page_type) or None)
        case Target(status, size, media_type):
            return OutcomeRow(Kind.TARGET.value, status, size, media_type=storable(media_type))
        case Redirect(status, size, location):
            return OutcomeRow(Kind.REDIRECT.value, status, size, location=storable(location))
        case Other(status, size, media_type):
            return OutcomeRow(Kind.OTHER.value, status, size, media_type=storable(media_type))
        case Failure(status, size, reason):
            return OutcomeRow(Kind.BROKEN.value, status, size, reason=storable(reason))
        case Unchanged(status, size):
            return OutcomeRow(UNCHANGED, status, size)
        case Deferred(status, size, reason, until):
            when = _END if until == AT_THE_END else to_iso(until)
            return OutcomeRow(DEFERRED, status, size, reason=storable(reason), deferred_until=when)
        case Refused(reason):
            return OutcomeRow(REFUSED, reason=storable(reason))


def from_row(  # noqa: PLR0911 - one per outcome
    row: OutcomeRow,
    links: list[Link],
    facts: Facts = NO_FACTS,
    out_links: Sequence[int] | None = None,
    *,
    relevant: bool = False,
) -> Outcome:
    """Read an outcome back; raises `ValueError` for a kind that this version does not know."""
    status, size = row.status or 0, row.size_bytes
    match row.kind:
        case Kind.PAGE:
            return Page(status, size, LinkList(links), facts, out_links, relevant)
        case Kind.TARGET:
            return Target(status, size, row.media_type or "")
        case Kind.REDIRECT:
            return Redirect(status, size, row.location or "")
        case Kind.OTHER:
            return Other(status, size, row.media_type or "")
        case Kind.BROKEN:
            return Failure(status, size, row.reason or "")
        case "unchanged":
            return Unchanged(status, size)
        case "deferred":
            when = row.deferred_until or _END
            return Deferred(status, size, row.reason or "", AT_THE_END if when == _END else from_iso(when))
        case "refused":
            return Refused(row.reason or "")
    raise ValueError(f"the log holds an outcome of kind {row.kind!r}")


def storable(text: str) -> str:
    """Replace what UTF-8 cannot hold (lone surrogates), so that text comes back from SQLite as it went."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()
