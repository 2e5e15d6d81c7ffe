"""Is a link a page or a target? By its URL, or by more of it, learnt online, or from the truth.

The classifier of the EDBT 2026 paper knows two classes. A third, "neither", is never predicted: a page that
is lost costs more than a request that is wasted. Before it is trained, a HEAD request finds the class of each
link, until there is one batch of examples. From then on each fetch of a link whose class was
predicted is an example, and each full batch is one more pass of training.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Protocol

from coati.model import Failure, Kind, Page, Redirect, Refused, Target
from coati.strategies.sb.link_models import LinkModel
from coati.web.urls import extension_of

if TYPE_CHECKING:
    from coati.model import Link, Outcome
    from coati.strategies.sb.link_models import Texts
    from coati.strategies.state import State
    from coati.strategies.truth import SiteTruth


class UrlClass(IntEnum):
    """What a link is taken for. UNKNOWN: a HEAD must tell. NEITHER: it is dropped."""

    PAGE = 0
    TARGET = 1
    NEITHER = 2
    UNKNOWN = 3


class UrlClasses(Protocol):
    """Tells the class of a link."""

    def classify(self, url: str, link: Link | None = None) -> tuple[UrlClass, float]:
        """Return the class of a new link, and how strongly it looks like a target (above 0: it does).

        ``link`` is for those that look at more than the URL; without it they do with that.
        """

    def probed(self, url: str, outcome: Outcome) -> UrlClass:
        """Return the class that a HEAD tells, and learn from it."""

    def learn(self, url: str, outcome: Outcome) -> None:
        """Learn from the fetch of a URL whose class was predicted."""

    def save(self) -> State:
        """Return what `load` needs."""

    def load(self, state: State) -> None:
        """Take over what was saved."""


class OracleClasses:
    """The truth, for free: SB-ORACLE. What is neither page nor target is dropped without a request."""

    def __init__(self, truth: SiteTruth) -> None:
        self._truth = truth

    def classify(self, url: str, link: Link | None = None) -> tuple[UrlClass, float]:
        """Look the class up."""
        kind = self._truth.kind(url)
        if kind is Kind.TARGET:
            return UrlClass.TARGET, 1.0
        return (UrlClass.PAGE if kind in {Kind.PAGE, Kind.REDIRECT} else UrlClass.NEITHER), -1.0

    def probed(self, url: str, outcome: Outcome) -> UrlClass:
        """Return the class of a probe that an oracle never makes."""
        return _class_of(outcome)

    def learn(self, url: str, outcome: Outcome) -> None:
        """Learn nothing: all is known."""

    def save(self) -> State:
        """Return nothing: the truth is not saved."""
        return {}

    def load(self, state: State) -> None:
        """Take over nothing."""


# What the robust first phase spends on HEADs at the most, in batches, and how many refusals end it.
_MOST_PROBE_BATCHES = 3
_MOST_REFUSALS = 3
_NO_HEAD = frozenset({405, 501})
_GONE = frozenset({404, 410})

# Before anything is learnt, the robust first phase takes these for targets.
_FILE_EXTENSIONS = frozenset(
    {
        *("csv", "tsv", "xls", "xlsx", "xlsm", "ods", "json", "xml", "zip", "gz", "tgz", "bz2", "xz", "7z"),
        *("rar", "tar", "pdf", "doc", "docx", "ppt", "pptx", "odt", "odp", "rtf", "txt"),
    }
)


class LearntClasses:
    """The online classifier of the paper, over any model of links; its own is the regression on URLs.

    With ``robust_probes`` the first phase cannot go wrong on a server that answers HEAD badly: examples from
    GETs count as well, no more than three batches of HEADs are made, none after a 405, a 501 or three
    refusals, and until the first training the extension decides. It also decides where a HEAD
    failed: without a GET, only a server's "not found" is believed.
    """

    def __init__(
        self, batch: int = 10, *, robust_probes: bool = False, model: LinkModel | None = None
    ) -> None:
        self._model = model or LinkModel()
        self._batch = batch
        self._robust = robust_probes
        # What a model saw beside the URL, by URL, from the classification until the answer.
        self._seen: dict[str, Texts] = {}
        self._texts: list[Texts] = []
        self._labels: list[bool] = []
        self._trainings = 0
        self._probes = 0
        self._refusals = 0
        self._may_probe = True

    def classify(self, url: str, link: Link | None = None) -> tuple[UrlClass, float]:
        """Predict, or call for a HEAD while nothing was learnt."""
        texts = (self._seen.get(url) if link is None else None) or self._model.texts(url, link)
        if len(texts) > 1:
            self._seen[url] = texts
        if self._trainings:
            score = self._model.score(texts)
            return (UrlClass.TARGET if score > 0 else UrlClass.PAGE), score
        if self._may_probe:
            self._probes += 1
            if self._robust and self._probes >= _MOST_PROBE_BATCHES * self._batch:
                self._may_probe = False
            return UrlClass.UNKNOWN, 0.0
        return _by_extension(url), 0.0

    def probed(self, url: str, outcome: Outcome) -> UrlClass:
        """Take the class from a HEAD; only pages and targets are examples."""
        if self._robust and isinstance(outcome, Failure | Refused):
            self._refusals += 1
            status = outcome.status if isinstance(outcome, Failure) else 0
            if status in _NO_HEAD or self._refusals >= _MOST_REFUSALS:
                self._may_probe = False
            if isinstance(outcome, Failure) and status not in _GONE:
                return self._guessed(url)
        self.learn(url, outcome)
        return _class_of(outcome)

    def _guessed(self, url: str) -> UrlClass:
        """Tell the class without a HEAD."""
        texts = self._seen.pop(url, None) or self._model.texts(url, None)
        if self._trainings:
            return UrlClass.TARGET if self._model.score(texts) > 0 else UrlClass.PAGE
        return _by_extension(url)

    def learn(self, url: str, outcome: Outcome) -> None:
        """Keep an example, and train when a batch is full; errors and other types are not examples."""
        texts = self._seen.pop(url, None) or self._model.texts(url, None)
        if not isinstance(outcome, Page | Target):
            return
        self._texts.append(texts)
        self._labels.append(isinstance(outcome, Target))
        if len(self._texts) >= self._batch:
            self._model.learn(self._texts, self._labels)
            self._trainings += 1
            self._texts, self._labels = [], []

    def save(self) -> State:
        """Return the model and the examples that wait."""
        counters = [self._trainings, self._probes, self._refusals, self._may_probe]
        return {
            **self._model.save(),
            "class_texts": [list(texts) for texts in self._texts],
            "class_seen": [[url, *texts] for url, texts in self._seen.items()],
            "class_labels": list(self._labels),
            "class_counters": counters,
        }

    def load(self, state: State) -> None:
        self._model.load(state)
        self._texts = [tuple(texts) for texts in state["class_texts"]]
        self._seen = {url: tuple(texts) for url, *texts in state["class_seen"]}
        self._labels = list(state["class_labels"])
        self._trainings, self._probes, self._refusals, self._may_probe = state["class_counters"]


def _by_extension(url: str) -> UrlClass:
    return UrlClass.TARGET if extension_of(url) in _FILE_EXTENSIONS else UrlClass.PAGE


def _class_of(outcome: Outcome) -> UrlClass:
    # A redirect counts as a page: where it leads is found out when it is followed.
    if isinstance(outcome, Page | Redirect):
        return UrlClass.PAGE
    return UrlClass.TARGET if isinstance(outcome, Target) else UrlClass.NEITHER
