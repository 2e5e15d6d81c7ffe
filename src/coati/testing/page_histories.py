"""Generated histories of pages: links come by day and week and in bursts, stand on several pages, and leave.

The defaults have the sizes of the third domain of the WSDM 2018 paper. Three of them were fitted to what it
prints of RR (.391) and OD-WIN (.473) with 50 pages per cycle, and to nothing else: `life_hours`,
`page_concentration` and `site_spread`. With seed 1 they give .404 and .483.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coati.model import Link
from coati.replaying.page_history import PageCapture, PageHistory

if TYPE_CHECKING:
    import numpy.typing as npt

_HOUR_SECONDS = 3600.0
_DAY, _WEEK = 24, 168
_TAG_PATH = ("html", "body", "main", "a")


@dataclass(frozen=True, slots=True)
class HistoryParameters:
    """What a history is like.

    Of ``links_per_hour`` new links on all sites, a site gets a share that is log-normal with ``site_spread``.
    The pages of a site are drawn with weights that fall as a power of their place (``page_concentration``); a
    link stands on one of them and on as many more as ``copies`` says on average, on each for ``life_hours``
    on average. ``daily_swing`` is how far the hours of a day differ from their mean, ``weekend`` how busy a
    weekend is beside a working day. A ``burst_share`` of the links comes in bursts of a few hours.
    """

    sites: int = 96
    pages: int = 3480
    cycles: int = 632
    links_per_hour: float = 30.0
    site_spread: float = 1.0
    page_concentration: float = 0.8
    copies: float = 0.8
    life_hours: float = 22.0
    daily_swing: float = 0.6
    weekend: float = 0.6
    burst_share: float = 0.15
    begin: float = 1_388_966_400.0  # Monday, 2014-01-06 00:00 UTC


def generate_history(parameters: HistoryParameters, seed: int) -> PageHistory:
    """Make a history, the same for the same parameters and seed; one capture per page and change."""
    rng = np.random.default_rng(seed)
    site_of_page = np.sort(np.concatenate([np.arange(parameters.sites), _extra_pages(parameters, rng)]))
    pages_of_site = np.split(np.arange(parameters.pages), np.flatnonzero(np.diff(site_of_page)) + 1)
    weight = rng.lognormal(0.0, parameters.site_spread, parameters.sites)
    born = _born(parameters, weight / weight.sum(), rng)
    came: list[dict[int, list[tuple[int, int]]]] = [{} for _ in range(parameters.pages)]
    for link, (cycle, site) in enumerate(born):
        pages = pages_of_site[site]
        popular = 1.0 / np.arange(1, len(pages) + 1) ** parameters.page_concentration
        count = min(1 + rng.poisson(parameters.copies), len(pages))
        for page in rng.choice(pages, count, replace=False, p=popular / popular.sum()).tolist():
            last = cycle + 1 + int(rng.exponential(parameters.life_hours))
            came[page].setdefault(cycle, []).append((link, last))
    urls = [f"http://site-{site}.test/page-{page}" for page, site in enumerate(site_of_page.tolist())]
    names = [f"http://site-{site}.test/{link}" for link, (_, site) in enumerate(born)]
    captures = {url: _captures(came[page], names, parameters) for page, url in enumerate(urls)}
    return PageHistory("generated", captures)


def _extra_pages(parameters: HistoryParameters, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Give each page beyond the first of each site to a site; large sites have more."""
    size = rng.lognormal(0.0, 1.0, parameters.sites)
    return rng.choice(parameters.sites, parameters.pages - parameters.sites, p=size / size.sum())


def _born(
    parameters: HistoryParameters, share: npt.NDArray[np.float64], rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Return the cycle and the site of each link, in the order of time."""
    hours = np.arange(parameters.cycles)
    # Busy in the early afternoon, quiet in the small hours.
    busy = 1 + parameters.daily_swing * np.cos(2 * np.pi * (hours % _DAY - 14) / _DAY)
    busy *= np.where(hours % _WEEK >= 5 * _DAY, parameters.weekend, 1.0)
    steady = np.outer(busy / busy.mean(), share) * parameters.links_per_hour * (1 - parameters.burst_share)
    counts = rng.poisson(steady)
    left = rng.poisson(parameters.links_per_hour * parameters.burst_share * parameters.cycles)
    while left > 0:
        size = min(int(rng.integers(5, 30)), left)
        site, start = rng.choice(parameters.sites, p=share), int(rng.integers(1, parameters.cycles))
        hours_of_burst = np.minimum(start + rng.integers(0, 6, size), parameters.cycles - 1)
        counts[:, site] += np.bincount(hours_of_burst, minlength=parameters.cycles)
        left -= size
    return [(cycle, site) for cycle, site in np.argwhere(counts).tolist() for _ in range(counts[cycle, site])]


def _captures(
    came: dict[int, list[tuple[int, int]]], names: list[str], parameters: HistoryParameters
) -> list[PageCapture]:
    """Follow a page from change to change."""
    changes = {0, *came, *(last for links in came.values() for _, last in links)}
    there: dict[int, int] = {}
    captures = []
    for cycle in sorted(cycle for cycle in changes if cycle < parameters.cycles):
        there = {link: last for link, last in there.items() if last > cycle} | dict(came.get(cycle, ()))
        links = [Link(names[link], _TAG_PATH) for link in sorted(there)]
        captures.append(PageCapture(parameters.begin + _HOUR_SECONDS * cycle, links))
    return captures
