"""Knobs for sites like the 18 of the EDBT 2026 paper, in any size.

A generated site shares the figures of Tables 1 and 6 with its model: the share of targets, the pages that
have any, how deep they lie, how unevenly they are spread and how large they are. It shares nothing else, so
results on it say how a strategy copes with such a shape, not what it would do on the real site.
"""

from __future__ import annotations

from typing import NamedTuple

from coati.errors import unknown_name
from coati.testing.knobs import SiteKnobs


class PaperSite(NamedTuple):
    """A row of Table 1, and the rewards of Table 6: thousands of URLs, per cent, megabytes, links."""

    available_k: float
    targets_k: float
    pages_with_targets_pct: float
    target_mb: float
    target_mb_sd: float
    target_depth: float
    reward_mean: float
    reward_sd: float


PAPER_SITES = {
    "ab": PaperSite(952.26, 263.26, 8.86, 4.50, 56.04, 8.94, 1.7, 16.8),
    "as": PaperSite(949.42, 155.94, 4.34, 0.54, 6.38, 5.84, 1.5, 5.35),
    "be": PaperSite(31.23, 15.84, 32.19, 2.03, 6.99, 5.73, 4.5, 20.9),
    "ce": PaperSite(988.37, 257.68, 3.47, 1.51, 15.77, 4.23, 30.2, 290.3),
    "cl": PaperSite(5.54, 3.70, 5.40, 1.15, 4.91, 2.80, 12.4, 2.8),
    "cn": PaperSite(12.80, 7.49, 13.87, 0.43, 1.74, 4.26, 4.2, 8.9),
    "ed": PaperSite(102.71, 10.47, 3.95, 1.00, 3.07, 11.89, 2.5, 7.1),
    "il": PaperSite(990.71, 81.01, 2.53, 13.40, 110.01, 4.26, 3.1, 53.9),
    "in": PaperSite(922.46, 22.98, 1.54, 1.12, 3.06, 66.94, 1.6, 4.2),
    "is": PaperSite(285.55, 168.88, 41.34, 3.13, 21.43, 5.20, 3.5, 11.1),
    "jp": PaperSite(993.87, 328.83, 6.30, 0.80, 4.49, 5.18, 3.5, 17.4),
    "ju": PaperSite(56.61, 14.85, 4.85, 0.48, 1.34, 86.91, 5.4, 10.5),
    "nc": PaperSite(309.97, 84.94, 18.87, 1.10, 11.56, 3.63, 2.0, 8.7),
    "oe": PaperSite(222.58, 45.04, 15.61, 2.31, 23.37, 6.28, 2.5, 9.3),
    "ok": PaperSite(423.12, 12.95, 0.74, 0.04, 0.24, 2.64, 5.5, 13.9),
    "qa": PaperSite(4.36, 2.45, 4.15, 2.97, 19.28, 3.03, 15.4, 18.8),
    "wh": PaperSite(351.86, 55.59, 14.19, 1.26, 11.14, 4.43, 3.0, 22.0),
    "wo": PaperSite(223.67, 23.10, 2.38, 2.80, 27.16, 4.52, 2.1, 43.5),
}


def paper_knobs(name: str, pages: int) -> SiteKnobs:
    """Give knobs like those of a site of the paper, by its two letters, for a site of this many pages.

    A site that is too small for pagination that long is less deep than its model.

    >>> knobs = paper_knobs("be", pages=1000)
    >>> knobs.targets, knobs.target_pages
    (1029, 322)
    """
    if name not in PAPER_SITES:
        raise unknown_name("site of the paper", name, PAPER_SITES)
    site = PAPER_SITES[name]
    return SiteKnobs(
        pages=pages,
        target_share=site.targets_k / site.available_k,
        pages_with_targets=site.pages_with_targets_pct / 100,
        target_depth=min(site.target_depth, max(1.0, pages / 8)),
        reward_spread=site.reward_sd / site.reward_mean,
        target_bytes=round(site.target_mb * 1e6),
        target_bytes_sd=round(site.target_mb_sd * 1e6),
    )
