"""LTR with trees: LightGBM's ranker in the place of coordinate ascent; needs the extra ``ranking``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coati.errors import UsageError
from coati.strategies.revisits.features import hour_and_day
from coati.strategies.revisits.learning_to_rank import load_examples, save_examples

if TYPE_CHECKING:
    import numpy.typing as npt

    from coati.strategies.revisits.predicting import VisitExample
    from coati.strategies.state import State

    Floats = npt.NDArray[np.float64]

_TREES = 50
_PARAMETERS = {
    "objective": "lambdarank",
    "num_leaves": 15,
    "min_data_in_leaf": 20,
    "learning_rate": 0.1,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 0,
    "verbosity": -1,
}


class BoostedRanking:
    """Gradient-boosted trees for an order (`coati.strategies.revisits.predicting.Predictor`)."""

    def __init__(self) -> None:
        _lightgbm()
        self._examples: list[VisitExample] = []
        self._model: Any = None

    def add(self, example: VisitExample) -> None:
        """Take one more example."""
        self._examples.append(example)

    def train(self, since: float, now: float) -> None:
        """Grow trees on the examples since a time."""
        self._examples = [example for example in self._examples if example.moment >= since]
        ordered = sorted(self._examples, key=lambda example: example.moment)
        if not any(example.new for example in ordered):
            return
        moments = np.array([example.moment for example in ordered])
        _, sizes = np.unique(moments, return_counts=True)
        rows = np.concatenate([_rows(example.own[None, :], example.moment) for example in ordered])
        # Its labels are whole numbers.
        labels = np.rint(np.log2(1.0 + np.array([example.new for example in ordered]))).astype(int)
        lightgbm = _lightgbm()
        data = lightgbm.Dataset(rows, labels, group=sizes, params={"verbosity": -1})
        self._model = lightgbm.train(_PARAMETERS, data, num_boost_round=_TREES)

    def predict(self, own: Floats, now: float) -> Floats:
        """Return a score for each page."""
        if self._model is None:
            return np.zeros(len(own))
        return np.asarray(self._model.predict(_rows(own, now)), np.float64)

    def save(self) -> State:
        """Return everything; the trees as LightGBM writes them."""
        model = "" if self._model is None else self._model.model_to_string()
        return {**save_examples(self._examples), "model": model}

    def load(self, state: State) -> None:
        self._examples = load_examples(state)
        self._model = _lightgbm().Booster(model_str=state["model"]) if state["model"] else None


def _rows(own: Floats, now: float) -> Floats:
    return np.concatenate([own, np.tile(hour_and_day(now), (len(own), 1))], axis=1)


def _lightgbm() -> Any:  # noqa: ANN401 - it comes without types
    try:
        import lightgbm
    except ImportError as error:
        raise UsageError("ltr-gbdt needs LightGBM: pip install 'coati[ranking]'") from error
    return lightgbm
