from __future__ import annotations

import math

import pytest

from coati.budget import Budget, Limit
from coati.errors import ConfigError


def test_without_limits_nothing_is_ever_spent() -> None:
    assert Budget().spent(10**12, 10**18, 1e12, 10**9) is None


@pytest.mark.parametrize(
    ("budget", "limit"),
    [
        (Budget(max_requests=5), Limit.REQUESTS),
        (Budget(max_bytes=50), Limit.BYTES),
        (Budget(max_seconds=0.5), Limit.SECONDS),
        (Budget(max_targets=3), Limit.TARGETS),
    ],
)
def test_each_limit_is_reached_by_its_own_count(budget: Budget, limit: Limit) -> None:
    assert budget.spent(requests=4, size_bytes=49, seconds=0.49, targets=2) is None
    assert budget.spent(requests=5, size_bytes=50, seconds=0.5, targets=3) is limit
    assert budget.spent(requests=6, size_bytes=51, seconds=0.6, targets=4) is limit


@pytest.mark.parametrize("value", [0, -1, -math.inf, math.nan])
@pytest.mark.parametrize("name", ["max_requests", "max_bytes", "max_seconds", "max_targets"])
def test_a_limit_that_allows_nothing_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=name.replace("_", " ") + ".*above zero"):
        Budget(**{name: value})  # type: ignore[arg-type] # whatever a run file may hold
