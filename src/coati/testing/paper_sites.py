"""Parameters for sites like the 18 of the EDBT 2026 paper, in any size.

A generated site shares the figures of Table 1 with its model: the share of targets, the pages that have any,
how deep they lie and how large they are. Two more parameters are fitted so that crawlers that learn nothing
(the rows BFS, DFS and RANDOM of Table 2) need about as many requests as the paper says;
`benchmarks.generator_fit` finds them. No learner's result has a say in it. A site shares nothing else with
its model, so results on it say how a strategy copes with such a shape, not what it would do on the real site.
"""

from __future__ import annotations

from typing import NamedTuple

from coati.errors import unknown_name
from coati.testing.site_parameters import SiteParameters


class PaperSite(NamedTuple):
    """A row of Table 1: thousands of URLs, per cent, megabytes, links; then what was fitted."""

    available_k: float
    targets_k: float
    pages_with_targets_pct: float
    target_mb: float
    target_mb_sd: float
    target_depth: float
    barren_depth: float = 0.0
    rich_last: float = 0.0


PAPER_SITES = {
    "ab": PaperSite(952.26, 263.26, 8.86, 4.50, 56.04, 8.94, -0.6, 0.0),
    "as": PaperSite(949.42, 155.94, 4.34, 0.54, 6.38, 5.84, -0.6, -0.25),
    "be": PaperSite(31.23, 15.84, 32.19, 2.03, 6.99, 5.73, 0.0, 1.0),
    "ce": PaperSite(988.37, 257.68, 3.47, 1.51, 15.77, 4.23, 0.5, 0.0),
    "cl": PaperSite(5.54, 3.70, 5.40, 1.15, 4.91, 2.80, 0.2, 0.25),
    "cn": PaperSite(12.80, 7.49, 13.87, 0.43, 1.74, 4.26, 0.2, 0.0),
    "ed": PaperSite(102.71, 10.47, 3.95, 1.00, 3.07, 11.89, -0.4, 0.0),
    "il": PaperSite(990.71, 81.01, 2.53, 13.40, 110.01, 4.26, 0.7, -0.25),
    "in": PaperSite(922.46, 22.98, 1.54, 1.12, 3.06, 66.94, -0.6, 0.0),
    "is": PaperSite(285.55, 168.88, 41.34, 3.13, 21.43, 5.20, 0.0, 0.0),
    "jp": PaperSite(993.87, 328.83, 6.30, 0.80, 4.49, 5.18, 0.7, -0.25),
    "ju": PaperSite(56.61, 14.85, 4.85, 0.48, 1.34, 86.91, 0.0, 0.0),
    "nc": PaperSite(309.97, 84.94, 18.87, 1.10, 11.56, 3.63, 0.0, 0.0),
    "oe": PaperSite(222.58, 45.04, 15.61, 2.31, 23.37, 6.28, -0.4, 0.0),
    "ok": PaperSite(423.12, 12.95, 0.74, 0.04, 0.24, 2.64, 0.3, 0.0),
    "qa": PaperSite(4.36, 2.45, 4.15, 2.97, 19.28, 3.03, 0.5, 0.0),
    "wh": PaperSite(351.86, 55.59, 14.19, 1.26, 11.14, 4.43, 0.3, -0.25),
    "wo": PaperSite(223.67, 23.10, 2.38, 2.80, 27.16, 4.52, -0.2, -0.25),
}


def paper_site_parameters(name: str, pages: int) -> SiteParameters:
    """Return parameters like those of a site of the paper, by its two letters, for a site of this many pages.

    A site that is too small for pagination that long is less deep than its model.

    >>> parameters = paper_site_parameters("be", pages=1000)
    >>> parameters.targets, parameters.target_pages
    (1029, 322)
    """
    if name not in PAPER_SITES:
        raise unknown_name("site of the paper", name, PAPER_SITES)
    site = PAPER_SITES[name]
    room = pages * (1 - abs(site.barren_depth))
    return SiteParameters(
        pages=pages,
        target_share=site.targets_k / site.available_k,
        pages_with_targets=site.pages_with_targets_pct / 100,
        target_depth=min(site.target_depth, max(1.0, room / 8)),
        barren_depth=site.barren_depth,
        rich_last=site.rich_last,
        target_bytes=round(site.target_mb * 1e6),
        target_bytes_sd=round(site.target_mb_sd * 1e6),
    )
