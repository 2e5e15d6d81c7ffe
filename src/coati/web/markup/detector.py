"""How much structured data a page holds, cheaply: the label that harvesting learns from.

A statement is a triple, the type of an item included: an item with a type and three properties is four. Each
syntax has a module that counts its statements in the tree of the page; nothing is resolved, expanded or
fetched, and a context that points to a remote file is never requested. Most pages hold no sign of any syntax
in their bytes, and are not even parsed.

What is counted is what the field's extractors count, with three exceptions
(docs/decisions/0023-labels-of-structured-data.md): statements of Open Graph and its like do not count as
RDFa, nor do roles and relations for browsers, and class names of a popular style sheet (``h-full``) are not
microformats. `benchmarks/markup_agreement.py` measures the agreement.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from coati.web.charset import decode_page
from coati.web.heavy_pages import balanced, is_heavy
from coati.web.links import MAX_PAGE_BYTES
from coati.web.markup.json_ld import count_json_ld
from coati.web.markup.microdata import count_microdata
from coati.web.markup.microformats import CLASSIC_ROOTS, count_microformats
from coati.web.markup.open_graph import count_open_graph
from coati.web.markup.rdfa import count_rdfa

if TYPE_CHECKING:
    from collections.abc import Iterable

SYNTAXES = ("microdata", "rdfa", "json-ld", "microformats", "opengraph")

# The most types of one page; one that claims more is spam, and would fill the log.
_MAX_TYPES = 64

# Signs that a page may hold a syntax, in its bytes in lower case. A page without any is not parsed.
_MICRODATA = b"itemscope"
_JSON_LD = b"ld+json"
_PROPERTY = b"property"
_RDFA = (_PROPERTY, b"typeof", b"vocab", b"license", b"describedby")
_MICROFORMATS = (
    *(before + b"h-" for before in (b'"', b"'", b" ", b"=", b"\n", b"\t", b"\r", b"\f")),
    *(root.encode() for root in CLASSIC_ROOTS),
)
# A relation with a prefix, or with a whole URL as its name: RDFa without any other attribute.
_PREFIXED_RELATION = re.compile(
    rb"""re[lv]\s{0,9}=\s{0,9}(?:"[^"<>]{0,200}?:|'[^'<>]{0,200}?:|[^"'\s<>]{0,200}?:)"""
)

# The whole element, for pages whose tree is written again without the texts of scripts.
_SCRIPT = re.compile(
    r"<script\b[^>]{0,999}?application/ld\+json[^>]{0,999}>(.*?)</script", re.IGNORECASE | re.DOTALL
)


def markup_of(body: bytes, content_type: str = "") -> dict[str, object]:
    """Return the statements of a page by syntax, its schema.org types, and scripts that could not be read.

    Syntaxes without a statement are left out; nothing raises, and nothing is fetched.

    >>> markup_of(b'<p itemscope itemtype="https://schema.org/Dataset"><b itemprop="name">Rain')
    {'statements': {'microdata': 2}, 'types': ['Dataset'], 'broken': 0}
    """
    body = body[:MAX_PAGE_BYTES]
    signs = _Signs(body.lower())
    if not signs.any:
        return _fact({}, (), 0)
    text, _ = decode_page(body, content_type)
    scripts: list[str] | None = None
    if is_heavy(text):
        scripts = _SCRIPT.findall(text)
        text, _ = balanced(text)
    return _count(LexborHTMLParser(text), signs, scripts)


def has_signs(body: bytes) -> set[str]:
    """Return the syntaxes that a page may hold, by signs in its bytes; of the others it holds nothing.

    >>> has_signs(b"<p>A page without any data")
    set()
    """
    signs = _Signs(body[:MAX_PAGE_BYTES].lower())
    found = {
        "microdata": signs.microdata,
        "rdfa": signs.rdfa or signs.relations,
        "json-ld": signs.json_ld,
        "microformats": signs.microformats,
        "opengraph": signs.open_graph,
    }
    return {syntax for syntax, there in found.items() if there}


def _count(tree: LexborHTMLParser, signs: _Signs, scripts: list[str] | None) -> dict[str, object]:
    counts: dict[str, int] = {}
    types: set[str] = set()
    broken = 0
    if signs.microdata:
        counts["microdata"] = count_microdata(tree, types)
    if signs.rdfa or signs.relations:
        counts["rdfa"] = count_rdfa(tree, types, relations=signs.relations)
    if signs.json_ld:
        if scripts is None:
            scripts = [node.text() for node in tree.css('script[type="application/ld+json" i]')]
        counts["json-ld"], broken = count_json_ld(scripts, types)
    if signs.microformats:
        counts["microformats"] = count_microformats(tree)
    if signs.open_graph:
        counts["opengraph"] = count_open_graph(tree)
    return _fact(counts, types, broken)


def _fact(counts: dict[str, int], types: Iterable[str], broken: int) -> dict[str, object]:
    found = {syntax: counts[syntax] for syntax in SYNTAXES if counts.get(syntax)}
    return {"statements": found, "types": sorted(types)[:_MAX_TYPES], "broken": broken}


class _Signs:
    """Which syntaxes a page may hold, by its bytes in lower case."""

    __slots__ = ("json_ld", "microdata", "microformats", "open_graph", "rdfa", "relations")

    def __init__(self, lower: bytes) -> None:
        self.microdata = _MICRODATA in lower
        self.json_ld = _JSON_LD in lower
        self.open_graph = _PROPERTY in lower and b"<meta" in lower
        self.rdfa = any(sign in lower for sign in _RDFA)
        vocabulary = b"vocab" in lower or b"license" in lower or b"describedby" in lower
        self.relations = vocabulary or _PREFIXED_RELATION.search(lower) is not None
        self.microformats = any(sign in lower for sign in _MICROFORMATS)

    @property
    def any(self) -> bool:
        return (
            self.microdata
            or self.json_ld
            or self.rdfa
            or self.relations
            or self.microformats
            or self.open_graph
        )
