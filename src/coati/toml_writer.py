"""Writing a mapping as TOML, for ``run.toml``; the standard library reads TOML and does not write it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import PurePath

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")


def to_toml(values: Mapping[str, object], comment: str = "") -> str:
    """Write settings: plain values first, then each nested mapping as a table. None is left out.

    >>> print(to_toml({"seed": 1, "crawl": {"delay": 1.0, "types": ["data"], "proxy": None}}))
    seed = 1
    <BLANKLINE>
    [crawl]
    delay = 1.0
    types = ["data"]
    <BLANKLINE>
    """
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    _write_table(lines, "", values)
    return "\n".join(lines) + "\n"


def _write_table(lines: list[str], name: str, values: Mapping[str, object]) -> None:
    inner = {key: value for key, value in values.items() if isinstance(value, Mapping)}
    plain = [
        f"{_key(key)} = {_value(value)}"
        for key, value in values.items()
        if key not in inner and value is not None
    ]
    if name and (plain or not inner):
        if lines:
            lines.append("")
        lines.append(f"[{name}]")
    lines.extend(plain)
    for key, value in inner.items():
        _write_table(lines, f"{name}.{_key(key)}" if name else _key(key), value)


def _key(key: str) -> str:
    return key if _BARE_KEY.match(key) else _text(key)


def _value(value: object) -> str:
    match value:
        case bool():
            text = "true" if value else "false"
        case int():
            text = str(int(value))
        case float():
            text = _number(value)
        case str() | PurePath():
            text = _text(str(value))
        case Mapping():
            pairs = ((key, item) for key, item in value.items() if item is not None)
            text = "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in pairs) + "}"
        case list() | tuple():
            text = "[" + ", ".join(map(_value, value)) + "]"
        case set() | frozenset():
            text = "[" + ", ".join(sorted(map(_value, value))) + "]"
        case _:
            raise TypeError(f"{value!r} has no form in TOML")
    return text


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "nan" if math.isnan(value) else f"{'-' if value < 0 else ''}inf"


def _text(value: str) -> str:
    # JSON's escapes are TOML's, but for DEL and for lone surrogates.
    text = json.dumps(value.encode("utf-8", "replace").decode(), ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")
