"""Microdata: ``itemscope``, ``itemtype``, ``itemprop`` and ``itemref``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.web.markup.schema_types import schema_type

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# Items that pull in properties from elsewhere: each costs a look at the elements with an id.
_MAX_REFERRING_ITEMS = 100


def count_microdata(tree: LexborHTMLParser, types: set[str]) -> int:
    """Count the statements of all items; ``types`` takes the names of schema.org's types."""
    count = 0
    referring = []
    for item in tree.css("[itemscope]"):
        attributes = item.attributes
        for name in (attributes.get("itemtype") or "").split():
            count += 1
            short = schema_type(name)
            if short is not None:
                types.add(short)
        if attributes.get("itemref"):
            referring.append(attributes)
    seen: set[int] = set()
    for element in tree.css("[itemscope] [itemprop]"):
        # A selector with a blank matches an element once for each of its ancestors.
        if element.mem_id not in seen:
            seen.add(element.mem_id)
            count += len((element.attributes.get("itemprop") or "").split())
    return count + _referred(tree, referring, seen)


def _referred(tree: LexborHTMLParser, referring: list[dict[str, str | None]], seen: set[int]) -> int:
    """Count properties outside of the items that they belong to."""
    if not referring:
        return 0
    by_id: dict[str, LexborNode] = {}
    for element in tree.css("[id]"):
        by_id.setdefault(element.attributes.get("id") or "", element)
    count = 0
    for attributes in referring[:_MAX_REFERRING_ITEMS]:
        for name in (attributes.get("itemref") or "").split()[:_MAX_REFERRING_ITEMS]:
            if name in by_id:
                count += _properties_of(by_id[name], seen)
    return count


def _properties_of(element: LexborNode, seen: set[int]) -> int:
    """Count the properties of an element and below it that no item of their own has."""
    own = {node.mem_id: node for node in (element, *element.css("[itemprop]")) if node.mem_id not in seen}
    return sum(len((node.attributes.get("itemprop") or "").split()) for node in own.values())
