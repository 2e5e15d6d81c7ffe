"""Plans that request again what failed in a run (decision 19)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from coati.live.plan import CrawlPlan
from coati.runs.failed_urls import next_retry, retries
from coati.runs.snapshots import SnapshotForm
from coati.settings.crawl_plan import CrawlResources, crawl_plan, new_strategy
from coati.settings.run_settings import RunSettings


def retry_plans(settings: RunSettings, around: CrawlResources) -> Iterator[CrawlPlan]:
    """Plan what comes before the run's own strategy: retries that were begun, and a new one if it is wanted.

    Carry each out before requesting the next: what it is depends on what came before.
    """
    if around.store is None:
        return
    log = around.store.log.connection
    for name, urls in retries(log):
        yield _plan(settings, around, name, urls)
    if settings.retry_failed:
        name, urls = next_retry(log)
        if urls:
            yield _plan(settings, around, name, urls)


def _plan(settings: RunSettings, around: CrawlResources, name: str, urls: Sequence[str]) -> CrawlPlan:
    begun = replace(settings, urls=tuple(urls), sitemaps=False)
    # Whether the run has run dry says nothing about what could not be fetched.
    return replace(
        crawl_plan(settings, replace(around, early_stop=None)),
        new_strategy=lambda: new_strategy(begun),
        strategy=name,
        form=SnapshotForm(f"{name} of {settings.strategy}", {"urls": begun.urls}),
    )
