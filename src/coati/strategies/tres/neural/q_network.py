"""Double Q-learning on PyTorch: the same learner as `coati.learners.double_q`, with the library's Adam.

It exists beside the one in numpy as the published setting; a test holds that both compute the same steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coati.learners.double_q import QSettings, StepMemory
from coati.strategies.tres.neural.pytorch import pytorch

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Rows = npt.NDArray[np.float32]

_LEAK = 0.1
_RATE = 1e-3
_LONGEST_GRADIENT = 1.0


class TorchDoubleQ:
    """A `coati.learners.double_q.QLearner` over two PyTorch networks."""

    def __init__(self, features: int, settings: QSettings | None = None, seed: int = 0) -> None:
        self._torch = pytorch()
        self._settings = settings or QSettings()
        self._memory = StepMemory(features, self._settings, seed)
        with self._torch.random.fork_rng(devices=[]):
            self._torch.manual_seed(seed)
            self._network = self._build(features)
            self._older = self._build(features)
        self._older.load_state_dict(self._network.state_dict())
        self._optimizer = self._torch.optim.Adam(self._network.parameters(), lr=_RATE)

    @property
    def started(self) -> bool:
        """Whether it has begun to learn."""
        return self._memory.steps >= self._settings.start

    def values(self, rows: Rows) -> npt.NDArray[np.float64]:
        with self._torch.no_grad():
            found = self._network(self._torch.from_numpy(np.ascontiguousarray(rows)))[:, 0]
        return np.asarray(found.numpy(), np.float64)

    def learn(self, row: Rows, reward: float, following: Rows) -> None:
        """Remember a step, and train when it is time."""
        self._memory.add(row, reward, following)
        if self._memory.due():
            self._train()
        if self._memory.steps % self._settings.copy_every == 0:
            self._older.load_state_dict(self._network.state_dict())

    def _train(self) -> None:
        torch = self._torch
        parts = [torch.from_numpy(np.ascontiguousarray(part)) for part in self._memory.sample()]
        rows, rewards, next_rows = parts
        with torch.no_grad():
            wanted = rewards + self._settings.discount * self._older(next_rows)[:, 0]
        loss = torch.nn.functional.mse_loss(self._network(rows)[:, 0], wanted)
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), _LONGEST_GRADIENT)
        self._optimizer.step()

    def _build(self, features: int) -> Any:  # noqa: ANN401 - a module of an optional library
        nn = self._torch.nn
        layers: list[Any] = []
        width = features
        for size in self._settings.hidden:
            layers += [nn.Linear(width, size), nn.LeakyReLU(_LEAK)]
            width = size
        return nn.Sequential(*layers, nn.Linear(width, 1))

    def save(self) -> dict[str, Any]:
        """Return both networks, Adam's memory and the steps."""
        weights = list(self._network.parameters())
        adam = [self._optimizer.state.get(weight, {}) for weight in weights]
        zero = [self._torch.zeros_like(weight) for weight in weights]
        return {
            **self._memory.save(),
            "network": self._flat(weights),
            "older_network": self._flat(self._older.parameters()),
            "adam_means": self._flat([s.get("exp_avg", z) for s, z in zip(adam, zero, strict=True)]),
            "adam_squares": self._flat([s.get("exp_avg_sq", z) for s, z in zip(adam, zero, strict=True)]),
            "adam_steps": int(adam[0].get("step", 0)),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        torch = self._torch
        self._memory.load(state)
        weights = list(self._network.parameters())
        for network, name in ((self._network, "network"), (self._older, "older_network")):
            with torch.no_grad():
                pieces = self._pieces(state[name])
                for weight, piece in zip(network.parameters(), pieces, strict=True):
                    weight.copy_(piece)
        self._optimizer = torch.optim.Adam(weights, lr=_RATE)
        if state["adam_steps"]:
            means, squares = self._pieces(state["adam_means"]), self._pieces(state["adam_squares"])
            for weight, mean, square in zip(weights, means, squares, strict=True):
                self._optimizer.state[weight] = {
                    "step": torch.tensor(float(state["adam_steps"])),
                    "exp_avg": mean,
                    "exp_avg_sq": square,
                }

    def _flat(self, tensors: Any) -> npt.NDArray[np.float32]:  # noqa: ANN401
        return np.concatenate([tensor.detach().numpy().ravel() for tensor in tensors]).astype(np.float32)

    def _pieces(self, flat: npt.NDArray[np.float32]) -> list[Any]:
        found, at = [], 0
        for weight in self._network.parameters():
            piece = np.array(flat[at : at + weight.numel()]).reshape(tuple(weight.shape))
            found.append(self._torch.from_numpy(piece))
            at += weight.numel()
        return found
