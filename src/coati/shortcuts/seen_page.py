"""What a page that was fetched shows of the software that made it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from typing import Final

from coati.web.urls import host_of, resolve

# How much of a page is looked at: what software says of itself is near the top.
MAX_SEEN_BYTES: Final = 256 * 1024
_MAX_TAGS = 2_000

_TAG = re.compile(r"<(meta|link|a)\b([^<>]{0,2000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"(?<![a-zA-Z:-])([a-zA-Z:-]{1,40})\s{0,5}=\s{0,5}(?:\"([^\"]{0,1500})\"|'([^']{0,1500})'|([^\s\"'>]{1,1500}))"
)
# rel=next of a Link header, and what it points to (RFC 8288).
_LINK_VALUE = re.compile(r"<([^<>]{1,2000})>([^<>]{0,300})")
_REL = re.compile(r"\brel\s{0,5}=\s{0,5}\"?([^\";,]{1,200})", re.IGNORECASE)


@dataclass(frozen=True)
class SeenPage:
    """A page: where it was, its headers by lower-case name, and the beginning of its text."""

    url: str
    headers: Mapping[str, str]
    text: str

    @classmethod
    def of(cls, url: str, headers: Iterable[tuple[str, str]], body: bytes) -> SeenPage:
        """Take what an answer has; only its first bytes are looked at."""
        return cls(url, header_values(headers), body[:MAX_SEEN_BYTES].decode("utf-8", "replace"))

    def header(self, name: str) -> str:
        """Return a header by its lower-case name; empty where there is none."""
        return self.headers.get(name, "")

    @cached_property
    def generator(self) -> str:
        """What the page says that it was made by, in lower case, header and elements together."""
        said = [self.header("x-generator")]
        said += [
            tag.get("content", "")
            for name, tag in self._tags
            if _names(tag) == "generator" and name == "meta"
        ]
        return " | ".join(said).lower()

    def linked(self, relation: str) -> str:
        """Return where the ``link`` with a relation leads, in the head or the headers; empty if none."""
        for name, tag in self._tags:
            if name == "link" and relation in tag.get("rel", "").split():
                return tag.get("href", "")
        return link_header(self.header("link"), relation)

    def references(self, part: str) -> list[str]:
        """Return what the page's links lead to, in its own words, where that contains a text."""
        return [href for _, tag in self._tags if part in (href := tag.get("href", ""))]

    def has(self, *parts: str) -> bool:
        """Tell whether one of these texts is in the page, as it is written."""
        return any(part in self.text for part in parts)

    def loads(self, path: str) -> bool:
        """Tell whether the page takes something from under a path of its own host."""
        host = re.escape(host_of(self.url))
        origin = rf"(?:(?:https?:)?//{host}(?::\d+)?)?"
        folders = r"(?:/[\w.~-]{1,60}){0,3}"
        own = rf"(?:src|href)\s?=\s?[\"']?{origin}{folders}{re.escape(path)}"
        return re.search(own, self.text) is not None

    def at(self, path: str) -> str:
        """Return the URL of a path of the page's host, or of a reference on the page."""
        return resolve(self.url, path) or ""

    @cached_property
    def _tags(self) -> list[tuple[str, dict[str, str]]]:
        return list(_tags(self.text))


def header_values(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers by lower-case name; several of one name are joined as HTTP does it."""
    values: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        values[key] = f"{values[key]}, {value}" if key in values else value
    return values


def link_header(value: str, relation: str) -> str:
    """Return where a Link header leads with a relation; empty where it does not.

    >>> link_header('<https://a.test/?page=2>; rel="next", <https://a.test/?page=9>; rel="last"', "next")
    'https://a.test/?page=2'
    """
    for target, parameters in _LINK_VALUE.findall(value[:8192]):
        found = _REL.search(parameters)
        if found is not None and relation in found[1].split():
            return str(target)
    return ""


def _names(tag: Mapping[str, str]) -> str:
    return tag.get("name", "").lower()


def _tags(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    for found, _ in zip(_TAG.finditer(text), range(_MAX_TAGS), strict=False):
        attributes = {
            name.lower(): unescape(first or second or third)
            for name, first, second, third in _ATTRIBUTE.findall(found[2])
        }
        yield found[1].lower(), attributes
