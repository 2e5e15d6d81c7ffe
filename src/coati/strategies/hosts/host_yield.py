"""Ours: the host whose next pages promise most relevant ones per request.

Where hosts are mostly all or nothing, the promise of a page depends on what its host and its section of the
host gave so far, and for a new host on its URL and on the pages that link to it. So:

- A logistic regression on the words of the URL and on the label of the page that led there (of the same
  host or of another) says how likely a page of an unknown host is relevant.
- Shares are shrunk from there: that of a host to the regression, that of a section (the first folder) to the
  host's. A few pages of evidence outweigh the URL.
- A host is worth the relevant pages that can be expected of it per request. One request to a host of which
  little is known may open as many good pages as wait there: with a probability p of being good and k more
  pages of which a share r is good then, (p + p k r) / (1 + p k). So of two unknown hosts the one with more
  pages is tried first, and a host that is known to be good before both.

No choice is left to chance: known good hosts are taken first, and when they are used up the hosts that are
most worth a try come next by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

from coati.learners.sparse_logistic import SparseLogistic
from coati.strategies.hosts.host_bandit import Exploration, HostBandit
from coati.strategies.hosts.host_scores import HeapScores
from coati.strategies.hosts.page_features import FoundPage, hashed_words
from coati.strategies.hosts.page_models import probability, rounded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coati.strategies.state import State

_BUCKETS = 1 << 14
# Features after the words: whether the page that led there was relevant (or there is none), for hosts with
# pages that were fetched and for new ones.
_PARENTS = 6
_LEAST_CHANCE = 1e-9
# Parts of a URL that has a folder: scheme, nothing, host, folder, the rest.
_FOLDER = 4
# More pages than this do not make a host more worth a try.
_MOST_COUNTED = 1000
# How often the best page of a host is scored again before it is taken: others may have overtaken it.
_JUDGED_AGAIN = 8


@dataclass(frozen=True, slots=True)
class HostYieldSettings:
    """How much a URL counts beside the pages of its host, and the host beside those of a section.

    Both are numbers of pages. ``good_share`` is the share of relevant pages that is expected where one was
    found, ``rate`` the step of the regression.
    """

    address_weight: float = 1.0
    host_weight: float = 2.0
    good_share: float = 0.95
    rate: float = 0.15


class ShrunkShares:
    """Shares of relevant pages: a section's is shrunk to its host's, that to what the URL promises."""

    def __init__(self, settings: HostYieldSettings) -> None:
        self._settings = settings
        self._addresses = SparseLogistic(_BUCKETS + _PARENTS, settings.rate)
        # Relevant pages and others, of hosts and of their sections.
        self._hosts: dict[str, list[int]] = {}
        self._sections: dict[str, list[int]] = {}

    def promise(self, page: FoundPage) -> float:
        """Return the log-odds of the shrunk share."""
        settings = self._settings
        share = self._addresses.predict(self._features(page))
        host, section = _places(page.url)
        share = _shrunk(self._hosts.get(host), share, settings.address_weight)
        share = _shrunk(self._sections.get(section), share, settings.host_weight)
        share = min(max(share, _LEAST_CHANCE), 1 - _LEAST_CHANCE)
        return rounded(log(share / (1 - share)))

    def learn(self, page: FoundPage, *, relevant: bool) -> None:
        """Learn from a page with its label, then count it."""
        self._addresses.learn(self._features(page), label=relevant)
        host, section = _places(page.url)
        self._hosts.setdefault(host, [0, 0])[not relevant] += 1
        self._sections.setdefault(section, [0, 0])[not relevant] += 1

    def counted(self, host: str) -> int:
        """Return how many pages of a host were counted."""
        return sum(self._hosts.get(host, ()))

    def _features(self, page: FoundPage) -> list[int]:
        """Return the words of the URL, and the parent's label apart for hosts that are new.

        Most pages that are fetched are of hosts known to be good, and new ones are not like them.
        """
        features = list(dict.fromkeys(hashed_words(page.url, _BUCKETS)))
        new = _places(page.url)[0] not in self._hosts
        around = 2 if page.parent is None else int(page.parent)
        features.append(_BUCKETS + 3 * new + around)
        return features

    def save(self) -> Mapping[str, Any]:
        """Return the regression and the counts."""
        return {
            **self._addresses.save(),
            "share_hosts": [[name, *counts] for name, counts in self._hosts.items()],
            "share_sections": [[name, *counts] for name, counts in self._sections.items()],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._addresses.load(state)
        self._hosts = {name: counts for name, *counts in state["share_hosts"]}
        self._sections = {name: counts for name, *counts in state["share_sections"]}


class YieldScores(HeapScores):
    """Hosts by what they are worth, which is passed as their best page."""

    def __init__(self, seed: int) -> None:
        super().__init__(lambda _good, _bad, worth: worth, seed)

    def save(self) -> Mapping[str, Any]:
        """Return what hosts were worth when that was last computed: other pages were learnt from since."""
        return {"worths": self._heap.scores()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what the hosts were worth."""
        for host, worth in state["worths"]:
            self.put(host, 0, 0, worth)


class HostYield(HostBandit):
    """Takes the best page of the host that is worth most."""

    def __init__(
        self, start_urls: Sequence[str], seed: int, settings: HostYieldSettings | None = None
    ) -> None:
        self._settings = settings or HostYieldSettings()
        self._shares = ShrunkShares(self._settings)
        self._worths = YieldScores(seed)
        super().__init__(
            start_urls, seed, scores=self._worths, model=self._shares, exploration=Exploration(0.0)
        )

    def load(self, state: State) -> None:
        super().load(state)
        self._worths.restore(state)

    def _add_url(self, url: str, parent: int) -> None:
        super()._add_url(url, parent)
        host = self._host_of[-1]
        # A host with twice as many pages is worth more, though its best page is the same.
        count = self._waiting.count(host)
        if not count & (count - 1):
            self._changed(host)

    def _label(self, page: int, *, good: bool) -> None:
        super()._label(page, good=good)
        self._changed(self._host_of[page])

    def _rescore(self, host: int) -> None:
        for _ in range(_JUDGED_AGAIN):
            page = self._waiting.best_page(host)
            promise = self._model.promise(self._found(page))
            if promise >= self._waiting.best(host):
                return
            self._waiting.pop(host)
            self._waiting.push(host, page, promise)
            if self._waiting.best_page(host) == page:
                return

    def _changed(self, host: int) -> None:
        if host not in self._awake:
            return
        # What is in flight, or failed, is evidence against a host until it is known better.
        counted = self._shares.counted(self._hosts.name(host)) + self._settings.address_weight
        unknown = self._hosts.good[host] + self._hosts.bad[host] + self._settings.address_weight
        chance = probability(self._model.promise(self._found(self._waiting.best_page(host))))
        chance *= min(1.0, counted / unknown)
        more = min(self._waiting.count(host) - 1, _MOST_COUNTED)
        worth = chance * (1 + more * self._settings.good_share) / (1 + chance * more)
        self._scores.put(host, 0, 0, max(worth, chance))


def _shrunk(counts: Sequence[int] | None, share: float, weight: float) -> float:
    if counts is None:
        return share
    good, bad = counts
    return (good + weight * share) / (good + bad + weight)


def _places(url: str) -> tuple[str, str]:
    """Return the host of a URL, and the host with its first folder."""
    parts = url.split("/", 4)
    return parts[2], f"{parts[2]}/{parts[3] if len(parts) > _FOLDER else ''}"
