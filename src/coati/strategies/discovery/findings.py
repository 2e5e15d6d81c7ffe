"""What a search for repositories found out about one site."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.strategies.discovery.analysed_pages import AnalysedPage
    from coati.strategies.discovery.site_checks import CheckState, SiteCheck


@dataclass(frozen=True, slots=True)
class Finding:
    """A site that was checked, and the evidence for it.

    ``url`` is its page that fits the topic best, ``score`` how well that does (BM25), ``margin`` what the
    classifier made of it, ``topic`` how much the site speaks of the topic (0 to 1). ``files`` counts the
    different files of data that ``fetched`` pages link to, and ``dataset_pages`` those among the pages that
    link to some.
    """

    site: str
    url: str
    title: str
    state: CheckState
    by_user: bool
    arm: int
    score: float
    margin: float
    files: int
    fetched: int
    dataset_pages: int
    pages_found: int
    decided_at: int
    terms: tuple[str, ...] = ()
    topic: float = 0.0

    @classmethod
    def of_check(
        cls,
        check: SiteCheck,
        pages: Sequence[AnalysedPage],
        scores: Sequence[float],
        terms: Sequence[str] = (),
        topic: float = 0.0,
    ) -> Finding:
        """Sum up a check by its best page."""
        best = max(range(len(pages)), key=lambda place: scores[place], default=None)
        page = None if best is None else pages[best]
        return cls(
            site=check.site,
            url=f"http://{check.site}/" if page is None else page.url,
            title="" if page is None else page.title,
            state=check.state,
            by_user=check.by_user,
            # The evidence is that of this page; another one may have been found first.
            arm=check.arm if page is None else page.arm,
            score=0.0 if best is None else scores[best],
            margin=0.0 if page is None else page.margin,
            files=len(check.files),
            fetched=check.fetched,
            dataset_pages=check.dataset_pages,
            pages_found=len(pages),
            decided_at=check.decided_at,
            terms=tuple(terms),
            topic=topic,
        )
