"""DSDD: discovery of domain-specific data repositories (CIKM 2021), with what the paper leaves open decided.

One iteration pulls an arm: an action (`coati.strategies.discovery.actions`) finds pages, starting from
verified repositories. Each page is fetched and classified. A page that looks like one of a repository has its
site checked (`coati.strategies.discovery.site_checks`). Then the arm gets its reward, the classifier is
trained again with what the checks found out, and verified pages are ranked for the next iteration.

An iteration does not wait for what was deferred by an outage: that counts when it comes. Decision 34 has the
open points of the paper and what we chose.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coati.bandits.batched_ucb import BatchedUcb
from coati.learners.bm25 import bm25
from coati.model import Failure, Page, Redirect, Request, Settlement, Target
from coati.strategies.discovery.actions import (
    DISCOVERY_ACTIONS,
    Action,
    backlinks_query,
    first_query,
    frequent_terms,
    keyword_query,
    possible_actions,
    ranking_query,
    related_query,
)
from coati.strategies.discovery.analysed_pages import AnalysedPage, AnalysedPages
from coati.strategies.discovery.findings import Finding
from coati.strategies.discovery.page_classifier import PageClassifier
from coati.strategies.discovery.settings import BD_OL, NO_WISHES
from coati.strategies.discovery.site_checks import CheckState, SiteChecks
from coati.strategies.discovery.start_model import NO_MODEL
from coati.strategies.discovery.task_strategy import TaskStrategy
from coati.strategies.discovery.tasks import HostsBut, Stage, Task
from coati.strategies.discovery.topic import Topic
from coati.strategies.discovery.urls_by_hash import UrlsByHash
from coati.strategies.strategy import ScoreExplanation, ScoreReason
from coati.web.dataset_files import is_dataset_file
from coati.web.page_words import words_in, words_of_facts
from coati.web.queries import Ability, Query, parse_query
from coati.web.urls import host_of, is_query, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from coati.model import Hosts, Later, Link, Outcome
    from coati.strategies.discovery.settings import DiscoverySettings, DsddVariant, UserJudgements
    from coati.strategies.discovery.site_checks import SiteCheck
    from coati.strategies.discovery.start_model import StartModel
    from coati.strategies.state import State


_TERMS_TOLD = 8


class Dsdd(TaskStrategy):
    """Finds repositories for ``settings.topic``.

    ``start_urls`` are pages to look at first, or queries to begin with; a query of the user's words is sent
    where an engine takes keywords.
    """

    def __init__(
        self,
        start_urls: Sequence[str],
        settings: DiscoverySettings,
        start_model: StartModel = NO_MODEL,
        variant: DsddVariant = BD_OL,
        wishes: UserJudgements = NO_WISHES,
    ) -> None:
        super().__init__()
        self._settings = settings
        self._variant = variant
        self._wishes = wishes
        self._queries_of: dict[str, int] = {}
        self._stop_words = start_model.stop_words
        self._topic = Topic(settings.topic, self._stop_words, set(words_in(" ".join(settings.data_words))))
        self._possible = possible_actions(settings)
        self._known = UrlsByHash()
        self._pages = AnalysedPages()
        self._checks = SiteChecks()
        self._classifier = PageClassifier(start_model)
        self._policy = BatchedUcb()
        # By arm, since the last update of the policy: the pages that it found, and what they were worth.
        self._found: dict[int, int] = {}
        self._rewards: dict[int, float] = {}
        self._used_seeds: dict[int, set[int]] = {action: set() for action in DISCOVERY_ACTIONS}
        self._used_terms: set[str] = set()
        self._results: dict[str, int] = {}
        self._learnt: set[int] = set()
        self._taught: set[str] = set()
        self._queries = 0
        self._crawling = False
        self._ranked_seeds: list[int] | None = None
        self._begin(start_urls)

    def _begin(self, start_urls: Sequence[str]) -> None:
        arm = int(Action.KEYWORDS)
        for url in start_urls:
            self._want(Task(url, Stage.QUERY if is_query(url) else Stage.CANDIDATE, arm=arm))
        if self._settings.topic and self._settings.keyword_engines:
            self._want(Task(first_query(self._settings).address, Stage.QUERY, arm=arm))

    # The contract

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Request a page that the user judged and that was not learnt from yet, else the next task."""
        for url, action in self._wishes.judged:
            if url not in self._taught:
                return self._teach(url, action)
        return super().choose(now, self._with_quota(hosts))

    def redo(self, request: Request, now: float) -> None:
        """Take the task of a logged request; the log marks what the user judged by its arm."""
        if request.arm in (Action.ACCEPTED, Action.REJECTED):
            self._teach(request.url, Action(request.arm))
        else:
            super().redo(request, now)

    def _teach(self, url: str, action: Action) -> Request:
        self._taught.add(url)
        return self._request(Task(url, Stage.TEACH, arm=int(action)))

    def _answered(self, task: Task, request_id: int, outcome: Outcome) -> Sequence[Settlement]:
        self._ranked_seeds = None
        if task.stage is Stage.QUERY:
            return self._query_answered(task, outcome)
        if task.stage is Stage.CANDIDATE:
            return self._candidate_answered(task, request_id, outcome)
        if task.stage is Stage.CHECK:
            return self._check_answered(task, request_id, outcome)
        if task.stage is Stage.TEACH:
            return self._judged_answered(task, outcome)
        return self._crawl_answered(task, request_id, outcome)

    def _with_quota(self, hosts: Hosts) -> Hosts:
        """Exclude engines that got as many queries as they may get; their other queries wait."""
        most = self._wishes.max_queries
        if most is None:
            return hosts
        return HostsBut(hosts, [engine for engine, queries in self._queries_of.items() if queries >= most])

    @property
    def queries_waiting(self) -> int:
        """How many queries are planned and wait."""
        return self._queue.count(Stage.QUERY)

    @property
    def gave_up_after(self) -> int:
        """After how many requests without a new repository it gave up; 0 where it did not give up."""
        return 0

    @property
    def verifies(self) -> bool:
        """Whether what it finds now is verified: always."""
        return True

    # Queries and what they find

    def _query_answered(self, task: Task, outcome: Outcome) -> Sequence[Settlement]:
        if not isinstance(outcome, Page):
            return ()
        query = parse_query(task.url)
        hits = self._known.on_page(outcome)
        first = replace(query, page=1).address
        room = self._settings.results_per_query - self._results.get(first, 0)
        self._results[first] = self._results.get(first, 0) + len(hits)
        for url in hits[:room]:
            if not (query.ability is Ability.RELATED and site_of(url) == site_of(query.text)):
                self._propose(url, task)
        if hits and len(hits) < room and query.page < self._settings.result_pages:
            self._want(task._replace(url=replace(query, page=query.page + 1).address))
        return ()

    def _propose(self, url: str, found_by: Task, depth: int = 0) -> bool:
        """Queue a found page, unless its site is decided already."""
        check = self._checks.of_site(site_of(url))
        decided = check is not None and (check.state is CheckState.VERIFIED or check.by_user)
        if decided or is_dataset_file(url):
            return False
        found = Task(url, Stage.CANDIDATE, 0, depth, found_by.arm, found_by.score, self._link_topic(url))
        return self._want(found)

    def _link_topic(self, url: str) -> float:
        """Return how much the links to a page say of the topic: it does not count here."""
        return 0.0

    def _candidate_answered(self, task: Task, request_id: int, outcome: Outcome) -> Sequence[Settlement]:
        arm = task.arm or 0
        if isinstance(outcome, Redirect):
            self._known.add(outcome.location)
            self._propose(outcome.location, task, task.depth)
            return ()
        if not isinstance(outcome, Page):
            if isinstance(outcome, Failure):
                self._count(arm, 0.0)
            return ()
        page, urls = self._analyse(task.url, arm, outcome)
        number = self._pages.add(page)
        self._count(arm, self._worth(page))
        if arm == Action.BACKLINKS and task.depth == 0:
            for url in page.external:
                self._propose(url, task, depth=1)
        self._looked_at(number, page, urls)
        return [Settlement(request_id, float(page.relevant))]

    def _looked_at(self, number: int, page: AnalysedPage, urls: list[str]) -> None:
        """Do what follows from the analysis of a page, which links to ``urls``."""
        if page.relevant:
            self._check_site(number, page, urls)

    def _analyse(self, url: str, arm: int, outcome: Page) -> tuple[AnalysedPage, list[str]]:
        """Judge a page by its words; return it with everything that it links to."""
        told = words_of_facts(outcome.facts)
        urls = self._known.on_page(outcome)
        site = site_of(url)
        margin = self._classifier.margin(told["words"])
        relevant = self._looks_relevant(margin)
        external = self._external(site, urls)
        page = AnalysedPage(url, site, arm, told["title"], margin, relevant, external)
        page.keep_words(told["words"])
        return page, urls

    def _looks_relevant(self, margin: float) -> bool:
        return margin > 0 or self._classifier.knows_nothing

    def _external(self, site: str, urls: Iterable[str]) -> list[str]:
        """Return some links to other sites, one per site."""
        by_site: dict[str, str] = {}
        for url in urls:
            other = site_of(url)
            if other != site and other not in by_site and not is_dataset_file(url):
                by_site[other] = url
                if len(by_site) == self._settings.links_per_page:
                    break
        return list(by_site.values())

    def _worth(self, page: AnalysedPage) -> float:
        """Return what a found page is worth to the arm that found it, as far as that is known at once."""
        return float(page.relevant)

    def _count(self, arm: int, worth: float) -> None:
        self._found[arm] = self._found.get(arm, 0) + 1
        self._rewards[arm] = self._rewards.get(arm, 0.0) + worth

    # Checking a site

    def _check_site(self, number: int, page: AnalysedPage, urls: list[str]) -> None:
        check = self._checks.begin(page.site, page.arm)
        check.pages.append(number)
        if check.by_user or check.state is CheckState.VERIFIED:
            return
        check.state = CheckState.OPEN
        check.fetched += 1
        check.count_files([url for url in urls if is_dataset_file(url)])
        self._look_deeper(check, urls, 0)
        self._conclude(check)

    def _look_deeper(self, check: SiteCheck, urls: Iterable[str], depth: int) -> None:
        if depth >= self._settings.check_depth:
            return
        for url in urls:
            if check.requested >= self._settings.check_pages:
                return
            if site_of(url) == check.site and not is_dataset_file(url):
                self._want_for_check(check, url, depth + 1)

    def _want_for_check(self, check: SiteCheck, url: str, depth: int) -> None:
        if self._want(Task(url, Stage.CHECK, check.number, depth)):
            check.requested += 1
            check.waiting += 1

    def _check_answered(self, task: Task, request_id: int, outcome: Outcome) -> Sequence[Settlement]:
        check = self._checks[task.group]
        check.waiting -= 1
        new_files = 0
        if isinstance(outcome, Page):
            urls = self._known.on_page(outcome)
            check.fetched += 1
            new_files = check.count_files([url for url in urls if is_dataset_file(url)])
            if check.state is CheckState.OPEN:
                self._look_deeper(check, urls, task.depth)
        elif isinstance(outcome, Redirect):
            self._known.add(outcome.location)
            if check.state is CheckState.OPEN and site_of(outcome.location) == check.site:
                self._want_for_check(check, outcome.location, task.depth)
        elif isinstance(outcome, Target):
            new_files = check.count_files([task.url])
        self._conclude(check)
        return [Settlement(request_id, float(new_files))]

    def _conclude(self, check: SiteCheck) -> None:
        """Decide about a site as soon as it can be decided."""
        if check.state is not CheckState.OPEN:
            return
        if len(check.files) >= self._settings.files_to_verify:
            self._decide(check, CheckState.VERIFIED)
        elif check.waiting == 0:
            self._decide(check, CheckState.REJECTED)

    def _decide(self, check: SiteCheck, state: CheckState) -> None:
        check.state = state
        check.decided_at = self._turn
        if state is CheckState.VERIFIED or check.by_user:
            # No page of the site is worth a request any more.
            self._drop(check.site, lambda task: task.stage is Stage.CANDIDATE)
        self._drop_check(check)

    def _drop_check(self, check: SiteCheck) -> None:
        if check.waiting:
            dropped = self._drop(check.site, lambda task: task.stage is Stage.CHECK)
            check.waiting -= dropped
            check.requested -= dropped

    def _drop(self, site: str, unwanted: Callable[[Task], bool]) -> int:
        """Forget tasks of a site, and count them."""
        urls = [url for host in (site, f"www.{site}") for url in self._queue.drop_of_host(host, unwanted)]
        self._forget_wanted(urls)
        return len(urls)

    # The user's judgements

    def _judged_answered(self, task: Task, outcome: Outcome) -> Sequence[Settlement]:
        accepted = task.arm == Action.ACCEPTED
        number = self._pages.number_of(task.url)
        if isinstance(outcome, Page) and words_of_facts(outcome.facts)["words"]:
            page, _ = self._analyse(task.url, task.arm or 0, outcome)
            page.relevant = accepted
            number = self._pages.add(page)
        site = site_of(task.url)
        check = self._checks.begin(site, task.arm or 0)
        check.by_user = True
        self._decide(check, CheckState.VERIFIED if accepted else CheckState.REJECTED)
        if number is not None and number not in check.pages:
            check.pages.append(number)
        # What the checks taught about this site is overruled, and learnt by the next training.
        self._learn((number_of_page, accepted) for number_of_page in check.pages)
        return ()

    # One iteration after the other

    def _plan_next(self) -> bool:
        self._end_pull()
        if self._crawling:
            return False
        actions = [int(action) for action in self._variant.actions if self._has_work(action)]
        choice = self._policy.choose(actions)
        if choice is None:
            return False
        score = choice.score if choice.score < float("inf") else None
        self._pull(Action(choice.arm), score)
        return True

    def _end_pull(self) -> None:
        for arm, found in self._found.items():
            self._policy.observe(arm, self._rewards[arm], found)
        self._found.clear()
        self._rewards.clear()
        if self._variant.learns:
            self._learn(
                (number, check.state is CheckState.VERIFIED)
                for check in self._checks
                if check.state is not CheckState.OPEN
                for number in check.pages
                if number not in self._learnt
            )

    def _learn(self, examples: Iterable[tuple[int, bool]]) -> None:
        labelled = [(number, label) for number, label in examples if self._pages[number].packed_words]
        self._learnt.update(number for number, _ in labelled)
        if labelled:
            self._classifier.learn([(self._pages[number].words, label) for number, label in labelled])

    def _has_work(self, action: Action) -> bool:
        if action not in self._possible:
            return False
        if action is Action.KEYWORDS:
            return bool(self._next_terms(1))
        return any(True for _ in self._unused(action))

    def _pull(self, action: Action, score: float | None) -> None:
        """Make the queries of an action, or propose the links that it follows."""
        blank = Task("", Stage.QUERY, arm=int(action), score=score)
        self._note_pull(action)
        if action is Action.KEYWORDS:
            for term in self._next_terms(self._settings.terms_per_pull):
                self._used_terms.add(term)
                self._queue_query(keyword_query(self._settings, term, self._queries), blank)
            return
        seeds = list(self._unused(action))[: self._settings.seeds_per_pull]
        for number in seeds:
            self._used_seeds[action].add(number)
            self._pull_from(action, self._pages[number], blank)

    def _note_pull(self, action: Action) -> None:
        """Note a pull: an arm that brought nothing must not look untried."""
        self._found.setdefault(int(action), 0)
        self._rewards.setdefault(int(action), 0.0)

    def _pull_from(self, action: Action, seed: AnalysedPage, blank: Task) -> None:
        if action is Action.FORWARD:
            for url in seed.external:
                self._propose(url, blank)
        elif action is Action.RELATED:
            terms = frequent_terms([seed.words], self._stop_words, self._settings.terms_per_pull)
            self._queue_query(
                related_query(self._settings, seed.url, seed.title, terms, self._queries), blank
            )
        else:
            self._queue_query(backlinks_query(self._settings, seed.url, self._queries), blank)

    def _queue_query(self, query: Query, blank: Task) -> None:
        self._queries += 1
        self._want(blank._replace(url=query.address))

    # Seeds and terms

    def _unused(self, action: Action) -> Iterable[int]:
        return (number for number in self._seeds() if number not in self._used_seeds[action])

    def _seeds(self) -> list[int]:
        """Return the seeds; they are ranked once for all that is planned between two observations."""
        if self._ranked_seeds is None:
            self._ranked_seeds = self._rank_seeds()
        return self._ranked_seeds

    def _rank_seeds(self) -> list[int]:
        """Return verified pages, the best for the topic first; where there are none, the most promising."""
        verified = [number for check in self._checks.in_state(CheckState.VERIFIED) for number in check.pages]
        if verified:
            return self._ranked(verified)
        hopeful = [number for number, page in enumerate(self._pages) if page.relevant]
        return sorted(hopeful, key=lambda number: -self._pages[number].margin)

    def _ranked(self, numbers: Sequence[int]) -> list[int]:
        scores = self._topic_scores(numbers)
        return sorted(numbers, key=lambda number: -scores[number])

    def _topic_scores(self, numbers: Sequence[int]) -> dict[int, float]:
        pages = [self._pages[number].words for number in numbers]
        query = ranking_query(self._settings, pages, self._stop_words)
        return dict(zip(numbers, bm25(pages, query), strict=True))

    def _next_terms(self, most: int) -> list[str]:
        """Return terms for keyword queries that were not used: of the seeds, or what data is called."""
        topic = set(words_in(self._settings.topic))
        data_words = self._settings.data_words
        without = {*self._stop_words, *topic, *self._used_terms, *map(str.lower, data_words)}
        seeds = self._seeds()[: self._settings.seeds_per_pull]
        terms = frequent_terms([self._pages[number].words for number in seeds], without, most)
        if not terms and not self._used_terms:
            return [data_words[0]]
        return terms

    # The crawl within the repositories

    def _after_choice(self, task: Task) -> None:
        # The run knows what was requested, so it does not come as new from a page.
        self._known.add(task.url)
        if task.stage is Stage.QUERY:
            engine = host_of(task.url)
            self._queries_of[engine] = self._queries_of.get(engine, 0) + 1
        limit = self._settings.crawl_after
        if limit is not None and self._turn >= limit and not self._crawling:
            self._begin_crawl()

    def _begin_crawl(self) -> None:
        """Stop searching, and crawl the verified repositories breadth-first."""
        self._crawling = True
        for check in self._checks:
            if check.state is CheckState.OPEN:
                self._drop_check(check)
        self._forget_wanted(self._queue.drop(lambda _: True))
        for url in self._known:
            self._want_for_crawl(url)

    def _want_for_crawl(self, url: str) -> None:
        check = self._checks.of_site(site_of(url))
        if check is not None and check.state is CheckState.VERIFIED and not is_dataset_file(url):
            self._want(Task(url, Stage.CRAWL))

    def _crawl_answered(self, task: Task, request_id: int, outcome: Outcome) -> Sequence[Settlement]:
        check = self._checks.of_site(site_of(task.url))
        if check is None:
            return ()
        new_files = 0
        if isinstance(outcome, Page):
            urls = self._known.on_page(outcome)
            new_files = check.count_files([url for url in urls if is_dataset_file(url)])
            for url in urls:
                self._want_for_crawl(url)
        elif isinstance(outcome, Redirect):
            self._known.add(outcome.location)
            self._want_for_crawl(outcome.location)
        return [Settlement(request_id, float(new_files))]

    # What it found

    def findings(self) -> list[Finding]:
        """Return every site that was checked: the verified ones first, best for the topic first."""
        numbers = [number for check in self._checks for number in check.pages]
        scores = self._topic_scores(numbers)
        found = [self._finding(check, scores) for check in self._checks]
        found.sort(key=self._order)
        return sorted(found, key=lambda finding: finding.state is not CheckState.VERIFIED)

    def _order(self, finding: Finding) -> tuple[float, ...]:
        """Return what findings are ordered by, the smallest first."""
        return (-finding.score,)

    def _finding(self, check: SiteCheck, scores: Mapping[int, float]) -> Finding:
        pages = [self._pages[number] for number in check.pages]
        without = {*self._stop_words, *words_in(self._settings.topic)}
        terms = frequent_terms([page.words for page in pages], without, _TERMS_TOLD)
        topic = max(map(self._topic_of, check.pages), default=0.0)
        return Finding.of_check(check, pages, [scores[number] for number in check.pages], terms, topic)

    def _topic_of(self, number: int) -> float:
        """Return how much a page speaks of the topic."""
        return self._topic.score(self._pages[number].words)

    def counts(self) -> tuple[int, int, int]:
        """Count the pages that were analysed, the sites that were checked, and those that were verified."""
        return len(self._pages), len(self._checks), len(self._checks.in_state(CheckState.VERIFIED))

    def asleep(self) -> list[str]:
        """Name the actions that no configured engine allows."""
        return [action.label for action in self._variant.actions if action not in self._possible]

    def explain(self, link: str | Link, source_url: str = "") -> ScoreExplanation:
        """Explain the classifier's margin of a page that was analysed; raise `ValueError` for any other."""
        url = link if isinstance(link, str) else link.url
        number = self._pages.number_of(url)
        if number is None:
            raise ValueError(f"{url} was not looked at")
        page = self._pages[number]
        reasons = self._classifier.reasons(page.words)
        margin = self._classifier.margin(page.words)
        return ScoreExplanation(margin, [ScoreReason(f"the word “{word}”", part) for word, part in reasons])

    def arm_label(self, arm: int) -> str:
        """Name an action."""
        return Action(arm).label

    # Saving and loading

    def save(self) -> State:
        return {
            **super().save(),
            **self._known.save(),
            **self._pages.save(),
            **self._classifier.save(),
            "checks": self._checks.save(),
            "policy": self._policy.save(),
            "found": list(self._found.items()),
            "rewards": list(self._rewards.items()),
            "used_seeds": [[action, sorted(used)] for action, used in self._used_seeds.items()],
            "used_terms": sorted(self._used_terms),
            "results": list(self._results.items()),
            "learnt": sorted(self._learnt),
            "taught": sorted(self._taught),
            "queries": self._queries,
            "asked_of": list(self._queries_of.items()),
            "crawling": self._crawling,
        }

    def load(self, state: State) -> None:
        super().load(state)
        self._ranked_seeds = None
        self._known.load(state)
        self._pages.load(state)
        self._classifier.load(state)
        self._checks.load(state["checks"])
        self._policy.load(state["policy"])
        self._found, self._rewards = dict(state["found"]), dict(state["rewards"])
        self._used_seeds = {action: set(used) for action, used in state["used_seeds"]}
        self._used_terms = set(state["used_terms"])
        self._results = dict(state["results"])
        self._learnt, self._taught = set(state["learnt"]), set(state["taught"])
        self._queries, self._crawling = state["queries"], state["crawling"]
        self._queries_of = dict(state["asked_of"])
