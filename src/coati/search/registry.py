"""Search engines by name, as users write them: ``local=index/``, ``searxng=URL``, ``my_module:MyEngine``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from coati.errors import ConfigError, unknown_name
from coati.named_objects import made_at, require_members
from coati.search.duckduckgo import DuckDuckGo
from coati.search.host_graph import HostGraph
from coati.search.key_engines import Brave, GoogleProgrammable, Mojeek
from coati.search.local_index import LocalIndex
from coati.search.provider import AnyProvider
from coati.search.searxng import SearxNg


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """What a user says about all engines: the language of results, and how many queries each may get."""

    language: str = "en"
    max_queries: int | None = None


@dataclass(frozen=True, slots=True)
class EngineRow:
    """What is known of an engine by name.

    ``build`` gets what follows the equals sign; ``value`` says what that is, empty where there is none.
    ``price`` is the price of a thousand queries, in words, for a paid engine.
    """

    summary: str
    build: Callable[[str, EngineChoice], AnyProvider]
    value: str = ""
    price: str = ""


_BY_PLAN = "each query is billed by your plan"

ENGINES: Mapping[str, EngineRow] = {
    "local": EngineRow(
        "an index of your own archives (`coati search index`); no key, no network",
        lambda value, choice: LocalIndex(Path(value), choice.max_queries),
        "INDEX",
    ),
    "searxng": EngineRow(
        "a SearXNG server; no key",
        lambda value, choice: SearxNg(value, choice.language, choice.max_queries),
        "URL",
    ),
    "brave": EngineRow(
        "Brave Search; key in BRAVE_API_KEY",
        lambda _, choice: Brave(choice.language, choice.max_queries),
        price=_BY_PLAN,
    ),
    "google": EngineRow(
        "Google Programmable Search; key in GOOGLE_API_KEY, engine in GOOGLE_CSE_ID",
        lambda _, choice: GoogleProgrammable(choice.language, choice.max_queries),
        price="100 queries per day are free, others are billed to your account",
    ),
    "mojeek": EngineRow(
        "Mojeek; key in MOJEEK_API_KEY",
        lambda _, choice: Mojeek(choice.language, choice.max_queries),
        price=_BY_PLAN,
    ),
    "duckduckgo": EngineRow(
        "DuckDuckGo through the library ddgs (the extra duckduckgo); no key",
        lambda _, choice: DuckDuckGo(choice.language, choice.max_queries),
    ),
    "commoncrawl": EngineRow(
        "backlinks between hosts, from an extract of a web graph: two host names per line",
        lambda value, choice: HostGraph(Path(value), choice.max_queries),
        "FILE",
    ),
}

HOW_TO_GET_ONE = (
    "no search engine is named. Without a key and a network: `coati search index ARCHIVE... --out index/`,"
    " then --search local=index/. With a SearXNG server of yours: --search searxng=http://localhost:8888."
    " `coati search engines` lists them all"
)


def provider_of(text: str, choice: EngineChoice) -> AnyProvider:
    """Make an engine from what the user wrote; raise `ConfigError` that says what is wrong."""
    name, equals, value = text.strip().partition("=")
    if ":" in name and not equals:
        return _by_path(name)
    if name not in ENGINES:
        raise unknown_name("search engine", name, ENGINES)
    row = ENGINES[name]
    if row.value and not value:
        raise ConfigError(f"{name} needs {row.value}: write {name}={row.value}")
    if value and not row.value:
        raise ConfigError(f"{name} takes no value: its key comes from the environment, never from here")
    return row.build(value, choice)


def _by_path(path: str) -> AnyProvider:
    made: AnyProvider = made_at("search engine", path)
    require_members(made, "search engine", path, ("name", "abilities", "delay_seconds", "max_queries"))
    return made
