"""From the settings of a run to the plan that the live driver carries out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coati.assembly import (
    Need,
    StrategySettings,
    build_goal,
    build_shortcuts,
    build_strategy,
    strategy_row,
)
from coati.live.plan import CrawlPlan
from coati.runs.snapshots import SnapshotForm
from coati.search.web_archives import HINTS
from coati.settings.discovery import providers_of, with_discovery
from coati.settings.limits import trap_settings
from coati.settings.live_settings import live_settings
from coati.strategies.state import pack, unpack
from coati.web.facts import EXTRACTORS
from coati.web.likely_extensions import likely_extensions
from coati.web.markup.goals import all_of
from coati.web.media import parse_types
from coati.web.rules import Scope
from coati.web.urls import host_of

if TYPE_CHECKING:
    from coati.live.plan import OnFetched
    from coati.live.progress import OnEvent, OnProgress
    from coati.live.read_through import ArchiveLike
    from coati.live.stop_signal import StopSignal
    from coati.runs.store import RunStore
    from coati.settings.run_settings import RunSettings
    from coati.strategies.stopping.early_stop import EarlyStop
    from coati.strategies.strategy import Strategy

# Live, a HEAD may be answered by an error where a GET would not be; the paper's own way takes that for the
# link's class.
_LIVE = StrategySettings(robust_probes=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlResources:
    """What a crawl works with beside its settings; everything may be left out."""

    store: RunStore | None = None
    archive: ArchiveLike | None = None
    early_stop: EarlyStop | None = None
    on_progress: OnProgress | None = None
    on_event: OnEvent | None = None
    on_fetched: OnFetched | None = None
    stop: StopSignal | None = None


def new_strategy(settings: RunSettings) -> Strategy:
    """Build the strategy as it stands before its first choice."""
    return build_strategy(
        settings.strategy, settings.start_urls, settings.seed, settings=_parameters(settings)
    )


def require_buildable(settings: RunSettings) -> None:
    """Raise `CoatiError` if something that the settings name cannot be built; nothing is stored or asked."""
    live_settings(settings)
    new_strategy(settings)
    build_shortcuts(settings.shortcuts, settings.strategy, settings.profile)
    for text in settings.goal:
        build_goal(text)


def snapshot_form(settings: RunSettings) -> SnapshotForm:
    """Say what a snapshot of this run's strategy belongs to."""
    kept = strategy_row(settings.strategy).settings_kept(_parameters(settings))
    belongs = {"urls": settings.start_urls, "seed": settings.seed, "parameters": kept}
    return SnapshotForm(settings.strategy, belongs, pack, unpack)


def _parameters(settings: RunSettings) -> StrategySettings:
    known = replace(_LIVE, likely_extensions=likely_extensions(parse_types(settings.types)))
    return with_discovery(known, settings) if settings.topic else known


def crawl_plan(settings: RunSettings, resources: CrawlResources) -> CrawlPlan:
    """Plan a crawl; raises `coati.errors.ConfigError` for settings that no crawl could keep to."""
    row = strategy_row(settings.strategy)
    goals = tuple(build_goal(text) for text in settings.goal)
    facts = dict.fromkeys((*row.extractors, *(name for goal in goals for name in goal.extractors)))
    return CrawlPlan(
        new_strategy=lambda: new_strategy(settings),
        rules=settings.rules,
        types=parse_types(settings.types),
        settings=live_settings(settings),
        traps=trap_settings(settings.limits),
        budget=settings.budget,
        store=resources.store,
        form=snapshot_form(settings),
        archive=resources.archive,
        answer_from_archive=settings.archive_mode == "read-through",
        archive_max_age_seconds=settings.archive_max_age,
        offline=settings.offline,
        out_links=Need.OUT_LINKS in row.needs,
        listed_links=Need.LISTED_LINKS in row.needs,
        extractors={name: EXTRACTORS[name] for name in facts},
        goal=all_of(goals) if goals else None,
        host_budget=settings.host_budget,
        early_stop=resources.early_stop,
        on_progress=resources.on_progress,
        on_event=resources.on_event,
        on_fetched=resources.on_fetched,
        stop=resources.stop,
        one_site=settings.rules.scope is not Scope.ANY and len({host_of(url) for url in settings.urls}) == 1,
        more_start_urls=settings.more_start_urls,
        providers=(*(HINTS[name]() for name in settings.hint_names), *providers_of(settings)),
        shortcuts=build_shortcuts(settings.shortcuts, settings.strategy, settings.profile),
    )
