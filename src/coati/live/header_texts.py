"""Headers as text: Scrapy keeps them as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Headers


def header_text(headers: Headers, name: str) -> str:
    """Return the last value of a header; empty where there is none."""
    return (headers.get(name) or b"").decode("latin-1")


def header_pairs(headers: Headers) -> Iterator[tuple[str, str]]:
    """Return the names with their values, one by one."""
    for name, values in headers.items():
        for value in values:
            yield name.decode("latin-1"), value.decode("latin-1")
