"""Links of a page by the plainest way there is: walk the whole tree, keep nothing, resolve each reference."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from coati.web.urls import resolve

_ATTRIBUTE_OF = {"a": "href", "area": "href", "iframe": "src", "frame": "src"}


def slow_links(html: str, url: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return URL and tag path of each link of a page in UTF-8, in document order."""
    tree = LexborHTMLParser(html)
    root = tree.root
    assert root is not None
    nodes = list(root.traverse())
    bases = [
        node.attributes["href"] or "" for node in nodes if node.tag == "base" and "href" in node.attributes
    ]
    base = url
    if bases:
        base = _base(url, bases[0])
    found = []
    for node in nodes:
        reference = _reference(node)
        # A reference to the page itself, by nothing or a fragment, is not a link to another page.
        if reference is None or not reference.strip("".join(map(chr, range(33)))).partition("#")[0]:
            continue
        target = resolve(base, reference)
        if target is not None:
            found.append((target, _path(node)))
    return found


def _base(url: str, reference: str) -> str:
    if re.match(r"[\x00-\x20]*(data|javascript):", re.sub(r"[\t\n\r]", "", reference), re.IGNORECASE):
        return url
    resolved = resolve(url, reference)
    if resolved is not None:
        return resolved
    other_scheme = re.match(
        r"[\x00-\x20]*(?!https?:)[a-z]+:", re.sub(r"[\t\n\r]", "", reference), re.IGNORECASE
    )
    return "about:blank" if other_scheme else url


def _reference(node: LexborNode) -> str | None:
    tag = node.tag or ""
    if tag in _ATTRIBUTE_OF:
        return node.attributes.get(_ATTRIBUTE_OF[tag])
    if tag == "meta" and (node.attributes.get("http-equiv") or "").lower() == "refresh":
        content = node.attributes.get("content") or ""
        # All that the generated pages have; the module's own tests cover the rest.
        if not content.startswith("0; url="):
            return None
        reference = content.removeprefix("0; url=").lstrip(" \t\n\f\r")
        return reference[1:].partition("'")[0] if reference.startswith("'") else reference
    return None


def _path(node: LexborNode) -> tuple[str, ...]:
    tokens = []
    current: LexborNode | None = node
    while current is not None and current.tag != "-document":
        token = current.tag or ""
        names = (current.attributes.get("class") or "").split()
        if current.attributes.get("class"):
            token += "." + " ".join(names)
        if current.attributes.get("id"):
            token += "#" + "_".join((current.attributes["id"] or "").split())
        tokens.append(token[:200])
        current = current.parent
    return tuple(reversed(tokens))
