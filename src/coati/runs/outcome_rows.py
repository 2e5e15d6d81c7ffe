"""Outcomes as rows of the log, and back, without loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from coati.model import (
    AT_THE_END,
    NO_FACTS,
    Deferred,
    Facts,
    Failure,
    Link,
    LinkList,
    Other,
    Outcome,
    OutcomeKind,
    Page,
    Redirect,
    Refused,
    Target,
    Unchanged,
)
from coati.times import from_iso, to_iso

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
            return OutcomeRow(outcome.kind.value, status, size, media_type=storable(page_type) or None)
        case Target(status, size, media_type):
            return OutcomeRow(outcome.kind.value, status, size, media_type=storable(media_type))
        case Redirect(status, size, location):
            return OutcomeRow(outcome.kind.value, status, size, location=storable(location))
        case Other(status, size, media_type):
            return OutcomeRow(outcome.kind.value, status, size, media_type=storable(media_type))
        case Failure(status, size, reason):
            return OutcomeRow(outcome.kind.value, status, size, reason=storable(reason))
        case Unchanged(status, size):
            return OutcomeRow(outcome.kind.value, status, size)
        case Deferred(status, size, reason, until):
            when = _END if until == AT_THE_END else to_iso(until)
            return OutcomeRow(outcome.kind.value, status, size, reason=storable(reason), deferred_until=when)
        case Refused(reason):
            return OutcomeRow(outcome.kind.value, reason=storable(reason))


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
        case OutcomeKind.PAGE:
            return Page(status, size, LinkList(links), facts, out_links, relevant)
        case OutcomeKind.TARGET:
            return Target(status, size, row.media_type or "")
        case OutcomeKind.REDIRECT:
            return Redirect(status, size, row.location or "")
        case OutcomeKind.OTHER:
            return Other(status, size, row.media_type or "")
        case OutcomeKind.FAILURE:
            return Failure(status, size, row.reason or "")
        case OutcomeKind.UNCHANGED:
            return Unchanged(status, size)
        case OutcomeKind.DEFERRED:
            when = row.deferred_until or _END
            return Deferred(status, size, row.reason or "", AT_THE_END if when == _END else from_iso(when))
        case OutcomeKind.REFUSED:
            return Refused(row.reason or "")
    raise ValueError(f"the log holds an outcome of kind {row.kind!r}")


def storable(text: str) -> str:
    """Replace what UTF-8 cannot hold (lone surrogates), so that text comes back from SQLite as it went."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()
