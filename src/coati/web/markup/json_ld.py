"""JSON-LD: ``<script type="application/ld+json">``. Contexts are names here, and are never fetched."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from coati.web.markup.schema_types import schema_type

if TYPE_CHECKING:
    from collections.abc import Iterable

# What is read of one script; a longer one is judged by its beginning. Reading this takes some 10 ms.
MAX_SCRIPT_CHARS = 1 << 20
# Values that are looked at in all scripts of a page.
_MAX_VALUES = 200_000

# What people put around a script, though JSON allows no comments: at the beginning of a line. One that is not
# closed takes the rest, so that its end is looked for once.
_COMMENT = re.compile(
    r"^[^\S\n]*+(?://[^\n]*+|<!--(?:.*?-->|(?P<open>.*+))|/\*(?:.*?\*/|(?P<unclosed>.*+)))",
    re.DOTALL | re.MULTILINE,
)
# And after a script, which is read backwards.
_BEHIND = re.compile(r"(?:\s++|/\*.*?\*/|>--)*+", re.DOTALL)
_KEY = re.compile(r'"\s{0,9}:')
_TYPE = re.compile(r'"@type"\s{0,9}:\s{0,9}"([^"\\]{1,99})"')


def count_json_ld(scripts: Iterable[str], types: set[str]) -> tuple[int, int]:
    """Count the statements of scripts, and the scripts that cannot be read; ``types`` takes their types.

    >>> count_json_ld(['{"@type": "Dataset", "name": "Rain", "@context": "https://schema.org"}'], set())
    (2, 0)
    """
    count = broken = 0
    values_left = _MAX_VALUES
    for script in scripts:
        if len(script) > MAX_SCRIPT_CHARS:
            count += _count_keys(script[:MAX_SCRIPT_CHARS], types)
            continue
        try:
            data = _parsed(script)
        except (ValueError, RecursionError):
            broken += 1
            continue
        walk = _Walk(values_left, types)
        count += walk.count(data)
        values_left = walk.values_left
    return count, broken


def readable_scripts(scripts: Iterable[str]) -> list[object]:
    """Return what the scripts of a page hold, without those that cannot be read."""
    found = []
    for script in scripts:
        try:
            found.append(_parsed(script))
        except (ValueError, RecursionError):
            continue
    return found


def _parsed(script: str) -> object:
    # Numbers are not needed as numbers, and long ones take long to read.
    try:
        return json.loads(script, strict=False, parse_int=str)
    except ValueError:
        return json.loads(_without_comments(script), strict=False, parse_int=str)


def _without_comments(script: str) -> str:
    """Leave out the comments before, between and after the lines of a script.

    >>> _without_comments('/* a */ {"b": 1} /* c */ -->').strip()
    '{"b": 1}'
    """
    text = _COMMENT.sub(lambda found: "" if found.lastgroup is None else found[0], script)
    behind = _BEHIND.match(text[::-1])
    return text if behind is None else text[: len(text) - behind.end()]


def _count_keys(beginning: str, types: set[str]) -> int:
    """Count what a script that is too long to be read says at least, by its keys."""
    schema_org = "schema.org" in beginning
    for name in _TYPE.findall(beginning):
        short = schema_type(name, in_schema_org=schema_org)
        if short is not None:
            types.add(short)
    return len(_KEY.findall(beginning)) - beginning.count('"@context"') - beginning.count('"@id"')


class _Walk:
    """Goes through parsed JSON without recursion: data may be nested as deep as the parser allows."""

    def __init__(self, values_left: int, types: set[str]) -> None:
        self.values_left = values_left
        self._types = types

    def count(self, data: object) -> int:
        """Count the statements of all nodes."""
        count = 0
        # Each value with whether plain names of types are schema.org's there.
        pending: list[tuple[object, bool]] = [(data, False)]
        while pending and self.values_left > 0:
            value, in_schema_org = pending.pop()
            self.values_left -= 1
            if isinstance(value, list):
                pending.extend((item, in_schema_org) for item in value)
            elif isinstance(value, dict):
                in_schema_org = in_schema_org or _names_schema_org(value.get("@context"))
                count += self._count_node(value, pending, in_schema_org=in_schema_org)
        return count

    def _count_node(
        self, node: dict[str, object], pending: list[tuple[object, bool]], *, in_schema_org: bool
    ) -> int:
        count = 0
        for key, value in node.items():
            if key == "@type":
                count += self._note_types(value, in_schema_org=in_schema_org)
            elif key in {"@graph", "@list", "@set", "@included"}:
                pending.append((value, in_schema_org))
            elif key == "@reverse" and isinstance(value, dict):
                count += self._count_node(value, pending, in_schema_org=in_schema_org)
            elif not key.startswith("@"):
                count += _values_in(value)
                if isinstance(value, list | dict):
                    pending.append((value, in_schema_org))
        return count

    def _note_types(self, value: object, *, in_schema_org: bool) -> int:
        names = [name for name in (value if isinstance(value, list) else [value]) if isinstance(name, str)]
        for name in names[:16]:
            short = schema_type(name, in_schema_org=in_schema_org)
            if short is not None:
                self._types.add(short)
        return len(names)


def _values_in(value: object) -> int:
    """Count the objects of one property; a list is several, null and an empty list are none."""
    if isinstance(value, dict) and ("@list" in value or "@set" in value):
        value = value.get("@list", value.get("@set"))
    if isinstance(value, list):
        return sum(item is not None for item in value)
    return value is not None


def _names_schema_org(context: object) -> bool:
    if isinstance(context, str):
        return "schema.org" in context
    if isinstance(context, list):
        return any(_names_schema_org(part) for part in context[:16] if not isinstance(part, list))
    return isinstance(context, dict) and "schema.org" in str(context.get("@vocab", ""))
