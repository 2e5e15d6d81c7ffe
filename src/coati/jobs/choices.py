"""What can be chosen by name: strategies, presets of target types, and search engines."""

from __future__ import annotations

from typing import NamedTuple

from coati.assembly import DISCOVERY, REGISTRY
from coati.search.registry import ENGINES
from coati.web.media import PRESETS, TargetTypes


class StrategySummary(NamedTuple):
    """A strategy; ``command`` is the one that it is for: crawl, discover, or replay alone."""

    name: str
    summary: str
    replay_only: bool
    command: str


class EngineSummary(NamedTuple):
    """A search engine; ``written`` is how to name it, ``price`` what a thousand queries cost, if anything."""

    name: str
    written: str
    summary: str
    price: str


def list_strategies() -> list[StrategySummary]:
    """List the strategies.

    >>> next(choice for choice in list_strategies() if choice.name == "bfs").command
    'crawl'
    """
    return [
        StrategySummary(
            name,
            row.summary,
            row.replay_only,
            "discover" if name in DISCOVERY else "replay" if row.replay_only else "crawl",
        )
        for name, row in {**REGISTRY, **DISCOVERY}.items()
    ]


def list_types() -> list[TargetTypes]:
    """List the presets of target types, each with its media types and extensions.

    >>> [preset.name for preset in list_types()][:2]
    ['data', 'data-extended']
    """
    return list(PRESETS.values())


def list_engines() -> list[EngineSummary]:
    """List the search engines for `coati.discover`.

    >>> [choice.written for choice in list_engines() if choice.name == "local"]
    ['local=INDEX']
    """
    return [
        EngineSummary(name, f"{name}={row.value}" if row.value else name, row.summary, row.price)
        for name, row in ENGINES.items()
    ]
