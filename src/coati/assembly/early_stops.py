"""The rules that end a crawl early, by name."""

from __future__ import annotations

from coati.errors import unknown_name
from coati.strategies.stopping.early_stop import EarlyStop, PaperEarlyStop
from coati.strategies.stopping.stop_when_dry import StopWhenDry, floor_of

EARLY_STOPS = {
    "off": "never",
    "dry": "our own rule: when few targets are left to find",
    "paper": "the rule of the EDBT 2026 paper; cannot fire before 15,000 requests",
}


def build_early_stop(name: str) -> EarlyStop | None:
    """Build an early-stopping rule by its name; None for "off"."""
    if name not in EARLY_STOPS:
        raise unknown_name("early stop", name, EARLY_STOPS)
    if name == "dry":
        return StopWhenDry()
    return PaperEarlyStop() if name == "paper" else None


def stop_rule(level: str) -> StopWhenDry | None:
    """Build the rule that ends a live crawl, by its level; None for "off"."""
    floor = floor_of(level)
    return None if floor is None else StopWhenDry(floor)
