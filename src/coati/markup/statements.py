"""Statements: what structured data says, whatever its syntax.

A statement is a triple with the syntax that it was written in. Subjects and objects are addresses, or blank
nodes (``_:``) that are numbered within the page. Addresses of schema.org are written with ``http``, as its
own context does, so that statements of all syntaxes can be queried together.
"""

from __future__ import annotations

import re
from itertools import count
from typing import Final, NamedTuple

RDF_TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SCHEMA_ORG: Final = "http://schema.org/"

_SCHEMA_ORG_ADDRESS = re.compile(r"https?://(?:www\.)?schema\.org/?(?=[^/.]*\Z)")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{0,31}:[^\s<>\"{}|\\^`]+\Z")


class Statement(NamedTuple):
    """One triple. ``object_kind`` is "address", "blank" or "text"; a text may have a language or a type."""

    syntax: str
    subject: str
    predicate: str
    object: str
    object_kind: str
    language: str = ""
    datatype: str = ""


class Collector:
    """Collects the statements of one page; beyond ``most`` nothing is kept."""

    def __init__(self, most: int) -> None:
        self.statements: list[Statement] = []
        self._most = most
        self._numbers = count()

    @property
    def full(self) -> bool:
        """Whether nothing more is kept."""
        return len(self.statements) >= self._most

    def blank(self) -> str:
        """Return a new blank node."""
        return f"_:b{next(self._numbers)}"

    def add(
        self,
        syntax: str,
        subject: str,
        predicate: str,
        value: object,
        *,
        language: str = "",
        datatype: str = "",
    ) -> None:
        """Add a statement about a text, a number or a truth value."""
        if self.full:
            return
        text = "true" if value is True else "false" if value is False else str(value)
        self.statements.append(
            Statement(syntax, subject, _address(predicate), text, "text", language, datatype)
        )

    def link(self, syntax: str, subject: str, predicate: str, node: str) -> None:
        """Add a statement about another node: an address or a blank node."""
        if self.full:
            return
        blank = node.startswith("_:")
        self.statements.append(
            Statement(
                syntax,
                subject,
                _address(predicate),
                node if blank else _address(node),
                "blank" if blank else "address",
            )
        )


def _address(text: str) -> str:
    return _SCHEMA_ORG_ADDRESS.sub(SCHEMA_ORG, text)


def is_address(text: str) -> bool:
    """Tell whether a text is an absolute address that N-Quads can hold.

    >>> is_address("https://schema.org/name"), is_address("a name: with blanks")
    (True, False)
    """
    return _ADDRESS.match(text) is not None
