"""What a generated site should be like: the columns of the EDBT 2026 paper's Table 1, and more."""

from __future__ import annotations

from dataclasses import dataclass

from coati.errors import ConfigError

MAX_TEMPLATES = 6

_MAX_WASTED = 0.8
_MAX_BARREN = 0.8

# A chain of listing pages is twice as long as its mean item is deep, and needs as many items.
_PAGES_PER_DEPTH = 4
# Asked of no site: the smallest have only what they have.
_ANY_SITE_DEPTH = 4


@dataclass(frozen=True, slots=True)
class SiteParameters:
    """The shape of a generated site. The comments give the paper's range over its 18 sites.

    Shares run from 0 to 1. Traps come on top of ``pages``, since no honest count includes them.

    >>> SiteParameters(pages=200, target_share=0.5).targets
    200
    """

    # HTML pages, the start page included (1,800 to 900,000).
    pages: int = 500
    # Targets among pages and targets (0.025 to 0.67).
    target_share: float = 0.3
    # Pages that link to a target of their own (0.007 to 0.41).
    pages_with_targets: float = 0.1
    # Mean number of links from the start page to a target (2.6 to 87); the deep ones by pagination.
    target_depth: float = 4.0
    # Pages without targets that lie deeper than all targets, as a share of all pages; below 0: this share
    # lies nearer to the start than most. This decides when a breadth-first crawl has the targets.
    barren_depth: float = 0.0
    # Sections with targets stand last among the sections (1), first (-1), or in turns with the others (0).
    # This decides when a depth-first crawl has them.
    rich_last: float = 0.0
    # Standard deviation of the targets that a page has, where it has any, over their mean (0.2 to 20).
    reward_spread: float = 1.5
    # Of all URLs: answers with an error (0 to 0.29), redirects, and what is neither page nor target.
    error_share: float = 0.05
    redirect_share: float = 0.02
    other_share: float = 0.02
    # Targets whose URL does not show that they are files.
    extensionless_share: float = 0.3
    # Kinds of sections, each with markup and URLs of its own; every other one hardly holds targets.
    templates: int = MAX_TEMPLATES
    # List entries and articles that carry an id of their own, which no other tag path shares.
    unique_ids: float = 0.3
    # Entries of one listing before its next page; raised where the depth leaves no other way.
    listing_size: int = 12
    # Links on a page, at least, and its size in bytes (mean of a log-normal).
    links_per_page: int = 30
    page_bytes: int = 6_000
    # Sizes of targets: mean and standard deviation of a log-normal (means 40 kB to 13 MB, sd 2 to 12 times).
    target_bytes: int = 30_000
    target_bytes_sd: int = 90_000
    # Traps: months of a calendar, directories that repeat in a path, pages that differ by a session id.
    calendar_pages: int = 0
    concatenating_pages: int = 0
    session_pages: int = 0

    def __post_init__(self) -> None:
        """Refuse parameters that no site could have, and say what would do."""
        for name in ("target_share", "error_share", "redirect_share", "other_share"):
            self._require(0 <= getattr(self, name) < 1, f"{name} must be at least 0 and below 1")
        for name in ("pages_with_targets", "extensionless_share", "unique_ids"):
            self._require(0 <= getattr(self, name) <= 1, f"{name} must be between 0 and 1")
        for name in ("pages", "listing_size", "page_bytes", "target_bytes"):
            self._require(getattr(self, name) >= 1, f"{name} must be at least 1")
        for name in ("links_per_page", "target_bytes_sd", "calendar_pages", "concatenating_pages"):
            self._require(getattr(self, name) >= 0, f"{name} must not be negative")
        self._require(self.session_pages >= 0, "session_pages must not be negative")
        self._require(self.reward_spread >= 0, "reward_spread must not be negative")
        self._require(1 <= self.templates <= MAX_TEMPLATES, f"templates must be 1 to {MAX_TEMPLATES}")
        self._require(abs(self.barren_depth) <= _MAX_BARREN, f"barren_depth must be within ±{_MAX_BARREN}")
        self._require(abs(self.rich_last) <= 1, "rich_last must be between -1 and 1")
        wasted = self.error_share + self.redirect_share + self.other_share
        self._require(
            wasted <= _MAX_WASTED, f"errors, redirects and others may take at most {_MAX_WASTED} of the URLs"
        )
        self._require(self.target_depth >= 1, "target_depth must be at least 1")
        self._require(
            self.pages_with_targets + abs(self.barren_depth) <= 1,
            "the pages without targets that barren_depth asks for are not there: lower pages_with_targets",
        )
        self._require(
            self.targets >= self.target_pages,
            f"{self.target_pages} pages with targets need as many targets, and there are {self.targets}: "
            "raise target_share or lower pages_with_targets",
        )
        needed = round(_PAGES_PER_DEPTH * self.target_depth / (1 - abs(self.barren_depth)))
        self._require(
            self.target_depth <= _ANY_SITE_DEPTH or self.pages >= needed,
            f"a target depth of {self.target_depth} needs at least {needed} pages",
        )

    @property
    def targets(self) -> int:
        """How many targets the shares ask for."""
        return round(self.pages * self.target_share / (1 - self.target_share))

    @property
    def target_pages(self) -> int:
        """How many pages link to targets of their own: at least one where there are targets."""
        if self.targets == 0:
            return 0
        return max(1, round(self.pages * self.pages_with_targets))

    @property
    def urls(self) -> int:
        """How many URLs the site has, without its traps."""
        kept = 1 - self.error_share - self.redirect_share - self.other_share
        return round((self.pages + self.targets) / kept)

    def _require(self, holds: bool, message: str) -> None:  # noqa: FBT001 - a condition, not a switch
        if not holds:
            raise ConfigError(f"site parameters: {message}")
