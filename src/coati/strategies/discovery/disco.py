"""DISCO's bandit (Pham et al., 2019), as the DSDD paper compared itself with it.

It begins with the verified results of the first query. From then on nothing is classified or verified: pages
are ranked by how much they belong to the same set as the seeds, an arm is paid for results on new hosts by
their rank, and the best pages are the next seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.learners.bayesian_sets import bayesian_sets
from coati.strategies.discovery.dsdd import Dsdd
from coati.strategies.discovery.site_checks import CheckState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Outcome, Settlement
    from coati.strategies.discovery.analysed_pages import AnalysedPage
    from coati.strategies.discovery.tasks import Task
    from coati.strategies.state import State


class Disco(Dsdd):
    """Ranks what its actions find by Bayesian Sets."""

    _pulls = 0
    _settled = 0

    @property
    def verifies(self) -> bool:
        """Whether what it finds now is verified: the results of the first query alone."""
        return self._pulls == 0

    def _candidate_answered(self, task: Task, request_id: int, outcome: Outcome) -> Sequence[Settlement]:
        settled = super()._candidate_answered(task, request_id, outcome)
        number = self._pages.number_of(task.url)
        if number is not None and not self.verifies:
            # A find, which is not verified.
            self._checks.begin(self._pages[number].site, self._pages[number].arm).pages.append(number)
        return settled

    def _looks_relevant(self, margin: float) -> bool:
        return self._pulls == 0 and super()._looks_relevant(margin)

    def _worth(self, page: AnalysedPage) -> float:
        # Known at the end of the pull, when all results are ranked.
        return float(page.relevant) if self._pulls == 0 else 0.0

    def _end_pull(self) -> None:
        new = range(self._settled, len(self._pages))
        if self._pulls and new:
            sites_before = {self._pages[number].site for number in range(self._settled)}
            ranked = self._by_likeness(list(new))
            for rank, number in enumerate(ranked):
                page = self._pages[number]
                if page.site not in sites_before:
                    sites_before.add(page.site)
                    self._rewards[page.arm] = self._rewards.get(page.arm, 0.0) + 1 - rank / len(ranked)
        self._settled = len(self._pages)
        self._pulls += 1
        super()._end_pull()

    def _rank_seeds(self) -> list[int]:
        verified = [number for check in self._checks.in_state(CheckState.VERIFIED) for number in check.pages]
        known = set(verified)
        others = [number for number in range(len(self._pages)) if number not in known]
        return [*verified, *self._by_likeness(others)]

    def _by_likeness(self, numbers: list[int]) -> list[int]:
        examples = [number for check in self._checks.in_state(CheckState.VERIFIED) for number in check.pages]
        seeds = [self._pages[number].words for number in examples[: self._settings.seeds_per_pull]]
        scores = bayesian_sets(seeds, [self._pages[number].words for number in numbers])
        order = sorted(range(len(numbers)), key=lambda place: -scores[place])
        return [numbers[place] for place in order]

    def save(self) -> State:
        return {**super().save(), "disco": [self._pulls, self._settled]}

    def load(self, state: State) -> None:
        super().load(state)
        self._pulls, self._settled = state["disco"]
