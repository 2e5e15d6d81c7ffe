"""From what extruct finds of Microdata, Microformats, RDFa and Open Graph to statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coati.markup.statements import RDF_TYPE, Collector, is_address

_MAX_DEPTH = 200
# Names of properties of items without a type, as the Microdata specification's own conversion has them.
_MICRODATA = "http://www.w3.org/1999/xhtml/microdata#"
_MICROFORMATS = "https://microformats.org/wiki/"
# Heights in a popular style sheet, which look like root classes.
_HEIGHTS = frozenset({"h-auto", "h-fit", "h-full", "h-max", "h-min", "h-px", "h-screen"})
# What networks show when a page is shared, the vocabulary of a page, the roles of its parts, and relations
# that are for browsers (style sheets, icons): these are not data, but a licence is.
_LICENCE = "http://www.w3.org/1999/xhtml/vocab#license"
_NO_DATA = (
    "http://ogp.me/",
    "https://ogp.me/",
    "http://opengraphprotocol.org/",
    "http://www.facebook.com/2008/",
    "https://dev.twitter.com/cards#",
    "http://www.w3.org/ns/rdfa#usesVocabulary",
    "http://www.w3.org/1999/xhtml/vocab#",
    *(f"{card}:" for card in ("og", "fb", "article", "book", "books", "profile", "music", "video")),
    *(f"{card}:" for card in ("product", "twitter", "al")),
)


def collect_microdata(items: Sequence[Mapping[str, Any]], collector: Collector) -> None:
    """Add the statements of Microdata items."""
    for item in items:
        _microdata_item(item, collector, "", 0)


def _microdata_item(item: Mapping[str, Any], out: Collector, outer: str, depth: int) -> str:
    identifier = str(item.get("id") or "")
    subject = identifier if is_address(identifier) else out.blank()
    types = item.get("type") or []
    names = [types] if isinstance(types, str) else list(types)
    for name in names:
        out.link("microdata", subject, RDF_TYPE, name if is_address(name) else _MICRODATA + name)
    vocabulary = _vocabulary_of(names[0]) if names and is_address(names[0]) else outer
    for name, values in (item.get("properties") or {}).items():
        predicate = name if is_address(name) else (vocabulary or _MICRODATA) + name
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, dict) and depth < _MAX_DEPTH and ("properties" in value or "type" in value):
                out.link("microdata", subject, predicate, _microdata_item(value, out, vocabulary, depth + 1))
            else:
                out.add("microdata", subject, predicate, _plain(value))
    return subject


def _vocabulary_of(type_address: str) -> str:
    head, mark, _ = type_address.rpartition("#")
    if mark:
        return head + mark
    head, mark, _ = type_address.rpartition("/")
    return head + mark


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return str(value.get("value", ""))
    return "" if value is None else str(value)


def collect_microformats(items: Sequence[Mapping[str, Any]], collector: Collector) -> None:
    """Add the statements of Microformats items; heights of a style sheet are none."""
    for item in items:
        _microformats_item(item, collector, 0)


def _microformats_item(item: Mapping[str, Any], out: Collector, depth: int) -> str:
    subject = out.blank()
    types = [name for name in item.get("type") or [] if name not in _HEIGHTS]
    for name in types:
        out.link("microformats", subject, RDF_TYPE, _MICROFORMATS + name)
    profile = _MICROFORMATS + (types[0] if types else "microformats2") + "#"
    for name, values in (item.get("properties") or {}).items() if types else ():
        for value in values:
            if isinstance(value, dict) and "type" in value and depth < _MAX_DEPTH:
                out.link("microformats", subject, profile + name, _microformats_item(value, out, depth + 1))
            else:
                out.add("microformats", subject, profile + name, _plain(value))
    for child in item.get("children") or [] if depth < _MAX_DEPTH else ():
        _microformats_item(child, out, depth + 1)
    return subject


def collect_rdfa(nodes: Sequence[Mapping[str, Any]], collector: Collector) -> None:
    """Add the statements of RDFa; extruct gives them as expanded JSON-LD."""
    for node in nodes:
        subject = str(node.get("@id") or collector.blank())
        for predicate, values in node.items():
            if predicate == "@type":
                for name in values:
                    if not name.startswith(_NO_DATA):
                        collector.link("rdfa", subject, RDF_TYPE, name)
            elif predicate == _LICENCE or not predicate.startswith(("@", *_NO_DATA)):
                for value in values:
                    _rdfa_value(subject, predicate, value, collector)


def _rdfa_value(subject: str, predicate: str, value: Mapping[str, Any], collector: Collector) -> None:
    if "@id" in value:
        collector.link("rdfa", subject, predicate, str(value["@id"]))
        return
    collector.add(
        "rdfa",
        subject,
        predicate,
        value.get("@value", ""),
        language=str(value.get("@language") or ""),
        datatype=str(value.get("@type") or ""),
    )


def collect_open_graph(objects: Sequence[Mapping[str, Any]], url: str, collector: Collector) -> None:
    """Add the statements of Open Graph; all are about the page."""
    for found in objects:
        for name, value in found.get("properties") or []:
            prefix, _, rest = name.partition(":")
            collector.add("opengraph", url, str(found["namespace"].get(prefix, f"{prefix}:")) + rest, value)
