"""What others are compared with: crawls that learn nothing, and crawls that know the site."""

from coati.strategies.baselines.simple_orders import (
    FrontierStrategy,
    breadth_first,
    depth_first,
    uniformly_random,
)

__all__ = ["FrontierStrategy", "breadth_first", "depth_first", "uniformly_random"]
