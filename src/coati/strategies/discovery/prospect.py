"""Prospect: our own search for repositories, made to spend few requests on each one that it verifies.

It differs from DSDD in these points:

- **Paid by verification.** An arm is paid for sites that are verified, and charged for every request that its
  finds cost, those of checks included. What looks good and proves to be nothing stops paying.
- **Doubt.** A check continues only while files turn up: each file buys some more pages. Most sites that fail
  fail after a few pages, not after 200.
- **Files speak.** A page that links to files of data has its site checked, whatever its words are.
- **Best first.** Within a check, links go first whose URL has words that led to files on other sites.
- **The topic.** What a verified site pays depends on how much it speaks of the topic
  (`coati.strategies.discovery.topic`), and one that does not has its check put off. To check some of these is
  an arm as well, which is pulled when the others bring too little. So are checks of pages on the topic that
  the classifier did not think much of. Sites on the topic stand first in the results.
- **Contrast.** Terms for queries are those that pages on the topic have and other pages have not.
- **Small batches**, so that the next choice knows more, and one page per site and batch. A site whose pages
  were refused twice waits; its other pages have their turn when a pull finds no new page.
- **The API first.** Where a page of the site shows catalogue software (`coati.shortcuts`), its API is the
  first page of the check: one answer that lists enough files of data verifies the site. The home page comes
  next: that is where software shows, and a page that was found deep inside may link to nothing.
- **An end.** After ``patience`` requests in a row without a new repository nothing more is requested.
"""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import replace
from heapq import nlargest
from itertools import islice, takewhile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coati.bandits.batched_ucb import BatchedUcb
from coati.learners.sigmoid import sigmoid
from coati.model import Page, Redirect
from coati.readers.listed import is_api
from coati.strategies.discovery.actions import DISCOVERY_ACTIONS, Action
from coati.strategies.discovery.dsdd import Dsdd
from coati.strategies.discovery.prospect_settings import OUR_PROSPECT, OffTopic
from coati.strategies.discovery.settings import NO_WISHES, DsddVariant
from coati.strategies.discovery.site_checks import CheckState
from coati.strategies.discovery.start_model import NO_MODEL
from coati.strategies.discovery.tasks import Stage, Task
from coati.strategies.discovery.topic import ON_TOPIC
from coati.web.dataset_files import is_dataset_file, named_format, names_format
from coati.web.page_words import words_in
from coati.web.urls import origin_of, path_of, site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coati.model import Hosts, Later, Outcome, Request, Settlement
    from coati.strategies.discovery.analysed_pages import AnalysedPage
    from coati.strategies.discovery.findings import Finding
    from coati.strategies.discovery.prospect_settings import ProspectSettings
    from coati.strategies.discovery.settings import DiscoverySettings, UserJudgements
    from coati.strategies.discovery.site_checks import SiteCheck
    from coati.strategies.discovery.start_model import StartModel
    from coati.strategies.state import State

# Seeds and terms per pull.
_BATCH = 4
# A check looks at this many pages, and at this many more for each file that it found.
_PATIENCE, _PAGES_PER_FILE = 8, 6
# A site whose pages were refused by the classifier this often waits until a pull finds nothing.
_LOOKS_PER_SITE = 2
# Words of URLs that promise files before anything is learnt, and what that promise counts.
_PROMISING = frozenset(
    {"data", "dataset", "datasets", "download", "downloads", "statistics", "catalog", "catalogue", "open"}
    | {"files", "file", "tables", "table", "resource", "resources", "export", "records", "archive", "series"}
)
_PROMISE = 0.5
# What the home page of a site promises: less than an API, more than most words.
_HOME_PROMISE = 0.75
# What a site without a word of the topic is worth, and how much of a page's score links to it can give.
_OFF_TOPIC_WORTH = 0.2
_LINK_TOPIC_WEIGHT = 0.6
# Terms are given up, until the topic tells others, when they found no page in this many pulls in a row.
_DRY_PULLS = 3
# A page on the topic is checked later that the classifier refused by no more than this.
_DOUBTED_MARGIN = -1.0


class PostponedPage(NamedTuple):
    """A page whose site is checked later: its number, and what is needed of its links, packed."""

    number: int
    links: bytes


