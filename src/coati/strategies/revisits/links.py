"""What a watch knows of links: which ones count, of which site they are, and when each was found.

Only links within the site of a page count, and only relevant ones. A link is judged when it is first seen,
wherever that is, because a log keeps the URL and the texts of a link only then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coati.web.urls import host_of, url_hash, without_www

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from coati.model import Link, PageLinks
    from coati.strategies.state import State

    Relevant = Callable[[Link], bool]

_DOES_NOT_COUNT = -1


class Sites:
    """Numbers the sites of watched pages; a subdomain belongs to the site above it that is watched.

    >>> sites = Sites(["http://www.example.org/", "http://news.example.org/a", "http://example.org/"])
    >>> [sites.of(url) for url in ("http://example.org/x", "http://news.example.org/y", "http://other.org/")]
    [0, 0, -1]
    """

    def __init__(self, urls: Iterable[str] = ()) -> None:
        self._numbers: dict[str, int] = {}
        self._sites = 0
        # Shorter names first: they are above the others.
        for host in sorted(
            {without_www(host_of(url)) for url in urls}, key=lambda host: (host.count("."), host)
        ):
            self._add(host)

    def __len__(self) -> int:
        """Count the sites."""
        return self._sites

    def add(self, url: str) -> int:
        """Return the number of the site of a watched page, which may be a new one."""
        number = self.of(url)
        return self._add(without_www(host_of(url))) if number < 0 else number

    def _add(self, host: str) -> int:
        number = self._find(host)
        if number < 0:
            number = self._sites
            self._sites += 1
        self._numbers[host] = number
        return number

    def of(self, url: str) -> int:
        """Return the number of a URL's site; -1 if no page of it is watched."""
        return self._find(without_www(host_of(url)))

    def _find(self, host: str) -> int:
        while host:
            number = self._numbers.get(host)
            if number is not None:
                return number
            host = host.partition(".")[2]
        return -1

    def save(self) -> list[list[Any]]:
        """Return the hosts and their numbers."""
        return [[host, number] for host, number in self._numbers.items()]

    def load(self, saved: Iterable[tuple[str, int]]) -> None:
        self._numbers = dict(saved)
        self._sites = 1 + max(self._numbers.values(), default=-1)


class FoundLinks:
    """The links that were seen, by hash.

    ``relevant`` judges a link by its URL and texts; without it every link within a site counts.
    """

    def __init__(self, sites: Sites, relevant: Relevant | None) -> None:
        self._sites = sites
        self._relevant = relevant
        self._skips: Callable[[str], bool] = lambda _: False
        # The site of each link that was seen; -1 for one that does not count.
        self._site_of: dict[int, int] = {}
        self._found_in: dict[int, int] = {}

    def exclude(self, skips: Callable[[str], bool]) -> None:
        """From now on do not count links that this predicate rejects: following them would bring nothing."""
        self._skips = skips

    def ignore(self, url: str) -> None:
        """Never count a link: that of a watched page is not new."""
        self._site_of[url_hash(url)] = _DOES_NOT_COUNT

    def add(self, links: PageLinks, out_links: Sequence[int]) -> list[tuple[int, str]]:
        """Judge the links that are not known yet, and return those that count, with their URLs."""
        unknown = {key for key in out_links if key not in self._site_of}
        if not unknown:
            return []
        counting = []
        for place, url in enumerate(links.urls):
            key = url_hash(url)
            if key in unknown:
                unknown.discard(key)
                self._site_of[key] = self._judge(url, links, place)
                if self._site_of[key] >= 0:
                    counting.append((key, url))
        # What the rules keep the crawl from following (traps) is not new either.
        self._site_of.update(dict.fromkeys(unknown, _DOES_NOT_COUNT))
        return counting

    def _judge(self, url: str, links: PageLinks, place: int) -> int:
        site = self._sites.of(url)
        if site >= 0 and self._skips(url):
            return _DOES_NOT_COUNT
        if site >= 0 and self._relevant is not None and not self._relevant(links.link(place)):
            return _DOES_NOT_COUNT
        return site

    def __contains__(self, key: int) -> bool:
        """Tell whether a link is known."""
        return key in self._site_of

    def add_unwatched(self, out_links: Iterable[int]) -> None:
        """Note the links of a page that is not watched: they are not new later."""
        for key in out_links:
            self._site_of.setdefault(key, _DOES_NOT_COUNT)

    def counting(self, site: int, out_links: Sequence[int]) -> list[int]:
        """Return those of some links that count on a page of this site."""
        site_of = self._site_of
        return [key for key in out_links if site_of.get(key) == site]

    def find(self, keys: Iterable[int], cycle: int) -> list[int]:
        """Note that links stood on a page in a cycle; return those that no earlier cycle knew.

        What another page showed in the same cycle is new here as well: O^t(s) does not depend on an order.
        """
        found_in = self._found_in
        return [key for key in keys if found_in.setdefault(key, cycle) == cycle]

    def found(self) -> dict[int, int]:
        """Return the cycle in which each link was found; those of first looks have negative ones."""
        return self._found_in

    def save(self) -> dict[str, Any]:
        return {
            "link_keys": np.array(list(self._site_of), np.uint64),
            "link_sites": np.array(list(self._site_of.values()), np.int32),
            "found_keys": np.array(list(self._found_in), np.uint64),
            "found_cycles": np.array(list(self._found_in.values()), np.int64),
        }

    def load(self, state: State) -> None:
        self._site_of = dict(zip(state["link_keys"].tolist(), state["link_sites"].tolist(), strict=True))
        self._found_in = dict(zip(state["found_keys"].tolist(), state["found_cycles"].tolist(), strict=True))
