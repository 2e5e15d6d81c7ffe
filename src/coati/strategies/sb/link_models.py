"""What a URL classifier looks at, and what it learns with: the eight variants of the paper's Table 5.

The paper's own crawler looks at the URL and learns a logistic regression. Its variants learn a linear SVM,
naive Bayes or a passive-aggressive classifier, and look at the URL alone or at the anchor, the tag path and
the text around the link as well, each as a bag of pairs of characters of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coati.errors import unknown_name
from coati.learners.bags import bag_of
from coati.learners.linear_sgd import LinearSgd, Loss
from coati.learners.naive_bayes import MultinomialBayes
from coati.learners.passive_aggressive import PassiveAggressive
from coati.learners.url_bigrams import DIMENSIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coati.learners.bags import BagModel
    from coati.model import Link

    Texts = tuple[str, ...]

URL_MODELS = {
    "lr": "logistic regression, as published",
    "svm": "a linear support vector machine",
    "nb": "multinomial naive Bayes",
    "pa": "a passive-aggressive classifier",
}

URL_CONTEXTS = {
    "url": "the URL alone, as published",
    "all": "the URL, the link's text, its tag path and the text around it",
}

_FIELDS = {"url": 1, "all": 4}


class LinkModel:
    """A model of links by its names in `URL_MODELS` and `URL_CONTEXTS`.

    >>> model = LinkModel("nb", "url")
    >>> model.learn([("/a.csv",), ("/b.html",)], [True, False])
    >>> model.score(model.texts("/c.csv", None)) > 0
    True
    """

    def __init__(self, model: str = "lr", context: str = "url") -> None:
        if context not in URL_CONTEXTS:
            raise unknown_name("URL context", context, URL_CONTEXTS)
        self._fields = _FIELDS[context]
        self._model = _build(model, self._fields * DIMENSIONS)

    def texts(self, url: str, link: Link | None) -> Texts:
        """Return what is looked at; a link of which only the URL is known has no further words."""
        if self._fields == 1:
            return (url,)
        if link is None:
            return (url, "", "", "")
        return (url, link.anchor, "/".join(link.tag_path), link.context)

    def score(self, texts: Texts) -> float:
        """Say how strongly a link looks like a target: above 0 it is taken for one."""
        return self._model.score(bag_of(texts))

    def learn(self, batch: Sequence[Texts], labels: Sequence[bool]) -> None:
        """Learn from one batch of links that turned out to be targets, or pages."""
        self._model.learn([bag_of(texts) for texts in batch], labels)

    def save(self) -> dict[str, Any]:
        return self._model.save()

    def load(self, state: Mapping[str, Any]) -> None:
        self._model.load(state)


def _build(name: str, dimensions: int) -> BagModel:
    if name == "lr":
        return LinearSgd(dimensions, Loss.LOG)
    if name == "svm":
        return LinearSgd(dimensions, Loss.HINGE)
    if name == "nb":
        return MultinomialBayes(dimensions)
    if name == "pa":
        return PassiveAggressive(dimensions)
    raise unknown_name("URL model", name, URL_MODELS)
