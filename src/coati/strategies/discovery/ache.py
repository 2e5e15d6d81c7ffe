"""ACHE's adaptive focused crawl (Barbosa and Freire, 2007), as the DSDD paper compared itself with it.

It begins at the verified results of the first query and follows links. At first a link is worth what its page
is; after a thousand pages a link classifier, trained on the words of URLs, of anchors and around them, tells
the links that lead to relevant pages, and it is trained again every thousand pages. A site gives a hundred
pages at most. Nothing is verified after the first query: a site with a relevant page is a find.

ACHE's own link classes reach back several links; here there are two, "relevant at once" and "not".
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coati.learners.sigmoid import sigmoid
from coati.model import Page, Redirect, Settlement
from coati.strategies.chance import draw
from coati.strategies.discovery.dsdd import Dsdd
from coati.strategies.discovery.page_classifier import PageClassifier
from coati.strategies.discovery.settings import NO_WISHES
from coati.strategies.discovery.site_checks import CheckState
from coati.strategies.discovery.start_model import NO_MODEL
from coati.strategies.discovery.tasks import Stage, Task
from coati.web.dataset_files import is_dataset_file
from coati.web.page_words import count_words, words_in, words_of_facts
from coati.web.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Link, Outcome
    from coati.strategies.discovery.settings import DiscoverySettings, UserJudgements
    from coati.strategies.discovery.start_model import StartModel
    from coati.strategies.state import State

_PAGES_PER_SITE = 100
_PAGES_BEFORE_LEARNING = 1000
_RELEVANT_CLASS = 2.0
_CONTEXT_WORDS = 20
_LINK_WORDS = 40


class Ache(Dsdd):
    """Follows the links that promise relevant pages most."""

    def __init__(
        self,
        start_urls: Sequence[str],
        settings: DiscoverySettings,
        start_model: StartModel = NO_MODEL,
        wishes: UserJudgements = NO_WISHES,
    ) -> None:
        self._following = False
        self._of_site: Counter[str] = Counter()
        self._link_words: dict[str, dict[str, int]] = {}
        self._lessons: list[tuple[dict[str, int], bool]] = []
        self._link_classifier = PageClassifier(NO_MODEL)
        super().__init__(start_urls, settings, start_model, wishes=wishes)

    @property
    def verifies(self) -> bool:
        """Whether what it finds now is verified: the results of the first query alone."""
        return not self._following

    def _plan_next(self) -> bool:
        self._end_pull()
        if self._following:
            return False
        self._following = True
        for number in self._seeds():
            page = self._pages[number]
            for url in page.external:
                self._follow(url, count_words(" ".join(words_in(url))), 100.0)
        verified = {check.site for check in self._checks.in_state(CheckState.VERIFIED)}
        for url in list(self._known):
            if site_of(url) in verified:
                self._follow(url, count_words(" ".join(words_in(url))), 100.0)
        return bool(self._queue)

    def _follow(self, url: str, words: dict[str, int], page_worth: float) -> None:
        site = site_of(url)
        if self._of_site[site] >= _PAGES_PER_SITE or is_dataset_file(url):
            return
        if self._want(Task(url, Stage.CRAWL, worth=self._link_worth(words, page_worth))):
            self._of_site[site] += 1
            self._link_words[url] = words

    def _link_worth(self, words: dict[str, int], page_worth: float) -> float:
        if self._link_classifier.knows_nothing:
            return page_worth
        margin = self._link_classifier.margin(words)
        chance = sigmoid(2 * abs(margin))
        return 100 * _RELEVANT_CLASS * (margin > 0) + 100 * chance

    def _crawl_answered(self, task: Task, request_id: int, outcome: Outcome) -> Sequence[Settlement]:
        words = self._link_words.pop(task.url, {})
        if isinstance(outcome, Redirect):
            self._known.add(outcome.location)
            self._follow(outcome.location, words, task.worth)
            return ()
        if not isinstance(outcome, Page):
            return ()
        links = {link.url: link for link in map(outcome.links.link, range(len(outcome.links.urls)))}
        margin = self._classifier.margin(words_of_facts(outcome.facts)["words"])
        relevant = self._looks_relevant(margin)
        self._learn_link(words, relevant=relevant)
        if relevant:
            check = self._checks.begin(site_of(task.url), 0)
            check.fetched += 1
        worth = 100 * sigmoid(2 * margin) + (draw(0, request_id, 100) if margin >= 1 else 0)
        for url in self._known.on_page(outcome):
            self._follow(url, _words_of_link(url, links.get(url)), worth)
        return [Settlement(request_id, float(relevant))]

    def _learn_link(self, words: dict[str, int], *, relevant: bool) -> None:
        self._lessons.append((words, relevant))
        if len(self._lessons) == _PAGES_BEFORE_LEARNING:
            self._link_classifier.learn(self._lessons)
            self._lessons.clear()

    def save(self) -> State:
        links = {f"link_{name}": value for name, value in self._link_classifier.save().items()}
        return {
            **super().save(),
            **links,
            "following": self._following,
            "of_site": sorted(self._of_site.items()),
            "link_words": list(self._link_words.items()),
            "lessons": [[words, relevant] for words, relevant in self._lessons],
        }

    def load(self, state: State) -> None:
        super().load(state)
        names = self._link_classifier.save()
        self._link_classifier.load({name: state[f"link_{name}"] for name in names})
        self._following = state["following"]
        self._of_site = Counter(dict(state["of_site"]))
        self._link_words = dict(state["link_words"])
        self._lessons = [(words, relevant) for words, relevant in state["lessons"]]


def _words_of_link(url: str, link: Link | None) -> dict[str, int]:
    words = words_in(url)
    if link is not None:
        words += words_in(link.anchor) + words_in(link.context)[:_CONTEXT_WORDS]
    return count_words(" ".join(words), _LINK_WORDS)
