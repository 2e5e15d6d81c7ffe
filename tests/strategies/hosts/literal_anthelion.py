"""Anthelion word for word as the paper describes it, with lists that are searched from end to end.

For comparison only: no queues, no heaps, counts made again whenever they are needed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from coati.bandits.arm_heap import tie_breaker
from coati.strategies.chance import draw
from tests.strategies.hosts.small_web import SmallWeb

BUCKETS = 10_000


def java_hash_code(word: str) -> int:
    """s[0]*31^(n-1) + s[1]*31^(n-2) + ... + s[n-1], in 32 bits with a sign."""
    total = 0
    for letter in word:
        total = 31 * total + ord(letter)
    return (total + (1 << 31)) % (1 << 32) - (1 << 31)


def features(url: str, *, parent_is_good: bool | None) -> set[object]:
    path = re.sub(r"^https?://[^/]*", "", url).lower()
    tokens = [token for token in re.split(r"[^0-9a-z]", path) if len(token) >= 3]
    words = {"[NUMBER]" if token.isdecimal() else token for token in tokens}
    plain = {word for word in words if word == "[NUMBER]" or word.isalpha()}
    found: set[object] = {abs(java_hash_code(word)) % BUCKETS for word in plain}
    if parent_is_good is not None:
        found.add("has good parent" if parent_is_good else "has bad parent")
    return found


class LiteralAnthelion:
    """The crawl of one web, from its start URLs on."""

    def __init__(
        self, web: SmallWeb, seed: int, *, score: str, explore: float, half_after: int, demand: bool
    ) -> None:
        self.web, self.seed, self.score = web, seed, score
        self.explore, self.half_after, self.demand = explore, half_after, demand
        self.hosts: list[str] = []
        # Hosts with pages that wait: where one leaves, the last takes its place.
        self.ready: list[str] = []
        # Found and not crawled, in the order of finding: the URL, its parent's label, its prediction.
        self.waiting: list[tuple[str, bool | None, float]] = []
        self.crawled: list[tuple[str, bool | None, bool]] = []
        self.trained: list[tuple[set[object], bool]] = []
        self.met: set[str] = set()
        for url in web.start_urls:
            self.find(url, parent_is_good=None)

    def find(self, url: str, *, parent_is_good: bool | None) -> None:
        if url not in self.met:
            self.met.add(url)
            if self.host(url) not in self.hosts:
                self.hosts.append(self.host(url))
            if self.host(url) not in self.ready:
                self.ready.append(self.host(url))
            self.waiting.append((url, parent_is_good, self.prediction(url, parent_is_good=parent_is_good)))

    def host(self, url: str) -> str:
        return url.split("/")[2]

    def prediction(self, url: str, *, parent_is_good: bool | None) -> float:
        """The log-odds of naive Bayes, with every feature that was ever seen, there or not."""
        own = features(url, parent_is_good=parent_is_good)
        totals = [sum(1 for _, label in self.trained if label is each) for each in (False, True)]
        odds = math.log((totals[1] + 1) / (totals[0] + 1))
        for feature in set().union(*(each for each, _ in self.trained)) if self.trained else ():
            shares = []
            for label in (False, True):
                there = sum(1 for each, its in self.trained if its is label and feature in each)
                shares.append((there + 1) / (totals[label] + 2))
            if feature in own:
                odds += math.log(shares[1] / shares[0])
            else:
                odds += math.log((1 - shares[1]) / (1 - shares[0]))
        return round(max(-700.0, min(700.0, odds)) * 65536) / 65536

    def host_score(self, host: str) -> float:
        good = sum(1 for url, _, label in self.crawled if self.host(url) == host and label)
        bad = sum(1 for url, _, label in self.crawled if self.host(url) == host and not label)
        best = self.best(host)
        return {
            "negative-bad": -bad,
            "best": best,
            "success-rate": (good + 1) / (bad + 1),
            "good*best": good * best,
            "success-rate*best": (good + 1) / (bad + 1) * best,
            "good": good,
        }[self.score]

    def best(self, host: str) -> float:
        """The probability that belongs to the best prediction of the host's pages."""
        odds = max(prediction for url, _, prediction in self.waiting if self.host(url) == host)
        return 1 / (1 + math.exp(-odds)) if odds >= 0 else 1 - 1 / (1 + math.exp(odds))

    def crawl(self, most: int) -> Iterator[str]:
        for turn in range(most):
            if not self.ready:
                return
            decay = self.half_after / (turn + self.half_after) if self.half_after else 1.0
            share = self.explore * decay
            if draw(self.seed, 2 * turn, 1 << 53) / (1 << 53) > share:
                host = max(
                    self.ready,
                    key=lambda name: (
                        self.host_score(name),
                        self.best(name),
                        tie_breaker(self.hosts.index(name), self.seed),
                    ),
                )
            else:
                host = self.ready[draw(self.seed, 2 * turn + 1, len(self.ready))]
            yield self.take(host)

    def take(self, host: str) -> str:
        if self.demand:
            self.waiting = [
                (url, parent, self.prediction(url, parent_is_good=parent) if self.host(url) == host else old)
                for url, parent, old in self.waiting
            ]
        own = [page for page in self.waiting if self.host(page[0]) == host]
        page = max(own, key=lambda each: each[2])
        self.waiting.remove(page)
        if len(own) == 1:
            self.ready[self.ready.index(host)] = self.ready[-1]
            self.ready.pop()
        url, parent, _ = page
        good, links = self.web.pages[url]
        self.crawled.append((url, parent, good))
        if len(self.crawled) % 5 == 0:
            self.trained += [
                (features(url, parent_is_good=parent), label) for url, parent, label in self.crawled[-5:]
            ]
        for link in links:
            self.find(link, parent_is_good=good)
        return url
