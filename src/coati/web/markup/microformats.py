"""Microformats: class names such as ``h-card`` and ``p-name``, and the classic ``vcard`` and ``fn``.

An item is an element with a root class. Its statements are its types and the values of its properties, which
are on elements below it, up to the next root. An item without properties has a name, and perhaps a link
and a picture, that are implied by its content (microformats2 parsing specification).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from selectolax.lexbor import LexborHTMLParser, LexborNode

_ROOT = re.compile(r"h-(?:[a-z0-9]+-)?[a-z]+(?:-[a-z]+)*\Z")
_PROPERTY = re.compile(r"(p|e|u|dt)-(?:[a-z0-9]+-)?[a-z]+(?:-[a-z]+)*\Z")
# Heights in a popular style sheet.
_HEIGHTS = frozenset({"h-auto", "h-fit", "h-full", "h-max", "h-min", "h-px", "h-screen"})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The classic formats and the class names of their properties (microformats.org, "classic microformats").
CLASSIC_ROOTS: dict[str, frozenset[str]] = {
    "adr": _words("locality region extended-address post-office-box street-address postal-code country-name"),
    "geo": _words("latitude longitude"),
    "hentry": _words("category entry-title published entry-content entry-summary author geo updated"),
    "hfeed": _words("category site-description description site-title title"),
    "hproduct": _words("category price description url photo brand identifier review fn"),
    "hrecipe": _words("nutrition yield author duration photo instructions summary fn ingredient category"),
    "hresume": _words("experience summary affiliation contact skill education"),
    "hreview": _words("rating worst dtreviewed reviewer url photo best description fn summary item"),
    "hreview-aggregate": _words(
        "rating description photo worst reviewer best count votes dtreviewed url summary fn"
    ),
    "vcard": _words(
        "tel honorific-suffix family-name photo logo postal-code country-name uid category adr locality"
        " nickname label note street-address latitude email bday extended-address additional-name"
        " organization-unit given-name key org honorific-prefix geo fn url region longitude"
        " organization-name title role"
    ),
    "vevent": _words(
        "attendee description duration dtend dtstart geo organizer category url summary contact location"
    ),
}
# Relations that are properties, by format.
_TAGGED = frozenset({"hentry", "hfeed", "hrecipe", "hreview"})
# Properties of classic formats that are items themselves, of the type beside them; their name is implied.
_ITEMS: dict[str, frozenset[str]] = {
    "hentry": _words("author geo"),
    "hproduct": _words("review"),
    "hrecipe": _words("author"),
    "hresume": _words("experience affiliation contact education"),
    "hreview": _words("reviewer url photo fn"),
    "hreview-aggregate": _words("reviewer fn"),
    "vcard": _words("adr geo"),
}


class _Item:
    """One root and what was found of it: which kinds of properties, and whether it holds another item."""

    __slots__ = ("classic", "kinds", "node")

    def __init__(self, node: LexborNode, classic: list[str]) -> None:
        self.node = node
        self.classic = classic
        self.kinds: set[str] = set()


def count_microformats(tree: LexborHTMLParser) -> int:
    """Count the statements of all items of a page."""
    items: dict[int, _Item] = {}
    owners: dict[int, _Item | None] = {}
    count = 0
    elements = tree.css("[class]")
    for element in elements:
        roots, classic = _roots((element.attributes.get("class") or "").split())
        if roots or classic:
            count += len(roots) or len(classic)
            items[element.mem_id] = _Item(element, [] if roots else classic)
    if not items:
        return 0
    if any(not _TAGGED.isdisjoint(item.classic) for item in items.values()):
        # An element that has both comes twice.
        elements = list({element.mem_id: element for element in tree.css("[class], [rel]")}.values())
    for element in elements:
        owner = _owner(element, items, owners)
        if owner is not None:
            count += _count_properties(element, owner, is_root=element.mem_id in items)
    return count + sum(_count_implied(item) for item in items.values() if not item.classic)


def _roots(classes: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the root classes of an element, and those of classic formats."""
    roots = [name for name in set(classes) if name[:2] == "h-" and _ROOT.match(name) and name not in _HEIGHTS]
    return roots, [name for name in set(classes) if name in CLASSIC_ROOTS]


def _owner(element: LexborNode, items: dict[int, _Item], owners: dict[int, _Item | None]) -> _Item | None:
    """Return the item that an element is in; the way up is walked once."""
    passed = []
    owner: _Item | None = None
    current = element.parent
    while current is not None:
        key = current.mem_id
        if key in items:
            owner = items[key]
            break
        if key in owners:
            owner = owners[key]
            break
        passed.append(key)
        current = current.parent
    for key in passed:
        owners[key] = owner
    return owner


def _count_properties(element: LexborNode, owner: _Item, *, is_root: bool) -> int:
    attributes = element.attributes
    classes = set((attributes.get("class") or "").split())
    if is_root:
        owner.kinds.add("h")
    if not owner.classic:
        found = [match[1] for match in map(_PROPERTY.match, classes) if match]
        owner.kinds.update(found)
        return len(found)
    count = 0
    relations = (attributes.get("rel") or "").split()
    for name in owner.classic:
        count += len(classes & CLASSIC_ROOTS[name])
        if name in _TAGGED and "tag" in relations and attributes.get("href"):
            count += 1
        if name == "hentry" and "bookmark" in relations:
            count += 1
        # A type, and the name that is implied.
        count += 0 if is_root else 2 * len(classes & _ITEMS.get(name, frozenset()))
    return count


def _count_implied(item: _Item) -> int:
    count = 0
    if item.kinds.isdisjoint("peh"):
        count += 1
    if item.kinds.isdisjoint("uh"):
        count += _implies(item.node, "img", "src") + _implies(item.node, "a", "href")
    return count


def _implies(node: LexborNode, tag: str, attribute: str) -> bool:
    """Tell whether an item has one such element for its whole content: itself, a child or a grandchild."""
    if node.tag == tag:
        return attribute in node.attributes
    children = list(node.iter())
    only = _only(children, tag)
    if only is None and len(children) == 1:
        only = _only(list(children[0].iter()), tag)
    return only is not None and attribute in only.attributes


def _only(nodes: list[LexborNode], tag: str) -> LexborNode | None:
    found = [node for node in nodes if node.tag == tag]
    if len(found) != 1:
        return None
    roots, _ = _roots((found[0].attributes.get("class") or "").split())
    return None if roots else found[0]
