"""What is known of one URL in a run: plain values, for people and for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum

from coati.reporting.explanation_lines import explanation_lines
from coati.reporting.found_repositories import SiteVerdict
from coati.reporting.safe_html import element, joined, shortened
from coati.reporting.watched_pages import WatchedPage
from coati.strategies.strategy import ScoreReason

# Longer texts of pages are cut.
_MAX_CHARS = 500


class Verdict(StrEnum):
    """What became of a URL."""

    TARGET = "target"
    PAGE = "page"
    REDIRECT = "redirect"
    OTHER = "other"
    FAILURE = "failure"
    REFUSED = "refused"
    SKIPPED = "skipped"
    IN_FLIGHT = "in flight"
    WAITING = "waiting"
    DEFERRED = "deferred"
    UNKNOWN = "never found"


@dataclass(frozen=True, slots=True)
class FoundLink:
    """How the run came to know a URL: by a link on a page, or by a redirect from another URL.

    With ``redirected_from``, the link is the one that led to the first of the redirects. ``is_start`` is true
    for what is requested before any link is known.
    """

    found_on: str | None = None
    anchor: str | None = None
    tag_path: str | None = None
    context: str | None = None
    redirected_from: str | None = None
    found_by: str | None = None
    is_start: bool = False


@dataclass(frozen=True, slots=True)
class GroupStanding:
    """What a group of links has brought: for a waiting link, what its chances rest on.

    ``led_to`` counts the targets that its pages led to, ``were_targets`` those that its links were, and
    ``rewarded`` the requests with a reward: in a search, the pages that look like a repository's.
    """

    name: str
    followed: int
    were_targets: int
    led_to: int
    failures: int
    waiting: int | None = None
    rewarded: int | None = None


@dataclass(frozen=True, slots=True)
class UrlRequest:
    """One request for the URL, why it was chosen and what came of it; ``cause`` if no score decided."""

    request: int
    method: str
    chosen_at: str
    arm: int | None
    score: float | None
    group: GroupStanding | None
    kind: str | None
    status: int | None
    media_type: str | None
    size_bytes: int | None
    location: str | None
    reason: str | None
    reward: float | None
    requests_before: int
    links: int | None = None
    new_links: int | None = None
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class SavedFile:
    """Where a target is kept; ``same_as`` are other URLs with the same bytes."""

    file: str
    sha256: str
    size_bytes: int
    media_type: str
    fetched_at: str
    redirects: tuple[str, ...] = ()
    same_as: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkippedUrl:
    """Why a URL was not requested: the reason by its name, and what it means in plain words."""

    reason: str
    meaning: str
    found_on: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that a run knows of a URL.

    ``score`` is the one that decides, unless ``score_decided`` is false. ``reasons`` are the strategy's, the
    strongest first: as they stood when the URL was chosen, or as they stand now if it waits. ``missing``
    says what could not be found out, and why. ``site`` is what a search for repositories decided about the
    URL's site, ``watched`` how a watch visits the page.
    """

    url: str
    verdict: Verdict
    because: str
    found: FoundLink | None = None
    requests: tuple[UrlRequest, ...] = ()
    file: SavedFile | None = None
    skipped: SkippedUrl | None = None
    siblings: GroupStanding | None = None
    strategy: str = ""
    score: float | None = None
    score_decided: bool | None = None
    reasons: tuple[ScoreReason, ...] = ()
    leads_to: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()
    site: SiteVerdict | None = None
    watched: WatchedPage | None = None
    missing: str | None = None

    def __str__(self) -> str:
        return f"{self.url}: {self.verdict.value}. {self.because}"

    def _repr_html_(self) -> str:
        said = element("p", element("strong", self.url), f": {self.verdict.value}. {self.because}")
        lines = [
            element("tr", element("th", name), element("td", shortened(text, _MAX_CHARS)))
            for name, text in explanation_lines(self)
        ]
        return joined(said, element("table", *lines) if lines else None)

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it; what is not known is left out."""
        plain = _plain(self)
        if not isinstance(plain, dict):
            raise TypeError("an explanation is a mapping")
        return plain


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        named = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {name: item for name, item in named.items() if item is not None and item != []}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float) else str(value)
