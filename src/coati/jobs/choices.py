"""What can be chosen by name: strategies, presets of target types, and search engines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from coati.assembly import DISCOVERY, REGISTRY, Need, StrategyRow, StrategySettings, strategy_row
from coati.jobs.arguments import checked_arguments, texts_of
from coati.search.registry import ENGINES
from coati.web.media import PRESETS, TargetTypes


class StrategySummary(NamedTuple):
    """A strategy; ``command`` is the one that it is for: crawl, watch, discover, or replay alone.

    ``seeded`` says whether a seed changes what it does, ``needs`` what it is given beyond the new links of
    pages, ``traps`` which URLs it is not shown because they look like traps ("ours", "published" or "off").
    ``settings`` are those that it reads, with their defaults, as an experiment file may set them.
    """

    name: str
    summary: str
    replay_only: bool
    command: str
    seeded: bool
    needs: tuple[str, ...]
    traps: str
    settings: Mapping[str, object]


class EngineSummary(NamedTuple):
    """A search engine; ``written`` is how to name it, ``price`` what a thousand queries cost, if anything."""

    name: str
    written: str
    summary: str
    price: str


@checked_arguments
def list_strategies(names: str | Iterable[str] = ()) -> list[StrategySummary]:
    """List the strategies, or those that are named; yours are named by path (``my_module:MyStrategy``).

    >>> [(choice.command, choice.seeded) for choice in list_strategies("bfs")]
    [('crawl', False)]
    """
    return [_summary(name) for name in texts_of("names", names) or (*REGISTRY, *DISCOVERY)]


def _summary(name: str) -> StrategySummary:
    row = strategy_row(name)
    return StrategySummary(
        name=name,
        summary=row.summary,
        replay_only=row.replay_only,
        command=_command(name, row),
        seeded=row.seeded,
        needs=tuple(sorted(need.value for need in row.needs)),
        traps=row.traps.value,
        settings=row.settings_read(StrategySettings()),
    )


def _command(name: str, row: StrategyRow) -> str:
    if name in DISCOVERY:
        return "discover"
    if row.replay_only:
        return "replay"
    return "watch" if Need.HISTORY in row.needs else "crawl"


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
