"""Double Q-learning with replay (DDQN), for actions that come with a row of features each.

The value of an action is the reward at once and the discounted value of what is done next. What is done next
was chosen by the network that learns; its value comes from a second network, which is a copy from some time
ago (van Hasselt et al., AAAI 2016). Steps are learnt from again and again, in random batches out of a memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from coati.learners.small_network import SmallNetwork

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Rows = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class QSettings:
    """The parameters of TRES, with its defaults.

    ``start`` is the number of steps before anything is learnt, ``every`` the steps between two trainings,
    ``copy_every`` those between two copies.
    """

    hidden: tuple[int, ...] = (30, 15)
    discount: float = 0.99
    memory: int = 20_000
    batch: int = 60
    start: int = 300
    every: int = 3
    copy_every: int = 500


class QLearner(Protocol):
    """Values actions by rows of features."""

    @property
    def started(self) -> bool:
        """Whether enough was seen for values to mean anything."""

    def values(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Return the value of each action."""

    def learn(self, row: Rows, reward: float, following: Rows) -> None:
        """Learn from one step: what was done, what it brought, and what was done next."""

    def save(self) -> dict[str, Any]:
        """Return what `load` needs."""

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over what was saved."""


class StepMemory:
    """The last steps, and random batches of them: row, reward and following row side by side."""

    def __init__(self, features: int, settings: QSettings, seed: int) -> None:
        self._features = features
        self._settings = settings
        self._seed = seed
        self._table = np.zeros((64, 2 * features + 1), np.float32)
        self.steps = 0

    def __len__(self) -> int:
        return min(self.steps, self._settings.memory)

    def add(self, row: Rows, reward: float, following: Rows) -> None:
        """Keep a step, in the place of the oldest when the memory is full."""
        place = self.steps % self._settings.memory
        if place == len(self._table):
            more = min(2 * place, self._settings.memory) - place
            self._table = np.concatenate([self._table, np.zeros((more, self._table.shape[1]), np.float32)])
        self._table[place] = (*row, reward, *following)
        self.steps += 1

    def due(self) -> bool:
        """Say whether it is time for a training."""
        return self.steps >= self._settings.start and self.steps % self._settings.every == 0

    def sample(self) -> tuple[Rows, Rows, Rows]:
        """Draw a batch of rows, rewards and following rows; the same for the same number of steps."""
        rng = np.random.default_rng([self._seed, self.steps])
        chosen = self._table[rng.integers(len(self), size=self._settings.batch)]
        return chosen[:, : self._features], chosen[:, self._features], chosen[:, self._features + 1 :]

    def save(self) -> dict[str, Any]:
        return {"steps_table": self._table[: len(self)], "steps_seen": self.steps}

    def load(self, state: Mapping[str, Any]) -> None:
        self._table = np.array(state["steps_table"])
        self.steps = state["steps_seen"]
        if not len(self._table):
            self._table = np.zeros((64, 2 * self._features + 1), np.float32)


class DoubleQ:
    """A `QLearner` over small networks in numpy."""

    def __init__(self, features: int, settings: QSettings | None = None, seed: int = 0) -> None:
        self._settings = settings or QSettings()
        sizes = [features, *self._settings.hidden, 1]
        self._network = SmallNetwork(sizes, seed)
        self._older = SmallNetwork(sizes, seed)
        self._memory = StepMemory(features, self._settings, seed)

    @property
    def started(self) -> bool:
        """Whether it has begun to learn."""
        return self._memory.steps >= self._settings.start

    def values(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Return the value of each action."""
        return self._network.predict(rows.astype(np.float64))

    def learn(self, row: Rows, reward: float, following: Rows) -> None:
        """Remember a step, and train when it is time."""
        self._memory.add(row, reward, following)
        if self._memory.due():
            rows, rewards, next_rows = (part.astype(np.float64) for part in self._memory.sample())
            wanted = rewards + self._settings.discount * self._older.predict(next_rows)
            self._network.learn(rows, wanted)
        if self._memory.steps % self._settings.copy_every == 0:
            self._older.copy(self._network)

    def save(self) -> dict[str, Any]:
        """Return both networks and the memory."""
        older = {f"older_{name}": value for name, value in self._older.save().items()}
        return {**self._network.save(), **older, **self._memory.save()}

    def load(self, state: Mapping[str, Any]) -> None:
        self._network.load(state)
        self._older.load({name: state[f"older_{name}"] for name in ("network", "network_steps")})
        self._memory.load(state)
