"""From JSON-LD to statements without fetching any context.

schema.org's context is known: its terms are its URLs. Terms of a context in the page are
looked up there. Terms of any other remote context are named after its URL (``CONTEXT#term``): what they
mean is written in a file that is never requested.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urljoin

from coati.markup.statements import RDF_TYPE, SCHEMA_ORG, Collector, is_address

_SYNTAX = "json-ld"
# Deeper than this nothing is read; the parser itself allows hardly more.
_MAX_DEPTH = 200
_CONTAINERS = ("@graph", "@included")


class _Context(NamedTuple):
    """What terms stand for: a vocabulary for all, and those that are defined one by one."""

    vocabulary: str = ""
    terms: Mapping[str, str] = {}

    def address(self, term: str) -> str:
        """Return the address of a term, a prefixed name or an address."""
        known = self.terms.get(term)
        if known is not None:
            return known
        prefix, colon, rest = term.partition(":")
        if colon:
            if prefix in self.terms and not rest.startswith("//"):
                return self.terms[prefix] + rest
            return SCHEMA_ORG + rest if prefix == "schema" else term
        return (self.vocabulary or "urn:x-undefined:") + term


def collect_json_ld(data: object, base_url: str, collector: Collector) -> None:
    """Add the statements of one script, parsed."""
    _Reader(base_url, collector).nodes(data, _Context(), 0)


class _Reader:
    def __init__(self, base_url: str, collector: Collector) -> None:
        self._base_url = base_url
        self._out = collector

    def nodes(self, data: object, context: _Context, depth: int) -> None:
        """Read a node, or a list of nodes; anything else says nothing here."""
        if depth > _MAX_DEPTH or self._out.full:
            return
        if isinstance(data, list):
            for item in data:
                self.nodes(item, context, depth + 1)
        elif isinstance(data, dict):
            self._node(data, context, depth)

    def _node(self, node: Mapping[str, object], context: _Context, depth: int) -> str:
        context = _within(context, node.get("@context"))
        identifier = node.get("@id")
        subject = self._reference(identifier) if isinstance(identifier, str) else self._out.blank()
        for key, value in node.items():
            if key == "@type":
                for name in value if isinstance(value, list) else [value]:
                    if isinstance(name, str):
                        self._out.link(_SYNTAX, subject, RDF_TYPE, context.address(name))
            elif key in _CONTAINERS:
                self.nodes(value, context, depth + 1)
            elif key == "@reverse" and isinstance(value, Mapping):
                for term, sources in value.items():
                    self._reverse(subject, context.address(term), sources, context, depth)
            elif not key.startswith("@"):
                self._values(subject, context.address(key), value, context, depth)
        return subject

    def _reverse(self, subject: str, predicate: str, sources: object, context: _Context, depth: int) -> None:
        for source in sources if isinstance(sources, list) else [sources]:
            if isinstance(source, dict) and depth < _MAX_DEPTH:
                self._out.link(_SYNTAX, self._node(source, context, depth + 1), predicate, subject)

    def _values(self, subject: str, predicate: str, value: object, context: _Context, depth: int) -> None:
        if depth > _MAX_DEPTH or self._out.full or value is None:
            return
        if isinstance(value, list):
            for item in value:
                self._values(subject, predicate, item, context, depth + 1)
        elif not isinstance(value, dict):
            self._out.add(_SYNTAX, subject, predicate, value)
        elif "@value" in value:
            self._literal(subject, predicate, value, context)
        elif "@list" in value or "@set" in value:
            self._values(subject, predicate, value.get("@list", value.get("@set")), context, depth + 1)
        else:
            self._out.link(_SYNTAX, subject, predicate, self._node(value, context, depth + 1))

    def _literal(self, subject: str, predicate: str, value: Mapping[str, object], context: _Context) -> None:
        kind = value.get("@type")
        self._out.add(
            _SYNTAX,
            subject,
            predicate,
            value["@value"],
            language=str(value.get("@language") or ""),
            datatype=context.address(kind) if isinstance(kind, str) else "",
        )

    def _reference(self, identifier: str) -> str:
        if identifier.startswith("_:") or is_address(identifier):
            return identifier
        try:
            joined = urljoin(self._base_url, identifier)
        except ValueError:
            return self._out.blank()
        return joined if is_address(joined) else self._out.blank()


def _within(outer: _Context, context: object) -> _Context:
    """Return what terms stand for below a node with this context; a list of contexts adds up."""
    if isinstance(context, list):
        for part in context[:16]:
            outer = _within(outer, part) if not isinstance(part, list) else outer
        return outer
    if isinstance(context, str):
        if "schema.org" in context:
            return outer._replace(vocabulary=SCHEMA_ORG)
        return outer._replace(vocabulary=context.rstrip("#/") + "#")
    if not isinstance(context, dict):
        return outer
    terms = dict(outer.terms)
    vocabulary = context.get("@vocab")
    for term, meant in context.items():
        address = meant.get("@id") if isinstance(meant, dict) else meant
        if isinstance(address, str) and not term.startswith("@"):
            terms[term] = _expanded(address, terms)
    return _Context(vocabulary if isinstance(vocabulary, str) else outer.vocabulary, terms)


def _expanded(address: str, terms: Mapping[str, str]) -> str:
    prefix, colon, rest = address.partition(":")
    return terms[prefix] + rest if colon and prefix in terms and not rest.startswith("//") else address
