"""Small random histories, and a watch that is driven over them."""

from __future__ import annotations

from random import Random

from coati.budget import Budget
from coati.model import Link
from coati.replaying.clock import SimulatedClock
from coati.replaying.driver import ReplayOptions, replay
from coati.replaying.page_history import PageCapture, PageHistory
from coati.strategies.revisits.scheduler import Scheduler
from coati.strategies.revisits.watch import Watch, WatchSettings
from coati.web.urls import url_hash

HOUR = 3600.0
# A Wednesday, 00:00.
BEGIN = 1_677_628_800.0


class Made:
    """What pages show in each cycle: ``shown[cycle][page]`` are links, None where it fails."""

    def __init__(self, seed: int, sites: int = 3, pages: int = 4, cycles: int = 40) -> None:
        rng = Random(seed)
        self.urls = [f"http://site{site}.test/{page}" for site in range(sites) for page in range(pages)]
        self.site_of = [site for site in range(sites) for _ in range(pages)]
        rates = [rng.choice([0.0, 0.2, 1.0, 3.0]) for _ in self.urls]
        now: list[list[int]] = [[] for _ in self.urls]
        self.shown: list[list[set[int] | None]] = []
        number = 0
        for cycle in range(cycles):
            for page, rate in enumerate(rates):
                busy = rate * (2 if cycle % 24 > 12 else 1)
                for _ in range(int(busy + rng.random())):
                    number += 1
                    for other, site in enumerate(self.site_of):
                        same = site == self.site_of[page]
                        if other == page or (same and rng.random() < 0.6):
                            now[other] = [*now[other], number][-9:]
            self.shown.append([None if rng.random() < 0.03 and cycle else set(links) for links in now])

    def url_of_link(self, page: int, link: int) -> str:
        """Return the address of a link, which is within the site of its page."""
        return f"http://site{self.site_of[page]}.test/news/{link}"

    def history(self) -> PageHistory:
        """Return it as something that answers; a capture per change."""
        captures = {}
        for page, url in enumerate(self.urls):
            found: list[PageCapture] = []
            before: object = self
            for cycle, shown in enumerate(self.shown):
                links = shown[page]
                if links != before:
                    before = links
                    found.append(PageCapture(BEGIN + HOUR * cycle, self._links(page, links)))
            captures[url] = found
        return PageHistory("made", captures)

    def _links(self, page: int, links: set[int] | None) -> list[Link] | None:
        if links is None:
            return None
        return [Link(self.url_of_link(page, link), ("html", "body", "a")) for link in sorted(links)]

    def links(self, page: int, now: float) -> set[int]:
        """Return what a visit finds, as hashes (`coati.strategies.revisits.truth.PageTruth`)."""
        shown = self.shown[round((now - BEGIN) / HOUR)][page]
        return {url_hash(self.url_of_link(page, link)) for link in shown or ()}

    def moments(self) -> tuple[float, ...]:
        """Return when the cycles begin."""
        return tuple(BEGIN + HOUR * cycle for cycle in range(len(self.shown)))

    def watched(self, scheduler: Scheduler, per_cycle: int, per_site: int | None = None) -> list[list[int]]:
        """Return the pages that a watch visits in each cycle after the first look."""
        settings = WatchSettings(per_cycle=per_cycle, per_site=per_site, moments=self.moments())
        watch = Watch(self.urls, scheduler, settings)
        options = ReplayOptions(history=True, out_links=True, clock=SimulatedClock(BEGIN, 0.001))
        run = replay(self.history(), watch, Budget(), options=options)
        asked = [self.urls.index(step.url) for step in run.trace.steps()][len(self.urls) :]
        return [asked[place : place + per_cycle] for place in range(0, len(asked), per_cycle)]
