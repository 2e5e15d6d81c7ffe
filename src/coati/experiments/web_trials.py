"""Runs over a web of many hosts: crawls, and classifiers without a crawl."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from coati.assembly import StrategyInputs, strategy_row
from coati.experiments.sites import OpenWeb, SiteFacts
from coati.experiments.trials import Trial, TrialResult
from coati.replaying.driver import replay
from coati.replaying.wrapped_strategy import WrappedStrategy
from coati.strategies.hosts.page_models import OnlineModel

if TYPE_CHECKING:
    from coati.experiments.site_specs import GeneratedWeb
    from coati.experiments.workers import WorkerCache
    from coati.model import Hosts, Later, Request
    from coati.replaying.web import Web
    from coati.strategies.strategy import Strategy

_GENERATOR = ("coati.testing.host_web",)


class TimedChoices(WrappedStrategy):
    """A strategy whose choices are timed."""

    def __init__(self, strategy: Strategy) -> None:
        super().__init__(strategy)
        self.seconds = 0.0

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Let the strategy choose."""
        begun = time.process_time()
        request = super().choose(now, hosts)
        self.seconds += time.process_time() - begun
        return request


def describe_web(site: GeneratedWeb, web: Web) -> SiteFacts:
    """Sum a web up."""
    scale, counts = f"{web.hosts:,} hosts, goal {site.goal}", (web.pages, web.relevant_pages())
    return SiteFacts.without_archive(site, _GENERATOR, counts, scale, start_url=web.start_urls[0])


def run_web_trial(cache: WorkerCache, trial: Trial, site: GeneratedWeb, open_web: OpenWeb) -> TrialResult:
    """Crawl a web, or judge its pages."""
    place = (site, trial.seed)
    if cache.get("web of") != place:
        cache.clear()
        cache.update({"web of": place, "web": open_web(site, trial.seed or 0)})
    return _classified(trial, cache["web"]) if trial.classify else _crawled(trial, cache["web"])


def _crawled(trial: Trial, web: Web) -> TrialResult:
    row = strategy_row(trial.variant.strategy)
    given = StrategyInputs(tuple(web.start_urls), trial.seed or 0, trial.variant.settings, labels=web)
    strategy = TimedChoices(row.build(given))
    run = replay(web, strategy, trial.budget)
    wanted = np.frombuffer(run.trace.targets, np.uint32)
    requests = max(1, len(run.trace))
    found = np.flatnonzero(np.diff(wanted, prepend=np.uint32(0))) + 1
    values: dict[str, float | None] = {
        "requests": len(run.trace),
        "targets": len(found),
        "relevant_share": len(found) / requests,
        "choice_ms": 1000 * strategy.seconds / requests,
        "cpu_seconds": round(run.cpu_seconds, 4),
        "cpu_ms_per_request": 1000 * run.cpu_seconds / requests,
    }
    return TrialResult.of(trial, run.stop, values, found)


def _classified(trial: Trial, web: Web) -> TrialResult:
    """Judge each page and learn from it then, as the paper's Table 1 does."""
    settings = trial.variant.settings.hosts
    settings.check()
    model = OnlineModel(settings.learner, settings.features, settings.batch)
    right = judged = 0
    begun = time.process_time()
    for page, relevant in list(web.balanced(trial.classify, trial.seed or 0)):
        right += (model.promise(page) > 0) == relevant
        model.learn(page, relevant=relevant)
        judged += 1
    seconds = time.process_time() - begun
    values: dict[str, float | None] = {
        "requests": judged,
        "accuracy": right / max(1, judged),
        "cpu_seconds": round(seconds, 4),
        "cpu_ms_per_request": 1000 * seconds / max(1, judged),
    }
    return TrialResult.of(trial, "all pages were judged", values)