class Prospect(Dsdd):
    """DSDD's loop with our own rewards and costs.

    After ``patience`` requests in a row without a new repository it ends; None: never. As with ``wishes``,
    a user may say so each time that a search is resumed.
    """

    def __init__(
        self,
        start_urls: Sequence[str],
        settings: DiscoverySettings,
        start_model: StartModel = NO_MODEL,
        wishes: UserJudgements = NO_WISHES,
        *,
        prospect: ProspectSettings = OUR_PROSPECT,
        patience: int | None = None,
    ) -> None:
        self._off_topic = prospect.off_topic
        self._patience = patience
        # By word of a URL: how many pages with it were fetched in checks, and how many linked to files.
        self._fetched_with: Counter[str] = Counter()
        self._paid_with: Counter[str] = Counter()
        self._looks: Counter[str] = Counter()
        # Pages of sites that were looked at often enough, with the action that found each and its depth.
        self._skipped: dict[str, tuple[int | None, int]] = {}
        self._apis: set[str] = set()
        # Files of the answer that is being read: they are not read for links.
        self._no_pages: set[str] = set()
        self._verified_at = 0
        # The action that was pulled last, the pages before it, the pulls of keywords in a row that found no
        # page, and the version of the topic whose terms were given up for that.
        self._pulled, self._pages_before, self._dry_pulls, self._terms_ended = -1, 0, 0, -1.0
        # By site; of those that were checked in the end, only the name is kept.
        self._put_off: dict[str, list[PostponedPage]] = {}
        self._checked_late: set[str] = set()
        # How much the links to a page say of the topic, where they say anything.
        self._link_topics: dict[str, float] = {}
        # By page, how much it speaks of the topic, and the version of the topic that says so.
        self._topics: dict[int, tuple[float, float]] = {}
        small = replace(settings, seeds_per_pull=_BATCH, terms_per_pull=_BATCH)
        variant = DsddVariant((*DISCOVERY_ACTIONS, Action.PUT_OFF))
        super().__init__(start_urls, small, start_model, variant, wishes)
        self._possible |= {Action.PUT_OFF}
        self._policy = BatchedUcb(rare=True)

    def _propose(self, url: str, found_by: Task, depth: int = 0) -> bool:
        site = site_of(url)
        if self._looks[site] >= _LOOKS_PER_SITE:
            self._skipped.setdefault(url, (found_by.arm, depth))
            return False
        proposed = super()._propose(url, found_by, depth)
        self._looks[site] += proposed
        return proposed

    def _plan_next(self) -> bool:
        dry, self._pages_before = len(self._pages) == self._pages_before, len(self._pages)
        if self._pulled == Action.KEYWORDS:
            self._dry_pulls = self._dry_pulls + 1 if dry else 0
            if self._dry_pulls == _DRY_PULLS:
                self._dry_pulls, self._terms_ended = 0, self._topic.version
        self._pulled = -1
        if dry and not self._crawling and self._propose_skipped():
            return True
        return super()._plan_next() or (not self._crawling and self._propose_skipped())

    def _propose_skipped(self) -> bool:
        """Propose one more page of each site that no real check has seen; return False if none is left."""
        # The first page of a site is the last of its list.
        of_sites: dict[str, list[str]] = {}
        for url in reversed(self._skipped):
            of_sites.setdefault(site_of(url), []).append(url)
        while self._skipped and not self._queue:
            for site in [site for site, urls in of_sites.items() if urls]:
                url = of_sites[site].pop()
                arm, depth = self._skipped.pop(url)
                if self._undecided(site):
                    super()._propose(url, Task(url, Stage.CANDIDATE, arm=arm), depth)
        return bool(self._queue)

    def _undecided(self, site: str) -> bool:
        """Tell whether no real check has seen a site: one that ran out of links proved little."""
        check = self._checks.of_site(site)
        return check is None or (_pages_checked(check) < _PATIENCE and check.state is CheckState.REJECTED)

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Choose as in the base class, until the patience is at an end.

        What is planned then waits, and is requested if the search is resumed with more patience.
        """
        taught = all(url in self._taught for url, _ in self._wishes.judged)
        return None if taught and self.gave_up_after else super().choose(now, hosts)

    @property
    def gave_up_after(self) -> int:
        """After how many requests without a new repository it gave up; 0 where it did not give up.

        Checks that have begun are finished first.
        """
        patience, since = self._patience, self._turn - self._verified_at
        ended = patience is not None and since >= patience and not self._queue.count(Stage.CHECK)
        return since if ended else 0

    def _query_answered(self, task: Task, outcome: Outcome) -> Sequence[Settlement]:
        self._count(task.arm or 0, 0.0)
        if isinstance(outcome, Page):
            self._note_link_topics(outcome)
        return super()._query_answered(task, outcome)

    def _worth(self, page: AnalysedPage) -> float:
        return 0.0

    def _analyse(self, url: str, arm: int, outcome: Page) -> tuple[AnalysedPage, list[str]]:
        self._note_link_topics(outcome, site_of(url))
        page, urls = super()._analyse(url, arm, outcome)
        page.relevant = page.relevant or any(map(is_dataset_file, urls))
        return page, urls

    def _candidate_answered(self, task: Task, request_id: int, outcome: Outcome) -> Sequence[Settlement]:
        self._note_apis(outcome)
        if isinstance(outcome, Redirect) and task.worth > self._link_topic(outcome.location):
            self._link_topics[outcome.location] = task.worth
        return super()._candidate_answered(task, request_id, outcome)

    def _note_apis(self, outcome: Outcome) -> None:
        """Note the URLs of APIs that a page offers; they come before its other links."""
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
            check.count_files([link.url for link in links if named_format(link.context)])
            self._no_pages = {link.url for link in links if names_format(link.context)}
        settled = super()._check_answered(task, request_id, outcome)
        # An answer that lists files of both kinds was counted twice.
        check.dataset_pages = min(check.dataset_pages, check.fetched)
        self._no_pages = set()
        self._count(self._paying_arm(check), 0.0)
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
            check.requested += 1
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
        if check.state is CheckState.OPEN and _pages_checked(check) >= patience:
            self._decide(check, CheckState.REJECTED)

    def _decide(self, check: SiteCheck, state: CheckState) -> None:
        super()._decide(check, state)
        if state is CheckState.VERIFIED:
            self._verified_at = self._turn
            self._put_off.pop(check.site, None)
        arm = self._paying_arm(check)
        if state is not CheckState.VERIFIED or check.by_user or arm in (Action.ACCEPTED, Action.REJECTED):
            return
        topic = max(map(self._topic_of, check.pages), default=0.0)
        self._rewards[arm] = self._rewards.get(arm, 0.0) + self._worth_of(topic)
        self._found.setdefault(arm, 0)
        page = self._pages[check.pages[0]]
        if not (page.relevant and arm == Action.PUT_OFF):
            # The others were learnt from when they were put off.
            self._topic.learn(page.words)

    def _rank_seeds(self) -> list[int]:
        """Return the best page of each verified site, those on the topic first.

        Where there are none, the most promising pages, one per site.
        """
        verified = self._checks.in_state(CheckState.VERIFIED)
        best = [max(check.pages, key=self._topic_of) for check in verified if check.pages]
        if best:
            return sorted(best, key=lambda number: -self._topic_of(number))
        seeds: dict[str, int] = {}
        for number in super()._rank_seeds():
            seeds.setdefault(self._pages[number].site, number)
        return list(seeds.values())

    def _next_terms(self, most: int) -> list[str]:
        """Return terms for keyword queries that were not used: those that mark the topic, best first."""
        terms = (term for term in self._topic.terms if term not in self._used_terms)
        found = list(islice(terms, most))
        return found if found or self._used_terms else [self._settings.data_words[0]]

    # The topic

    def _link_topic(self, url: str) -> float:
        return self._link_topics.get(url, 0.0)

    def _note_link_topics(self, outcome: Page, own_site: str = "") -> None:
        """Note what the links of a page to other sites say of the topic.

        The first link to a URL counts: a log has no others.
        """
        for place, url in enumerate(outcome.links.urls):
            if url in self._known or url in self._link_topics or site_of(url) == own_site:
                continue
            link = outcome.links.link(place)
            share = self._topic.share(words_in(f"{link.anchor} {link.context}"))
            if share:
                self._link_topics[url] = _LINK_TOPIC_WEIGHT * share

    def _topic_of(self, number: int) -> float:
        page = self._pages[number]
        version, score = self._topics.get(number, (-1.0, 0.0))
        if version != self._topic.version:
            score = self._topic.score(page.words)
            self._topics[number] = (self._topic.version, score)
        return max(score, self._link_topics.get(page.url, 0.0))

    def _worth_of(self, topic: float) -> float:
        """Return the worth of a site that speaks this much of the topic."""
        if self._off_topic is OffTopic.EQUAL:
            return 1.0
        return _OFF_TOPIC_WORTH + (1 - _OFF_TOPIC_WORTH) * topic

    def _order(self, finding: Finding) -> tuple[float, ...]:
        return (-round(finding.topic, 2), -finding.score)

    def _looked_at(self, number: int, page: AnalysedPage, urls: list[str]) -> None:
        """Check the site of a page on the topic, and put off what promises less."""
        check = self._checks.of_site(page.site)
        known = check is not None and (check.by_user or check.state is CheckState.VERIFIED)
        topic = self._topic_of(number)
        on_topic = topic >= ON_TOPIC
        # What verifies its site by itself costs nothing.
        whole = len(set(filter(is_dataset_file, urls))) >= self._settings.files_to_verify
        wanted = on_topic or whole or self._off_topic is OffTopic.EQUAL
        if known or (page.relevant and wanted):
            super()._looked_at(number, page, urls)
            self._check_put_off(page.site)
            return
        if page.relevant:
            self._topic.learn(page.words)
        doubted = on_topic and page.margin > _DOUBTED_MARGIN
        later = page.relevant and self._off_topic is OffTopic.LATER
        if self._undecided(page.site) and (doubted or later):
            inside = [url for url in urls if site_of(url) == page.site or is_dataset_file(url)]
            links = "\n".join(inside[: self._settings.check_pages])
            put_off = PostponedPage(number, zlib.compress(links.encode(), level=1))
            self._put_off.setdefault(page.site, []).append(put_off)

    def _check_put_off(self, site: str) -> None:
        """Check a site by the pages of it that were put off."""
        for number, links in self._put_off.pop(site, ()):
            self._check_site(number, self._pages[number], zlib.decompress(links).decode().splitlines())

    def _has_work(self, action: Action) -> bool:
        if action is Action.PUT_OFF:
            return bool(self._put_off)
        if action is Action.KEYWORDS and self._terms_ended == self._topic.version:
            return False
        return super()._has_work(action)

    def _pull(self, action: Action, score: float | None) -> None:
        self._pulled = int(action)
        if action is not Action.PUT_OFF:
            super()._pull(action, score)
            return
        self._note_pull(action)
        for site in nlargest(_BATCH, self._put_off, key=self._promise_of_site):
            self._checked_late.add(site)
            self._check_put_off(site)

    def _promise_of_site(self, site: str) -> float:
        return max(
            self._worth_of(self._topic_of(number)) * sigmoid(2 * self._pages[number].margin)
            for number, _ in self._put_off[site]
        )

    def _paying_arm(self, check: SiteCheck) -> int:
        """Return the arm that a check is charged to, and that is paid for its result."""
        return int(Action.PUT_OFF) if check.site in self._checked_late else check.arm

    def save(self) -> State:
        learnt = [[word, count, self._paid_with[word]] for word, count in sorted(self._fetched_with.items())]
        put_off = [(site, page) for site, pages in self._put_off.items() for page in pages]
        return {
            **super().save(),
            "address_words": learnt,
            "looks": sorted(self._looks.items()),
            "skipped": [[url, arm, depth] for url, (arm, depth) in self._skipped.items()],
            "apis": sorted(self._apis),
            "verified_at": self._verified_at,
            "pulls": [self._pulled, self._pages_before, self._dry_pulls, self._terms_ended],
            "topic": self._topic.save(),
            "told": list(self._link_topics.items()),
            "checked_late": sorted(self._checked_late),
            "put_off": [[site, page.number] for site, page in put_off],
            "put_off_links": b"".join(page.links for _, page in put_off),
            "put_off_sizes": np.array([len(page.links) for _, page in put_off], np.uint32),
        }

    def load(self, state: State) -> None:
        super().load(state)
        self._fetched_with = Counter({word: count for word, count, _ in state["address_words"]})
        self._paid_with = Counter({word: paid for word, _, paid in state["address_words"] if paid})
        self._looks = Counter(dict(state["looks"]))
        self._skipped = {url: (arm, depth) for url, arm, depth in state["skipped"]}
        self._apis = set(state["apis"])
        self._verified_at = state["verified_at"]
        self._pulled, self._pages_before, self._dry_pulls, self._terms_ended = state["pulls"]
        self._topic.load(state["topic"])
        self._topics = {}
        self._link_topics = dict(state["told"])
        self._checked_late = set(state["checked_late"])
        self._put_off = {}
        at = 0
        for (site, number), size in zip(state["put_off"], state["put_off_sizes"].tolist(), strict=True):
            put_off = PostponedPage(number, state["put_off_links"][at : at + size])
            self._put_off.setdefault(site, []).append(put_off)
            at += size


def _pages_checked(check: SiteCheck) -> int:
    """Count the pages that a check looked at; all pages that were found before it count as one."""
    return check.fetched - len(check.pages) + 1


def _words_of(url: str) -> list[str]:
    return words_in(path_of(url))
