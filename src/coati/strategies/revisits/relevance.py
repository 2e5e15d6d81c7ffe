"""Which new links count: the predicates of a focused watch, by what is seen of a link."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coati.errors import ConfigError
from coati.web.urls import extension_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from coati.model import Link
    from coati.strategies.revisits.links import Relevant

FORMS = "types, keywords=WORD,WORD or label=NAME"
_CLASSES = re.compile(r"[.\s]([^.#\s]+)")


def parse_relevance(text: str, extensions: Collection[str]) -> Relevant | None:
    """Return the predicate that a user wrote; None for an empty text: then every link counts.

    ``types`` takes links that end like the wanted files do (``extensions``), ``keywords`` those with one of
    the words in their address or texts, ``label`` those in an element of this class, which is how a page
    marks the section that a link belongs to.

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
    raise ConfigError(f"relevant is {text!r}: it must be {FORMS}")


def _by_extension(extensions: Collection[str]) -> Relevant:
    return lambda link: extension_of(link.url) in extensions


def _by_keywords(words: Collection[str]) -> Relevant:
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words), re.IGNORECASE)

    def relevant(link: Link) -> bool:
        # In an address words are parted by anything that is no letter.
        texts = (link.anchor, link.context, link.url.replace("_", "-"))
        return any(pattern.search(text) for text in texts)

    return relevant


def _by_label(labels: Collection[str]) -> Relevant:
    def relevant(link: Link) -> bool:
        return any(name in labels for element in link.tag_path for name in _CLASSES.findall(element))

    return relevant
