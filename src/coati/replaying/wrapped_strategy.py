"""A strategy that does what another does: for those that watch it, and note or time something."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Hosts, Later, Outcome, Request, Settlement
    from coati.strategies.state import State
    from coati.strategies.strategy import Strategy


class WrappedStrategy:
    """Passes everything on to a strategy (`coati.strategies.strategy.Strategy`)."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Let the strategy choose."""
        return self._strategy.choose(now, hosts)

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Let the strategy observe."""
        return self._strategy.observe(request_id, outcome, now)

    def redo(self, request: Request, now: float) -> None:
        """Let the strategy make a logged choice."""
        self._strategy.redo(request, now)

    def save(self) -> State:
        """Return the state of the strategy."""
        return self._strategy.save()

    def load(self, state: State) -> None:
        """Let the strategy take over a state."""
        self._strategy.load(state)

    def arm_label(self, arm: int) -> str:
        """Return the strategy's label of an arm."""
        return self._strategy.arm_label(arm)
