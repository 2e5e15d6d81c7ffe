"""Runs of searches for repositories, over generated webs with a search engine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coati.assembly import build_strategy
from coati.errors import ConfigError
from coati.experiments.sites import OpenTopic, SiteFacts
from coati.experiments.trials import Trial, TrialResult
from coati.replaying.searches import Search
from coati.stop_reasons import StopReason
from coati.strategies.discovery.searcher import Searcher
from coati.strategies.discovery.start_model import model_of_examples

if TYPE_CHECKING:
    from coati.experiments.site_specs import SearchedTopic
    from coati.experiments.workers import WorkerCache
    from coati.replaying.searched_web import SearchedWeb

_DECIDING = ("coati.testing.paper_topics", "coati.replaying.searches")


def describe_topic(searched: SearchedTopic, web: SearchedWeb) -> SiteFacts:
    """Sum up the web that a topic is searched for in; its targets are the repositories of the topic."""
    counts = web.hosts, web.repositories
    return SiteFacts.without_archive(searched, _DECIDING, counts, f"{web.hosts:,} sites")


def run_search_trial(
    cache: WorkerCache, trial: Trial, topic: SearchedTopic, open_topic: OpenTopic
) -> TrialResult:
    """Search for the repositories of a topic."""
    place = (topic, trial.seed)
    if cache.get("searched for") != place:
        cache.clear()
        cache.update({"searched for": place, "web": open_topic(topic, trial.seed or 0)})
    return _searched(trial, topic, cache["web"])


def _searched(trial: Trial, topic: SearchedTopic, web: SearchedWeb) -> TrialResult:
    engines = (web.engine,)
    given = trial.variant.settings
    discovery = replace(
        given.discovery,
        topic=web.topic_words,
        keyword_engines=engines,
        related_engines=engines,
        backlink_engines=engines,
        seeds_per_pull=topic.batch,
        terms_per_pull=topic.batch,
    )
    settings = replace(given, discovery=discovery, start_model=model_of_examples(web.examples()))
    searcher = build_strategy(trial.variant.strategy, [], trial.seed or 0, settings=settings)
    if not isinstance(searcher, Searcher):
        raise ConfigError(f"{trial.variant.strategy} does not search for repositories")
    budget = trial.budget.max_requests
    if budget is None:
        raise ConfigError("a search for repositories needs a budget: max_requests, in pages")
    search = Search(web, searcher, discovery)
    search.run(budget)
    stop = StopReason.BUDGET_REQUESTS if search.pages >= budget else StopReason.FINISHED
    found = list(search.found.values())
    result = TrialResult.of(trial, stop.value, search.values(budget), found)
    return replace(result, repositories=search.on_topic)
