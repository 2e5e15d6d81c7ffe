"""RDFa: ``property``, ``typeof``, ``rel`` and ``rev`` with names that mean something.

A name with a prefix or a whole address always does; a plain one does below a ``vocab``. Statements of Open
Graph and of its like for other networks are counted as Open Graph, not here: nearly every page has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.web.markup.schema_types import schema_type

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

# What networks show when a page is shared: no data that anybody looks for.
_CARDS = frozenset(
    {"og", "fb", "article", "book", "books", "profile", "music", "video", "product", "twitter", "al"}
)
_CARD_ADDRESSES = (
    "http://ogp.me/",
    "https://ogp.me/",
    "http://opengraphprotocol.org/",
    "http://www.facebook.com/2008/",
)
# The only plain names that mean something without a vocabulary.
_TERMS = frozenset({"license", "describedby"})
_OBJECTS = ("href", "resource", "src", "typeof")


def count_rdfa(tree: LexborHTMLParser, types: set[str], *, relations: bool) -> int:
    """Count the statements of a page; ``relations``: look at ``rel`` and ``rev`` as well."""
    selectors = ["[property]", "[typeof]", *(["[rel]", "[rev]"] if relations else [])]
    scope = _vocabulary_scope(tree, selectors)
    count = 0
    # The same statement made twice is one; this can be seen only of those with a subject of their own.
    made: set[tuple[str, str]] = set()
    # An element that matches several selectors comes several times.
    elements = {element.mem_id: element for element in tree.css(", ".join(selectors))}
    for element in elements.values():
        attributes = element.attributes
        vocabulary = scope.get(element.mem_id, "") if scope else ""
        for name in (attributes.get("typeof") or "").split():
            if _means_something(name, vocabulary):
                count += 1
                short = schema_type(name, in_schema_org="schema.org" in vocabulary)
                if short is not None:
                    types.add(short)
        names = [
            name for name in (attributes.get("property") or "").split() if _means_something(name, vocabulary)
        ]
        if relations:
            names += _relations(attributes, vocabulary)
        if element.tag in {"meta", "link"} or attributes.get("rel"):
            said = attributes.get("content") or attributes.get("href") or ""
            names = [name for name in names if (name, said) not in made]
            made.update((name, said) for name in names)
        count += len(names)
    return count


def _relations(attributes: dict[str, str | None], vocabulary: str) -> list[str]:
    relations = f"{attributes.get('rel') or ''} {attributes.get('rev') or ''}".split()
    if not relations or not any(attributes.get(name) is not None for name in _OBJECTS):
        return []
    if "property" in attributes:
        relations = [name for name in relations if ":" in name]
    terms = [name.lower() if ":" not in name else name for name in relations]
    return [name for name in terms if name in _TERMS or _means_something(name, vocabulary)]


def _means_something(name: str, vocabulary: str) -> bool:
    prefix, colon, rest = name.partition(":")
    if not colon:
        return bool(vocabulary)
    return bool(rest) and prefix not in {"_", ""} and not _is_card(name, prefix)


def _is_card(name: str, prefix: str) -> bool:
    return prefix.lower() in _CARDS or name.startswith(_CARD_ADDRESSES)


def _vocabulary_scope(tree: LexborHTMLParser, selectors: list[str]) -> dict[int, str]:
    """Return the vocabulary of the elements that have one, by element; the innermost comes last."""
    scope: dict[int, str] = {}
    for holder in tree.css("[vocab]"):
        vocabulary = holder.attributes.get("vocab") or ""
        scope[holder.mem_id] = vocabulary
        for element in holder.css(", ".join(selectors)):
            scope[element.mem_id] = vocabulary
    return scope
