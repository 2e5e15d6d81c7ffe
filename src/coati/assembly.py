"""From names to ready objects: the only place that knows every strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.errors import unknown_name
from coati.strategies.baselines import breadth_first, depth_first, uniformly_random

if TYPE_CHECKING:
    from coati.strategies.strategy import Strategy

# What each name crawls by, for help texts and errors.
STRATEGIES = {
    "bfs": "breadth-first: links in the order of discovery",
    "dfs": "depth-first: the link found last goes first",
    "random": "any known link with the same probability",
}


def build_strategy(name: str, start_url: str, seed: int = 0) -> Strategy:
    """Build a strategy by its name, for a crawl that begins at ``start_url``."""
    if name == "bfs":
        return breadth_first(start_url)
    if name == "dfs":
        return depth_first(start_url)
    if name == "random":
        return uniformly_random(start_url, seed)
    raise unknown_name("strategy", name, STRATEGIES)
