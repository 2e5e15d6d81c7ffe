"""From names to ready objects: the only place that knows every strategy."""

from coati.assembly.discovery import DISCOVERY
from coati.assembly.early_stops import EARLY_STOPS, build_early_stop, stop_rule
from coati.assembly.goals import build_goal
from coati.assembly.registry import LIVE_STRATEGIES, REGISTRY, SITE_STRATEGIES
from coati.assembly.rows import Need, StrategyInputs, StrategyRow
from coati.assembly.shortcuts import SHORTCUTS, build_shortcuts
from coati.assembly.strategies import build_strategy, strategy_row, unknown_strategy
from coati.assembly.strategy_settings import StrategySettings

__all__ = [
    "DISCOVERY",
    "EARLY_STOPS",
    "LIVE_STRATEGIES",
    "REGISTRY",
    "SHORTCUTS",
    "SITE_STRATEGIES",
    "Need",
    "StrategyInputs",
    "StrategyRow",
    "StrategySettings",
    "build_early_stop",
    "build_goal",
    "build_shortcuts",
    "build_strategy",
    "stop_rule",
    "strategy_row",
    "unknown_strategy",
]
