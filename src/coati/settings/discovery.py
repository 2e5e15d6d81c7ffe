"""From the settings of a search for repositories to its engines and the parameters of its strategy."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from coati.errors import ConfigError
from coati.search.registry import HOW_TO_GET_ONE, EngineChoice, provider_of
from coati.settings.start_model_file import packaged_model, read_start_model
from coati.strategies.discovery.actions import Action, first_query
from coati.strategies.discovery.prospect_settings import OffTopic, ProspectSettings
from coati.strategies.discovery.settings import DiscoverySettings, UserJudgements
from coati.strategies.stopping.stop_when_dry import OFF
from coati.web.queries import Ability
from coati.web.rules import Scope
from coati.web.urls import normalise, with_scheme

if TYPE_CHECKING:
    from coati.assembly import StrategySettings
    from coati.search.provider import AnyProvider
    from coati.settings.run_settings import RunSettings
    from coati.strategies.discovery.start_model import StartModel

# What measured best (experiments/cikm2021).
DEFAULT_SEARCH = "prospect"


@lru_cache(8)
def _providers(search: tuple[str, ...], choice: EngineChoice) -> tuple[AnyProvider, ...]:
    return tuple(provider_of(text, choice) for text in search)


def providers_of(settings: RunSettings) -> tuple[AnyProvider, ...]:
    """Make the search engines of a run; raises `ConfigError` where one cannot be."""
    return _providers(settings.search, EngineChoice(settings.language, settings.max_queries))


def discovery_settings(settings: RunSettings) -> DiscoverySettings:
    """Say what the strategy needs to know: the topic, and what each engine can do."""
    providers = providers_of(settings)

    def able(ability: Ability) -> tuple[str, ...]:
        return tuple(provider.name for provider in providers if ability in provider.abilities)

    return DiscoverySettings(
        topic=settings.topic,
        keyword_engines=able(Ability.KEYWORDS),
        related_engines=able(Ability.RELATED),
        backlink_engines=able(Ability.BACKLINKS),
        language=settings.language,
        crawl_after=settings.crawl_after,
    )


def with_discovery(parameters: StrategySettings, settings: RunSettings) -> StrategySettings:
    """Add what a search for repositories needs to the parameters of strategies."""
    return replace(
        parameters,
        discovery=discovery_settings(settings),
        start_model=_start_model(settings.start_model),
        wishes=UserJudgements(judged_urls(settings), settings.max_queries),
        prospect=ProspectSettings(OffTopic(settings.off_topic)),
        patience=settings.patience or None,
    )


def judged_urls(settings: RunSettings) -> tuple[tuple[str, Action], ...]:
    """Return what the user says of URLs; raises `ConfigError` for what is not a URL."""
    said = [(url, Action.ACCEPTED) for url in settings.accept]
    said += [(url, Action.REJECTED) for url in settings.reject]
    judged: dict[str, Action] = {}
    for text, action in said:
        url = normalise(text) or (normalise(with_scheme(text)) if "." in text else None)
        if url is None:
            raise ConfigError(f"not a URL: {text!r}; --accept and --reject take the address of a page")
        if judged.setdefault(url, action) is not action:
            raise ConfigError(f"{url} is both accepted and rejected: give only one")
    return tuple(judged.items())


@lru_cache(2)
def _start_model(path: str) -> StartModel:
    return read_start_model(Path(path)) if path else packaged_model()


def search_settings(settings: RunSettings) -> RunSettings:
    """Complete the settings of a search: where it begins, with any host in scope, and without keeping files.

    Raises `ConfigError` where the topic or an engine is missing.
    """
    if not settings.topic:
        raise ConfigError("no topic given: name it in a few words")
    if not settings.search:
        raise ConfigError(HOW_TO_GET_ONE)
    judged_urls(settings)
    known = discovery_settings(settings)
    if not known.keyword_engines:
        raise ConfigError(f"{', '.join(settings.search)} accepts no keywords, which a search needs to begin")
    return replace(settings, urls=(first_query(known).address,), scope=Scope.ANY.value, stop_when_dry=OFF)
