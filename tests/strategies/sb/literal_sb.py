"""SB-CLASSIFIER as the text says it: slow, recursive, with vectors as long as the vocabulary.

Nothing is shared with the real strategy but the draw of random numbers and the URL model, which a test of
its own compares with scikit-learn. Everything else is written again from the paper and from our decisions on
its contradictions: one request at a time, a page's links one by one, an answer before the next question. A
page's links are known once it was read, and pages that were forced follow in the order of reading.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from coati.learners.linear_sgd import LinearSgd
from coati.learners.url_bigrams import DIMENSIONS, bigrams
from coati.model import Method, Page, Redirect, Request, Target
from coati.strategies.chance import draw

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coati.model import Link, Outcome

ALPHA = 2 * math.sqrt(2)
THETA = 0.75
BATCH = 10


class LiteralPaths:
    """Tag paths to vectors, word for word: one value an n-gram, then the mean of what shares a bucket."""

    def __init__(self, n: int = 2, m: int = 12, w: int = 15) -> None:
        self.n, self.m, self.w = n, m, w
        self.vocabulary: list[tuple[str, ...]] = []

    def hash(self, i: int) -> int:
        return int(((766245317 * i) % 2**self.w) // 2 ** (self.w - self.m))

    def vector(self, path: tuple[str, ...]) -> npt.NDArray[np.float64]:
        tokens = ("<begin>", *path, "<end>")
        grams = [tokens[i : i + self.n] for i in range(max(1, len(tokens) - self.n + 1))]
        for gram in grams:
            if gram not in self.vocabulary:
                self.vocabulary.append(gram)
        long = np.array([grams.count(gram) / len(grams) for gram in self.vocabulary])
        buckets: list[list[float]] = [[] for _ in range(2**self.m)]
        for i, value in enumerate(long):
            buckets[self.hash(i)].append(value)
        return np.array([sum(bucket) / len(bucket) if bucket else 0.0 for bucket in buckets])


class LiteralGroups:
    """Centroids as running means; every one of them is compared."""

    def __init__(self, theta: float = THETA) -> None:
        self.theta = theta
        self.centroids: list[npt.NDArray[np.float64]] = []
        self.sizes: list[int] = []

    def similarities(self, vector: npt.NDArray[np.float64]) -> list[float]:
        return [float(vector @ c / (np.linalg.norm(vector) * np.linalg.norm(c))) for c in self.centroids]

    def join(self, vector: npt.NDArray[np.float64]) -> int:
        similarities = self.similarities(vector)
        best = int(np.argmax(np.round(similarities, 12))) if similarities else -1
        if best >= 0 and similarities[best] >= self.theta - 1e-9:
            self.put(best, vector)
            return best
        self.put(len(self.centroids), vector)
        return len(self.centroids) - 1

    def put(self, group: int, vector: npt.NDArray[np.float64]) -> None:
        if group == len(self.centroids):
            self.centroids.append(vector)
            self.sizes.append(1)
            return
        k = self.sizes[group]
        self.centroids[group] = (self.centroids[group] * k + vector) / (k + 1)
        self.sizes[group] = k + 1


class LiteralCrawl:
    """The whole crawl; `order` is what was asked for."""

    def __init__(self, start_url: str, answer: Callable[[Request], Outcome], seed: int) -> None:
        self.answer, self.seed = answer, seed
        self.order: list[tuple[str, str]] = []
        self.rewards: dict[int, float] = {}
        self.paths, self.groups, self.model = LiteralPaths(), LiteralGroups(), LinearSgd(DIMENSIONS)
        self.examples: list[tuple[str, bool]] = []
        self.trained = False
        self.known = {start_url}
        self.predicted: set[str] = set()
        self.frontier: list[list[str]] = []
        self.n_sel: list[int] = []
        self.n_rew: list[int] = []
        self.mean: list[float] = []
        self.process(start_url, None)
        while any(self.frontier):
            arm = self.best_arm()
            links = self.frontier[arm]
            at = draw(self.seed, len(self.order), len(links))
            url, last = links[at], links.pop()
            if at < len(links):
                links[at] = last
            self.n_sel[arm] += 1
            self.process(url, arm)

    def best_arm(self) -> int:
        awake = [arm for arm, links in enumerate(self.frontier) if links]
        t = len(self.order)
        if t <= 1:
            return awake[draw(self.seed, t, len(awake))]
        bonus = [ALPHA * math.sqrt(math.log(t) / (self.n_sel[arm] + 1e-6)) for arm in awake]
        scores = [self.mean[arm] + b for arm, b in zip(awake, bonus, strict=True)]
        return awake[int(np.argmax(scores))]

    def ask(self, url: str, method: Method) -> Outcome:
        request = Request(len(self.order), method, url)
        self.order.append((method.value, url))
        outcome = self.answer(request)
        if url in self.predicted and method is Method.GET:
            self.example(url, outcome)
        return outcome

    def example(self, url: str, outcome: Outcome) -> None:
        if isinstance(outcome, Page | Target):
            self.examples.append((url, isinstance(outcome, Target)))
            if len(self.examples) >= BATCH:
                self.model.learn([bigrams(u) for u, _ in self.examples], [t for _, t in self.examples])
                self.trained, self.examples = True, []

    def fetch(self, url: str) -> tuple[Outcome, int]:
        """GET, and follow redirects to URLs that are not known; give the last answer and its number."""
        outcome = self.ask(url, Method.GET)
        while isinstance(outcome, Redirect) and outcome.location not in self.known:
            self.known.add(outcome.location)
            outcome = self.ask(outcome.location, Method.GET)
        return outcome, len(self.order) - 1

    def process(self, url: str, arm: int | None) -> None:
        outcome, number = self.fetch(url)
        if isinstance(outcome, Page):
            pages = [(number, arm, self.new_links(outcome))]
            for each in pages:
                pages.extend(self.page(*each))

    def new_links(self, page: Page) -> list[Link]:
        found = []
        for index, url in enumerate(page.links.urls):
            if url not in self.known:
                self.known.add(url)
                found.append(page.links.link(index))
        return found

    def page(self, number: int, arm: int | None, links: list[Link]) -> list[tuple[int, int, list[Link]]]:
        """Go through a page's new links; give the pages that were taken for targets."""
        reward, forced = 0, []
        for link in links:
            kind = self.kind(link)
            if kind == "html":
                self.frontier[self.arm_of(link)].append(link.url)
            elif kind == "target":
                outcome, its_number = self.fetch(link.url)
                if isinstance(outcome, Target):
                    reward += 1
                elif isinstance(outcome, Page):
                    own = self.arm_of(link)
                    self.n_sel[own] += 1
                    forced.append((its_number, own, self.new_links(outcome)))
        self.rewards[number] = reward
        if arm is not None:
            self.n_rew[arm] += 1
            self.mean[arm] += (reward - self.mean[arm]) / self.n_rew[arm]
        return forced

    def kind(self, link: Link) -> str:
        if self.trained:
            self.predicted.add(link.url)
            return "target" if self.model.score(bigrams(link.url)) > 0 else "html"
        outcome = self.ask(link.url, Method.HEAD)
        self.example(link.url, outcome)
        if isinstance(outcome, Page | Redirect):
            return "html"
        return "target" if isinstance(outcome, Target) else "neither"

    def arm_of(self, link: Link) -> int:
        arm = self.groups.join(self.paths.vector(link.tag_path))
        if arm == len(self.frontier):
            self.frontier.append([])
            self.n_sel.append(0)
            self.n_rew.append(0)
            self.mean.append(0.0)
        return arm
