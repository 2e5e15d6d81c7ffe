"""SEARCH ENGINE, the simplest baseline of the DSDD paper: ask for the topic and "data", check all results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coati.strategies.discovery.actions import Action
from coati.strategies.discovery.dsdd import Dsdd
from coati.strategies.discovery.tasks import Stage, Task
from coati.web.queries import Query
from coati.web.urls import is_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.strategies.discovery.dsdd import UserWishes
    from coati.strategies.discovery.settings import DiscoverySettings
    from coati.strategies.discovery.start_model import StartModel

# As far as engines let one turn the pages of results.
_RESULTS, _RESULT_PAGES = 1000, 20


class SearchEngineOnly(Dsdd):
    """Checks what two queries find: "<topic> data" and "<topic> datasets"."""

    def __init__(
        self,
        start_urls: Sequence[str],
        settings: DiscoverySettings,
        start_model: StartModel,
        wishes: UserWishes,
    ) -> None:
        many = replace(settings, results_per_query=_RESULTS, result_pages=_RESULT_PAGES)
        super().__init__([url for url in start_urls if not is_query(url)], many, start_model, wishes=wishes)

    def _begin(self, start_urls: Sequence[str]) -> None:
        arm = int(Action.KEYWORDS)
        for url in start_urls:
            self._want(Task(url, Stage.CANDIDATE, arm=arm))
        if self._settings.keyword_engines:
            engine = self._settings.keyword_engines[0]
            for word in ("data", "datasets"):
                query = Query(engine, f"{self._settings.words} {word}")
                self._want(Task(query.address, Stage.QUERY, arm=arm))

    def _looks_relevant(self, margin: float) -> bool:
        return True

    def _plan_next(self) -> bool:
        self._end_pull()
        return False
