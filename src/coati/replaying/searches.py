"""Drive a search for repositories over a generated web, and count what it costs and finds.

Every fetched page counts; queries count apart. ACHE and DISCO verify nothing after their first query. It is
unknown then which of their finds are repositories, so each site that they bring is charged what the check of
it would cost, and counts as found if that check would verify it.
"""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from typing import TYPE_CHECKING

from coati.model import EVERY_HOST, Method, Page, Request
from coati.strategies.discovery.actions import DISCOVERY_ACTIONS
from coati.strategies.discovery.site_checks import CheckState
from coati.web.dataset_files import is_dataset_file
from coati.web.urls import is_query, site_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Settlement
    from coati.replaying.searched_web import SearchedWeb
    from coati.strategies.discovery.searcher import Searcher
    from coati.strategies.discovery.settings import DiscoverySettings

# A curve has its points where this part of the budget is spent, in per cent.
CURVE_PERCENT = (5, 10, 20, 40, 60, 80, 100)
QUARTERS = (25, 50, 75, 100)


class Search:
    """One search; `run` it, then look at what it found."""

    def __init__(self, web: SearchedWeb, searcher: Searcher, settings: DiscoverySettings) -> None:
        self._web = web
        self._searcher = searcher
        self._settings = settings
        self._fetched = 0
        self._charged = 0
        self._in_checks = 0
        self._queries = 0
        self._seconds = 0.0
        self._sites = self._verified = 0
        self._found_by: Counter[int] = Counter()
        # Of each page that looked relevant, whether it is one of a repository.
        self._right: list[bool] = []
        self.found: dict[str, int] = {}
        """The repositories, each with how many pages were fetched when it was found."""

    @property
    def pages(self) -> int:
        """How many pages were fetched, with those of checks that were charged."""
        return self._fetched + self._charged

    def run(self, budget: float) -> None:
        """Search until nothing is left or this many pages are fetched."""
        while self.pages < budget and self._step():
            pass

    def run_checks(self, budget: float) -> None:
        """Search until nothing is left or checks took this many pages, which is how the paper counts."""
        while self._in_checks < budget and self._step():
            pass

    def _step(self) -> bool:
        now = float(self._fetched + self._queries)
        begun = time.process_time()
        request = self._searcher.choose(now, EVERY_HOST)
        self._seconds += time.process_time() - begun
        if not isinstance(request, Request):
            return False
        verifies = self._searcher.verifies
        outcome = self._web.respond(request)
        begun = time.process_time()
        settled = self._searcher.observe(request.id, outcome, now + 1)
        self._seconds += time.process_time() - begun
        if is_query(request.url):
            self._queries += 1
        elif isinstance(outcome, Page):
            self._count_page(request, settled, verifies=verifies)
        # A check that shows no new file verifies nothing.
        if not verifies or any(settlement.reward > 0 for settlement in settled):
            self._note_finds(site_of(request.url), verifies=verifies)
        return True

    def _note_finds(self, host: str, *, verifies: bool) -> None:
        _, sites, verified = self._searcher.counts()
        if verified > self._verified:
            self.found[host] = self.pages
        elif sites > self._sites and not verifies:
            self._charge(host)
        self._sites, self._verified = sites, verified

    def _count_page(self, request: Request, settled: Sequence[Settlement], *, verifies: bool) -> None:
        self._fetched += 1
        if request.arm is not None:
            self._found_by[request.arm] += 1
        if request.arm is None and verifies:
            self._in_checks += 1
        elif any(settlement.reward > 0 for settlement in settled):
            self._right.append(self._web.is_repository(site_of(request.url)))

    def _charge(self, host: str) -> None:
        cost, verified = check_of(self._web, host, self._settings)
        self._charged += cost
        self._in_checks += cost
        if verified:
            self.found[host] = self.pages

    @property
    def on_topic(self) -> list[str]:
        """The repositories of the topic, in the order of finding."""
        return [host for host in self.found if self._web.on_topic(host)]

    def values(self, budget: float) -> dict[str, float | None]:
        """Return the measures of the search."""
        on_topic = self.on_topic
        half = len(self._right) // 2
        return {
            "requests": self.pages,
            "targets": len(self.found),
            "repositories": len(self.found),
            "on_topic": len(on_topic),
            "dataset_pages": sum(map(self._web.dataset_pages_of, self.found)),
            "on_topic_dataset_pages": sum(map(self._web.dataset_pages_of, on_topic)),
            "repositories_per_1000_pages": 1000 * len(self.found) / max(1, self.pages),
            "on_topic_per_1000_pages": 1000 * len(on_topic) / max(1, self.pages),
            "repositories_per_1000_check_pages": 1000 * len(self.found) / max(1, self._in_checks),
            "pages_in_checks": self._in_checks,
            "queries": self._queries,
            "precision_first_half": _share(self._right[:half]),
            "precision_last_half": _share(self._right[half:]),
            "choice_ms": 1000 * self._seconds / max(1, self._fetched),
            "cpu_seconds": round(self._seconds, 4),
            **{f"repositories_at_{share}_pct": self._at(budget * share / 100) for share in CURVE_PERCENT},
            **self._specificity(),
            **{f"pages_from_{action.name.lower()}": self._found_by[action] for action in DISCOVERY_ACTIONS},
        }

    def _at(self, pages: float) -> int:
        return sum(at <= pages for at in self.found.values())

    def _specificity(self) -> dict[str, float | None]:
        """Return, of the best quarters of the ranked repositories, the share that is on the topic."""
        findings = self._searcher.findings()
        ranked = [finding.site for finding in findings if finding.state is CheckState.VERIFIED]
        best = {quarter: ranked[: math.ceil(quarter * len(ranked) / 100)] for quarter in QUARTERS}
        return {
            f"specificity_{quarter}_pct": _share([self._web.on_topic(host) for host in hosts])
            for quarter, hosts in best.items()
        }


def check_of(web: SearchedWeb, host: str, settings: DiscoverySettings) -> tuple[int, bool]:
    """Return what the check of a site costs beside the page that was found, and whether it verifies it."""
    first = web.front_page(host)
    waiting, seen, fetched = deque([(first, 0)]), {first}, 0
    files: set[str] = set()
    while waiting and fetched <= settings.check_pages and len(files) < settings.files_to_verify:
        url, depth = waiting.popleft()
        outcome = web.respond(Request(0, Method.GET, url))
        fetched += 1
        if not isinstance(outcome, Page):
            continue
        files.update(filter(is_dataset_file, outcome.links.urls))
        if depth < settings.check_depth:
            inside = [link for link in outcome.links.urls if site_of(link) == host and link not in seen]
            seen.update(inside)
            waiting.extend((link, depth + 1) for link in inside if not is_dataset_file(link))
    return fetched - 1, len(files) >= settings.files_to_verify


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None
