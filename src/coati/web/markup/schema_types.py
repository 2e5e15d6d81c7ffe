"""Short names of schema.org's types."""

from __future__ import annotations

import re

_SCHEMA_ORG = re.compile(r"(?:https?://(?:www\.)?schema\.org/|schema:)([A-Z][A-Za-z0-9]{0,63})\Z")
_PLAIN = re.compile(r"[A-Z][A-Za-z0-9]{0,63}\Z")


def schema_type(name: str, *, in_schema_org: bool = False) -> str | None:
    """Return the short name of a schema.org type; None for a type of another vocabulary.

    ``in_schema_org``: a name without a prefix is one of schema.org's.

    >>> schema_type("http://schema.org/Dataset"), schema_type("Dataset"), schema_type("foaf:Person")
    ('Dataset', None, None)
    """
    if in_schema_org and _PLAIN.match(name):
        return name
    found = _SCHEMA_ORG.match(name)
    return found[1] if found else None
