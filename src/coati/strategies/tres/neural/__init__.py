"""TRES as it was published, with its neural networks on PyTorch; needs the extra ``tres``.

Word vectors trained on the example pages, a Bi-LSTM that judges pages, and a double Q network. Nothing here
is imported before it is needed, and PyTorch only when something is built. Without it there is
`coati.strategies.tres.tres.tres_light`.
"""

from coati.strategies.tres.neural.crawler import NeuralSettings, tres

__all__ = ["NeuralSettings", "tres"]
