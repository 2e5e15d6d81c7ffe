"""From the name of a strategy, or from the path of one's own, to a strategy."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from coati.assembly.discovery import DISCOVERY
from coati.assembly.own_rows import checked_row, checked_strategy
from coati.assembly.registry import REGISTRY
from coati.assembly.rows import StrategyInputs, StrategyRow
from coati.assembly.strategy_settings import StrategySettings
from coati.errors import ConfigError, UsageError, unknown_name
from coati.named_objects import made_by, object_at

if TYPE_CHECKING:
    from coati.assembly.rows import LinksOf
    from coati.strategies.revisits.truth import PageTruth
    from coati.strategies.strategy import Strategy
    from coati.strategies.tres.tres import TresExamples
    from coati.strategies.truth import SiteTruth


def strategy_row(name: str) -> StrategyRow:
    """Look a strategy up by its name, or by its path (``my_module:MyStrategy``).

    A path leads to a `StrategyRow`, or to a function that makes a strategy of the start URLs and a seed.
    """
    if ":" in name:
        return _row_by_path(name)
    if name in DISCOVERY:
        return DISCOVERY[name]
    if name not in REGISTRY:
        raise unknown_strategy(name, {**REGISTRY, **DISCOVERY})
    return REGISTRY[name]


def unknown_strategy(name: str, known: Iterable[str], what: str = "strategy") -> ConfigError:
    """Build the error for a name that nobody knows; with a dot, it was meant as the path of one's own.

    >>> unknown_strategy("mine.Shallow", ["bfs"]).args
    ("unknown strategy 'mine.Shallow'; if it is your own, write mine:Shallow",)
    """
    module, _, attribute = name.rpartition(".")
    if module and attribute:
        return ConfigError(f"unknown {what} {name!r}; if it is your own, write {module}:{attribute}")
    return unknown_name(what, name, known)


def _row_by_path(path: str) -> StrategyRow:
    made = object_at("strategy", path)
    module_name, _, attribute = path.partition(":")
    if isinstance(made, StrategyRow):
        return checked_row(made, path)
    if not callable(made):
        raise ConfigError(f"strategy {path!r}: {attribute} must be a class or a function (start_urls, seed)")

    def build(given: StrategyInputs) -> Strategy:
        takes = "the start URLs and a seed"
        return checked_strategy(
            made_by(made, "strategy", path, given.start_urls, given.seed, takes=takes), path
        )

    return StrategyRow((inspect.getdoc(made) or path).partition("\n")[0], build, (module_name,))


def build_strategy(  # noqa: PLR0913, PLR0917 - what rows may need
    name: str,
    start_urls: Sequence[str],
    seed: int = 0,
    truth: SiteTruth | None = None,
    settings: StrategySettings | None = None,
    examples: TresExamples | None = None,
    page_truth: PageTruth | None = None,
    links_of: LinksOf | None = None,
) -> Strategy:
    """Build a strategy by its name, for a crawl that begins at ``start_urls``, or for a watch of these.

    ``truth`` and ``links_of``, ``examples`` and ``page_truth`` are for those whose row needs them.
    """
    if isinstance(start_urls, str):
        raise TypeError("start_urls must be a list: write [url]")
    row = strategy_row(name)
    if row.replay_only and truth is None and page_truth is None:
        raise UsageError(f"{name} must know the site beforehand: it works only in replay")
    given = StrategyInputs(
        tuple(start_urls),
        seed,
        settings or StrategySettings(),
        truth,
        examples,
        page_truth,
        links_of=links_of,
    )
    return row.build(given)
