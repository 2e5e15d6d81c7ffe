"""Why a URL was not fetched: a closed set, so that reports can count and explain each reason."""

from __future__ import annotations

from enum import StrEnum

from coati.errors import UsageError
from coati.web.rules import Refusal


class SkipReason(StrEnum):
    """What a driver finds out beyond the rules of the run (`coati.web.rules.Refusal`)."""

    ROBOTS = "robots.txt"
    NOFOLLOW = "nofollow"
    X_ROBOTS_TAG = "X-Robots-Tag"
    PRIVATE_ADDRESS = "private address"
    TOO_LARGE = "too large"
    MEDIA_TYPE = "blocked media type"
    REDIRECT_LOOP = "redirect loop"
    TOO_MANY_REDIRECTS = "too many redirects"
    DUPLICATE_PAGE = "duplicate page"
    TRAP = "trap: endless pages"
    TOO_DEEP = "trap: too deep"
    NOT_ARCHIVED = "not in the archive"
    HOST_FAILING = "host keeps failing"
    HOST_BUDGET = "host budget used up"


Reason = Refusal | SkipReason

REASONS: dict[str, Reason] = {
    **{reason.value: reason for reason in Refusal},
    **{reason.value: reason for reason in SkipReason},
}


def reason_of(text: str) -> Reason:
    """Return the reason that a `coati.model.Refused` names; another text is a usage error."""
    try:
        return REASONS[text]
    except KeyError:
        raise UsageError(f"{text!r} is not a reason to skip a URL; known: {', '.join(REASONS)}") from None
