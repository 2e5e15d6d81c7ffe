"""Asking a strategy without a driver: what most tests of strategies do, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.model import EVERY_HOST, Request

if TYPE_CHECKING:
    from coati.strategies.strategy import Strategy


def ask(strategy: Strategy, now: float = 0.0) -> Request | None:
    """Return the strategy's next request; None if there is none now."""
    answer = strategy.choose(now, EVERY_HOST)
    return answer if isinstance(answer, Request) else None


def must_ask(strategy: Strategy, now: float = 0.0) -> Request:
    """Return the strategy's next request, which must be there."""
    request = ask(strategy, now)
    assert request is not None
    return request
