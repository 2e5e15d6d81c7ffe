"""Prospect: our own search for repositories, made to spend few requests on each one that it verifies.

It differs from DSDD in what the paper leaves on the table:

- **Paid by verification.** An arm is paid for sites that are verified, and charged for every request that its
  finds cost, those of checks included. What looks good and proves to be nothing stops paying.
- **Doubt.** A check goes on only while files turn up: each file buys some more pages. Most sites that fail
  fail after a few pages, not after 200.
- **Files speak.** A page that links to files of data has its site checked, whatever its words are.
- **Best first.** Within a check, links go first whose address has words that led to files on other sites.
- **Contrast.** Terms for queries are those that verified pages have and other analysed pages have not.
- **Small batches**, so that the next choice knows more, and one page per site and batch. A site whose pages
  were refused twice waits; its other pages have their turn when nothing else is left.
- **The API first.** Where a page of the site shows catalogue software (`coati.shortcuts`), its API is the
  first page of the check: one answer that lists enough files of data verifies the site. The home page comes
  next: that is where software shows, and a page that was found deep inside may link to nothing.
- **An end.** After ``patience`` requests in a row without a new repository nothing more is asked for.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from coati.model import Page
from coati.readers.listed import is_api
from coati.strategies.discovery.dsdd import NO_WISHES, Dsdd
from coati.strategies.discovery.site_checks import CheckState, site_of
from coati.strategies.discovery.start_model import NO_MODEL
from coati.strategies.discovery.tasks import Stage, Task
from coati.web.dataset_files import is_dataset_file, tells_format, told_format
from coati.web.page_words import words_in
from coati.web.urls import origin_of, path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coati.model import Hosts, Later, Outcome, Request, Settlement
    from coati.strategies.discovery.analysed_pages import AnalysedPage
    from coati.strategies.discovery.dsdd import UserJudgements
    from coati.strategies.discovery.settings import DiscoverySettings
    from coati.strategies.discovery.site_checks import SiteCheck
    from coati.strategies.discovery.start_model import StartModel
    from coati.strategies.state import State

# Seeds and terms per pull.
_BATCH = 4
# A check looks at this many pages, and at this many more for each file that it found.
_PATIENCE, _PAGES_PER_FILE = 8, 6
# A site whose pages were refused by the classifier this often waits until nothing else is left.
_LOOKS_PER_SITE = 2
# Words of addresses that promise files before anything is learnt, and what that promise counts.
_PROMISING = frozenset(
    {"data", "dataset", "datasets", "download", "downloads", "statistics", "catalog", "catalogue", "open"}
    | {"files", "file", "tables", "table", "resource", "resources", "export", "records", "archive", "series"}
)
_PROMISE = 0.5
# What the home page of a site promises: less than an API, more than most words.
_HOME_PROMISE = 0.75
_CONTRAST_PAGES = 200


class Prospect(Dsdd):
    """DSDD's loop with our own economy."""

    def __init__(
        self,
        start_urls: Sequence[str],
        settings: DiscoverySettings,
        start_model: StartModel = NO_MODEL,
        wishes: UserJudgements = NO_WISHES,
    ) -> None:
        # By word of an address: how many pages with it were fetched in checks, and how many linked to files.
        self._fetched_with: Counter[str] = Counter()
        self._paid_with: Counter[str] = Counter()
        self._looks: Counter[str] = Counter()
        # Pages of sites that were looked at often enough, with the action that found each and its depth.
        self._skipped: dict[str, tuple[int | None, int]] = {}
        self._apis: set[str] = set()
        # Files of the answer that is being read: nobody looks for links in them.
        self._no_pages: set[str] = set()
        self._verified_at = 0
        small = replace(settings, seeds_per_pull=_BATCH, terms_per_pull=_BATCH)
        super().__init__(start_urls, small, start_model, wishes=wishes)

    def _propose(self, url: str, found_by: Task, depth: int = 0) -> bool:
        site = site_of(url)
        if self._looks[site] >= _LOOKS_PER_SITE:
            self._skipped.setdefault(url, (found_by.arm, depth))
            return False
        proposed = super()._propose(url, found_by, depth)
        self._looks[site] += proposed
        return proposed

    def _plan_next(self) -> bool:
        return super()._plan_next() or (not self._crawling and self._propose_skipped())

    def _propose_skipped(self) -> bool:
        """Let one more page of each site be looked at that no real check has met; False: none is left."""
        # The first page of a site is the last of its list.
        of_sites: dict[str, list[str]] = {}
        for url in reversed(self._skipped):
            of_sites.setdefault(site_of(url), []).append(url)
        while self._skipped and not self._queue:
            for site in [site for site, urls in of_sites.items() if urls]:
                url = of_sites[site].pop()
                arm, depth = self._skipped.pop(url)
                check = self._checks.of_site(site)
                # A check that ran out of links proved little.
                if check is None or check.fetched < _PATIENCE:
                    super()._propose(url, Task(url, Stage.CANDIDATE, arm=arm), depth)
        return bool(self._queue)

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Ask as all do, until its patience is at an end.

        What is planned then waits: who resumes the search with more patience goes on with it.
        """
        taught = all(url in self._taught for url, _ in self._wishes.judged)
        return None if taught and self.gave_up_after else super().choose(now, hosts)

    @property
    def gave_up_after(self) -> int:
        """After how many requests without a new repository it ended; 0 where it did not end for that.

        Checks that have begun are finished first.
        """
        patience, since = self._wishes.patience, self._turn - self._verified_at
        ended = patience is not None and since >= patience and not self._queue.count(Stage.CHECK)
        return since if ended else 0

    def _worth(self, page: AnalysedPage) -> float:
        return 0.0

    def _analyse(self, url: str, arm: int, outcome: Page) -> tuple[AnalysedPage, list[str]]:
        page, urls = super()._analyse(url, arm, outcome)
        page.relevant = page.relevant or any(map(is_dataset_file, urls))
        return page, urls

    def _candidate_answered(self, task: Task, request_id: int, outcome: Outcome) -> Sequence[Settlement]:
        self._note_apis(outcome)
        return super()._candidate_answered(task, request_id, outcome)

    def _note_apis(self, outcome: Outcome) -> None:
        """Take note of the addresses of APIs that a page offers; they stand before its other links."""
        if isinstance(outcome, Page):
            links = outcome.links
            offered = takewhile(lambda at: is_api(links.link(at).tag_path), range(len(links.urls)))
            self._apis.update(links.urls[at] for at in offered)

    def _check_answered(self, task: Task, request_id: int, outcome: Outcome) -> Sequence[Settlement]:
        check = self._checks[task.group]
        files = len(check.files)
        self._note_apis(outcome)
        if isinstance(outcome, Page) and task.url in self._apis:
            links = list(map(outcome.links.link, range(len(outcome.links.urls))))
            check.count_files([link.url for link in links if told_format(link.context)])
            self._no_pages = {link.url for link in links if tells_format(link.context)}
        settled = super()._check_answered(task, request_id, outcome)
        # An answer that lists files of both kinds was counted twice.
        check.dataset_pages = min(check.dataset_pages, check.fetched)
        self._no_pages = set()
        self._count(check.arm, 0.0)
        if isinstance(outcome, Page):
            words = _words_of(task.url)
            self._fetched_with.update(words)
            if len(check.files) > files:
                self._paid_with.update(words)
        return settled

    def _look_deeper(self, check: SiteCheck, urls: Iterable[str], depth: int) -> None:
        urls = [url for url in urls if url not in self._no_pages]
        if depth == 0:
            self._want_for_check(check, f"{origin_of(self._pages[check.pages[-1]].url)}/", 0)
        for url in urls:
            # By its name it may look like a file: data.json.
            if url in self._apis and site_of(url) == check.site:
                self._want_for_check(check, url, depth + 1)
        super()._look_deeper(check, urls, depth)

    def _want_for_check(self, check: SiteCheck, url: str, depth: int) -> None:
        if self._want(Task(url, Stage.CHECK, check.number, depth, worth=self._promise(url))):
            check.asked += 1
            check.waiting += 1

    def _promise(self, url: str) -> float:
        """Return how likely a page is to link to files: that of an API surely, others by their best word."""
        if url in self._apis:
            return 1.0
        if not path_of(url).strip("/"):
            return _HOME_PROMISE
        rates = [
            (self._paid_with[word] + _PROMISE * (word in _PROMISING)) / (self._fetched_with[word] + 1)
            for word in _words_of(url)
        ]
        return max(rates, default=0.0)

    def _conclude(self, check: SiteCheck) -> None:
        super()._conclude(check)
        patience = _PATIENCE + _PAGES_PER_FILE * len(check.files)
        if check.state is CheckState.OPEN and check.fetched >= patience:
            self._decide(check, CheckState.REJECTED)

    def _decide(self, check: SiteCheck, state: CheckState) -> None:
        super()._decide(check, state)
        if state is CheckState.VERIFIED:
            self._verified_at = self._turn
        if state is CheckState.VERIFIED and check.arm in self._used_seeds:
            self._rewards[check.arm] = self._rewards.get(check.arm, 0.0) + 1
            self._found.setdefault(check.arm, 0)

    def _rank_seeds(self) -> list[int]:
        """Return the best page of each verified site; where there are none, the most promising pages."""
        seeds: dict[str, int] = {}
        for number in super()._rank_seeds():
            seeds.setdefault(self._pages[number].site, number)
        return list(seeds.values())

    def _terms(self, seeds: Sequence[Mapping[str, int]], without: set[str], most: int) -> list[str]:
        """Return the words that verified pages have and other analysed pages have not."""
        verified = {number for check in self._checks.in_state(CheckState.VERIFIED) for number in check.pages}
        others = [number for number in range(len(self._pages)) if number not in verified][-_CONTRAST_PAGES:]
        here = Counter(word for seed in seeds for word in seed if word not in without)
        there = Counter(word for number in others for word in self._pages[number].words)

        def contrast(word: str) -> float:
            share = (here[word] + 0.5) / (len(seeds) + 1)
            other = (there[word] + 0.5) / (len(others) + 1)
            # A word that one page alone has leads to that page.
            return share * math.log(share / other) if here[word] > 1 or len(seeds) == 1 else -1.0

        ranked = sorted(here, key=lambda word: (-contrast(word), word))
        return [word for word in ranked if contrast(word) > 0][:most]

    def save(self) -> State:
        """Return everything."""
        learnt = [[word, count, self._paid_with[word]] for word, count in sorted(self._fetched_with.items())]
        return {
            **super().save(),
            "address_words": learnt,
            "looks": sorted(self._looks.items()),
            "skipped": [[url, arm, depth] for url, (arm, depth) in self._skipped.items()],
            "apis": sorted(self._apis),
            "verified_at": self._verified_at,
        }

    def load(self, state: State) -> None:
        """Take over a saved state."""
        super().load(state)
        self._fetched_with = Counter({word: count for word, count, _ in state["address_words"]})
        self._paid_with = Counter({word: paid for word, _, paid in state["address_words"] if paid})
        self._looks = Counter(dict(state["looks"]))
        self._skipped = {url: (arm, depth) for url, arm, depth in state["skipped"]}
        self._apis = set(state["apis"])
        self._verified_at = state["verified_at"]


def _words_of(url: str) -> list[str]:
    return words_in(path_of(url))
