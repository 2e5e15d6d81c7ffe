"""TP-OFF: tag paths whose worth is learnt first and used afterwards (ACEBot, as the EDBT 2026 paper has it).

The first requests go breadth-first, and every page shows what its group of tag paths is worth: the number of
targets that it links to, known ones included, which only the truth about the site can say. Then learning
stops. Links are followed by the mean worth of their group, and a group that was not seen by then is worth
nothing. Groups are those of SB-CLASSIFIER, and their centroids continue to move.

Links to targets wait among all others. Their groups led to no page, so they are worth 0 as long as no page
shares their tag paths: the paper's reason why TP-OFF is slow where lists of files have paths of their own.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from coati.model import Kind, Page, Refused
from coati.strategies.best_first import BestFirstStrategy
from coati.strategies.sb.path_groups import PathGroups
from coati.strategies.sb.tag_path_vectors import TagPathSpace
from coati.strategies.sb.tag_paths import TagPathSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Link, Outcome
    from coati.strategies.state import State
    from coati.strategies.truth import SiteTruth


@dataclass(frozen=True, slots=True)
class TpOffSettings:
    """How many requests are learnt from (the paper: 3,000), and what makes tag paths similar."""

    warm_up: int = 3000
    tag_paths: TagPathSettings = field(default_factory=TagPathSettings)


class GroupBenefits:
    """The mean number of targets on the pages that a group of links led to, learnt for a while."""

    def __init__(self, truth: SiteTruth, settings: TpOffSettings) -> None:
        self._truth = truth
        self._warm_up = settings.warm_up
        paths = settings.tag_paths
        self._space = TagPathSpace(paths.ngram, paths.log2_dimensions, paths.word_bits)
        self._groups = PathGroups(paths.similarity, self._space.dimensions)
        self._group_of = array("I")
        self._examples: list[str] = []
        self._pages = array("I")
        self._means = array("d")
        self._answered = 0
        self._learning = True

    def add(self, number: int, link: Link, source: int) -> float:
        """Find the group of a new link; the start page founds one of its own."""
        group = self._groups.join(self._space.vector(link.tag_path))
        if group == len(self._means):
            self._examples.append(" > ".join(link.tag_path) or "the start page")
            self._pages.append(0)
            self._means.append(0.0)
        self._group_of.append(group)
        return self.value(number, link.url)

    def redirect(self, number: int, url: str, source: int) -> float:
        """Keep the group of the link that was redirected."""
        self._group_of.append(self._group_of[source])
        return self.value(number, url)

    def observe(self, number: int, url: str, outcome: Outcome) -> float | None:
        """Credit a page's targets to its group, while it is learning."""
        if not self._learning or isinstance(outcome, Refused):
            return None
        self._answered += 1
        if not isinstance(outcome, Page):
            return None
        group, benefit = self._group_of[number], self._benefit(url)
        self._pages[group] += 1
        self._means[group] += (benefit - self._means[group]) / self._pages[group]
        return benefit

    def needs_revaluing(self) -> bool:
        """Stop learning, and then revalue, after the first phase."""
        if not self._learning or self._answered < self._warm_up:
            return False
        self._learning = False
        return True

    def value(self, number: int, url: str) -> float:
        """Return the mean of the link's group; 0 while it is learning."""
        return 0.0 if self._learning else self._means[self._group_of[number]]

    def arm(self, number: int) -> int | None:
        """Name the link's group."""
        return self._group_of[number]

    def label(self, arm: int) -> str:
        """Show the path of the link that founded the group."""
        return self._examples[arm]

    def _benefit(self, url: str) -> float:
        number = self._truth.number_of.get(url)
        if number is None:
            return 0.0
        kinds = self._truth.kinds
        return float(sum(kinds[child] is Kind.TARGET for child in self._truth.children[number].tolist()))

    def save(self) -> State:
        """Return the groups and what they are worth; the truth is not saved."""
        return {
            **self._space.save(),
            **self._groups.save(),
            "group_of": np.array(self._group_of, np.uint32),
            "group_examples": list(self._examples),
            "group_pages": np.array(self._pages, np.uint32),
            "group_means": np.array(self._means, np.float64),
            "tp_off_counters": [self._answered, self._learning],
        }

    def load(self, state: State) -> None:
        self._space.load(state)
        # The start pages founded groups of their own here, which the saved ones hold too.
        self._groups = PathGroups(self._groups.threshold, self._space.dimensions)
        self._groups.load(state)
        self._group_of = array("I", state["group_of"].tobytes())
        self._examples = list(state["group_examples"])
        self._pages = array("I", state["group_pages"].tobytes())
        self._means = array("d", state["group_means"].tobytes())
        self._answered, self._learning = state["tp_off_counters"]


def tp_off(
    start_urls: Sequence[str], truth: SiteTruth, settings: TpOffSettings | None = None
) -> BestFirstStrategy:
    """Crawl by what groups of tag paths were worth in a first phase that knows the truth (TP-OFF)."""
    return BestFirstStrategy(start_urls, GroupBenefits(truth, settings or TpOffSettings()))
