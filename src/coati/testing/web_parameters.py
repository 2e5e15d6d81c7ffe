"""What a generated web of many hosts should be like: the data of the CIKM 2014 paper, in any size.

Hosts, pages, the shares of relevant pages and what two crawls that learn nothing reach on them are the
paper's. Shares of syntaxes and the numbers of statements are those of a sample of 2,276 real pages. Four
numbers were fitted (`FITTED`), to the two shares of relevant pages and to Random and BFS of the paper's
Table 2, and to nothing else: no learner's result has a say in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from coati.errors import ConfigError

PAPER_HOSTS = 456_000
PAPER_PAGES = 5_500_000

_LEAST_HOSTS = 10


@dataclass(frozen=True, slots=True)
class FittedShares:
    """Shares of hosts that are rich, by size, who links to whom, and Microdata's share of rich hosts."""

    # Rich among hosts with one page, and among very large ones: large hosts are rich more often.
    small_rich: float = 0.0
    large_rich: float = 0.41
    # Links to other hosts that lead to the home page of any host; the others lead to any page of the web.
    home_links: float = 0.2
    # Rich hosts with Microdata.
    microdata: float = 0.13


FITTED = FittedShares()


@dataclass(frozen=True, slots=True)
class WebParameters:
    """The shape of a generated web.

    >>> WebParameters.at_scale(0.1).hosts
    45600
    """

    hosts: int
    pages: int
    start_hosts: int
    fitted: FittedShares = FITTED

    @classmethod
    def at_scale(cls, scale: float, fitted: FittedShares = FITTED) -> WebParameters:
        """Return the paper's web, this many times as large; its largest host has a hundredth of the pages."""
        hosts = round(PAPER_HOSTS * scale)
        if not 0 < scale <= 1 or hosts < _LEAST_HOSTS:
            raise ConfigError(f"the scale is {scale}, and should be from 0.0001 to 1")
        return cls(hosts, round(PAPER_PAGES * scale), max(2, round(1000 * scale)), fitted)
