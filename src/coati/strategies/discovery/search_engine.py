"""SEARCH ENGINE, the simplest baseline of the DSDD paper: search the topic and "data", check all results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coati.model import Page
from coati.strategies.discovery.actions import Action
from coati.strategies.discovery.dsdd import Dsdd
from coati.strategies.discovery.tasks import Stage, Task
from coati.web.queries import Query, parse_query
from coati.web.urls import is_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Outcome, Settlement
    from coati.strategies.discovery.settings import DiscoverySettings, UserJudgements
    from coati.strategies.discovery.start_model import StartModel
    from coati.strategies.state import State

# Engines give this many pages of results.
_RESULT_PAGES = 20


class SearchEngineOnly(Dsdd):
    """Checks what two queries find: "<topic> data" and "<topic> datasets"."""

    def __init__(
        self,
        start_urls: Sequence[str],
        settings: DiscoverySettings,
        start_model: StartModel,
        wishes: UserJudgements,
    ) -> None:
        self._answered_queries: list[str] = []
        super().__init__(
            [url for url in start_urls if not is_query(url)], settings, start_model, wishes=wishes
        )

    def _begin(self, start_urls: Sequence[str]) -> None:
        arm = int(Action.KEYWORDS)
        for url in start_urls:
            self._want(Task(url, Stage.CANDIDATE, arm=arm))
        if self._settings.keyword_engines:
            engine = self._settings.keyword_engines[0]
            for word in ("data", "datasets"):
                query = Query(engine, f"{self._settings.topic} {word}")
                self._want(Task(query.address, Stage.QUERY, arm=arm))

    def _looks_relevant(self, margin: float) -> bool:
        return True

    def _query_answered(self, task: Task, outcome: Outcome) -> Sequence[Settlement]:
        """Check the results; the next page of them is requested when that is done."""
        if isinstance(outcome, Page):
            hits = self._known.on_page(outcome)
            for url in hits:
                self._propose(url, task)
            if hits:
                self._answered_queries.append(task.url)
        return ()

    def _plan_next(self) -> bool:
        self._end_pull()
        answered, self._answered_queries = self._answered_queries, []
        for query in map(parse_query, answered):
            if query.page < _RESULT_PAGES:
                address = replace(query, page=query.page + 1).address
                self._want(Task(address, Stage.QUERY, arm=int(Action.KEYWORDS)))
        return bool(self._queue)

    def save(self) -> State:
        return {**super().save(), "answered_queries": self._answered_queries}

    def load(self, state: State) -> None:
        super().load(state)
        self._answered_queries = list(state["answered_queries"])
