"""Which new links count: the predicates of a focused watch, by what is seen of a link."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coati.errors import ConfigError
from coati.strategies.discovery.page_classifier import PageClassifier
from coati.strategies.discovery.start_model import NO_MODEL
from coati.web.page_words import count_words
from coati.web.urls import extension_of, path_of, query_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from coati.model import Link
    from coati.strategies.discovery.start_model import StartModel
    from coati.strategies.revisits.links import Relevant

FORMS = "types, keywords=WORD,WORD, label=NAME or model=FILE"
MODEL = "model="
_CLASSES = re.compile(r"[.\s]([^.#\s]+)")


def parse_relevance(text: str, extensions: Collection[str], model: StartModel = NO_MODEL) -> Relevant | None:
    """Return the predicate that a user wrote; None for an empty text: then every link counts.

    ``types`` takes links that end like the wanted files do (``extensions``), ``keywords`` those with one of
    the words in their address or texts, ``label`` those in an element of this class, which is how a page
    marks the section that a link belongs to, and ``model`` those whose address and texts a classifier of
    pages takes (``model``, which the caller has read from the file).

    >>> from coati.model import Link
    >>> link = Link("http://example.org/a", ("html", "ul.news politics#top", "a"), "Election day")
    >>> texts = ("types", "keywords=vote,election", "label=politics")
    >>> [parse_relevance(text, ["csv"])(link) for text in texts]
    [False, True, True]
    """
    kind, mark, rest = text.strip().partition("=")
    names = [name.strip() for name in rest.split(",") if name.strip()]
    if not text.strip():
        return None
    if kind == "types" and not mark:
        return _by_extension(frozenset(extensions))
    if kind == "keywords" and names:
        return _by_keywords(names)
    if kind == "label" and names:
        return _by_label(frozenset(names))
    if kind + mark == MODEL and rest and model.words:
        return _by_model(PageClassifier(model))
    raise ConfigError(f"relevant is {text!r}: it must be {FORMS}")


def _by_extension(extensions: Collection[str]) -> Relevant:
    return lambda link: extension_of(link.url) in extensions


def _by_keywords(words: Collection[str]) -> Relevant:
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words), re.IGNORECASE)

    def relevant(link: Link) -> bool:
        # In an address words are parted by anything that is not a letter.
        texts = (link.anchor, link.context, link.url.replace("_", "-"))
        return any(pattern.search(text) for text in texts)

    return relevant


def _by_model(classifier: PageClassifier) -> Relevant:
    def relevant(link: Link) -> bool:
        texts = dict.fromkeys((link.anchor, link.context))
        words = count_words(" ".join([*texts, path_of(link.url), query_of(link.url)]))
        return bool(words) and classifier.margin(words) > 0

    return relevant


def _by_label(labels: Collection[str]) -> Relevant:
    def relevant(link: Link) -> bool:
        return any(name in labels for element in link.tag_path for name in _CLASSES.findall(element))

    return relevant
