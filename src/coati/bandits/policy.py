"""The contract of a policy: which arm to pull next. A policy knows nothing of the web.

Arms are the integers 0, 1, 2, ... in the order in which they appear; one may fall asleep and wake again. The
policy learns of it by a call, instead of getting all arms on every call: so a choice among thousands is
cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Choice(NamedTuple):
    """An arm and the score that won."""

    arm: int
    score: float


class Policy(Protocol):
    """Choose among the arms that are awake, then learn from the reward."""

    def choose(self, time: int) -> Choice | None:
        """Pick an arm at this time (a count that never falls); None if all sleep. It is not yet a pull."""

    def pull(self, arm: int) -> None:
        """Count a pull at once: its reward comes later, and others are chosen meanwhile."""

    def undo_pull(self, arm: int) -> None:
        """Undo a pull that failed in an outage, as if it had never been made."""

    def observe(self, arm: int, reward: float) -> None:
        """Learn the reward of one pull. A pull that came to nothing may stay without one."""

    def wake(self, arm: int) -> None:
        """Let an arm be chosen; one that was never seen is made."""

    def sleep(self, arm: int) -> None:
        """Keep an arm from being chosen; what it has learnt stays."""

    def save(self) -> Mapping[str, Any]:
        """Return what `load` needs."""

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over a saved policy."""
