"""schema.org: data sets that a page describes as Dataset or DataCatalog in JSON-LD, with their files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from coati.shortcuts.api_answer import address_at, at, entries_at, text_at
from coati.shortcuts.listed_file import listed_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.profile import ApiEntry
    from coati.shortcuts.seen_page import SeenPage

_BLOCK, _BLOCK_END = "application/ld+json", "</script"
_MAX_BLOCKS = 50
_MAX_BLOCK_CHARS = 1_000_000
_MAX_DEPTH = 6
_MAX_THINGS = 5_000


class SchemaOrg:
    """Markup of the page itself: it names files, not an API."""

    name = "schema.org"
    title = "schema.org data sets"
    written_from = "schema.org 28: schema.org/Dataset, schema.org/DataCatalog; JSON-LD 1.1"

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Tell whether the page describes data sets; there is nothing further to request."""
        return [] if next(self.marked_up(page.text), None) is not None else None

    def reads(self, url: str) -> bool:
        """Return False: there are no lists."""
        return False

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """List nothing."""
        return iter(())

    def marked_up(self, text: str) -> Iterator[Listed]:
        """Yield the files and data sets that a page describes."""
        if "ld+json" not in text or "schema.org" not in text:
            return
        for block in _blocks(text):
            try:
                thing = json.loads(block)
            except (ValueError, RecursionError):
                continue
            left = [_MAX_THINGS]
            for dataset in _datasets(thing, _MAX_DEPTH, left):
                yield from _files(self.name, dataset)


def _blocks(text: str) -> Iterator[str]:
    at = 0
    for _ in range(_MAX_BLOCKS):
        mark = text.find(_BLOCK, at)
        begin = text.find(">", mark, mark + 1000) + 1 if mark >= 0 else 0
        end = text.find(_BLOCK_END, begin, begin + _MAX_BLOCK_CHARS) if begin else -1
        if end < 0:
            return
        yield text[begin:end]
        at = end


def _datasets(thing: object, depth: int, left: list[int]) -> Iterator[dict[str, object]]:
    left[0] -= 1
    if depth == 0 or left[0] < 0:
        return
    if isinstance(thing, list):
        for each in thing:
            yield from _datasets(each, depth, left)
    elif isinstance(thing, dict):
        types = thing.get("@type")
        if "Dataset" in (types if isinstance(types, list) else [types]):
            yield thing
        for word in ("@graph", "dataset", "mainEntity", "hasPart"):
            yield from _datasets(thing.get(word), depth - 1, left)


def _files(name: str, dataset: dict[str, object]) -> Iterator[Listed]:
    heading = text_at(dataset, "name")
    licence = address_at(dataset, "license") or text_at(dataset, "license", "name")
    modified = text_at(dataset, "dateModified")
    found = at(dataset, "distribution")
    files = list(entries_at({"files": [found] if isinstance(found, dict) else found}, "files"))
    for file in files:
        yield listed_file(
            address_at(file, "contentUrl"),
            (name, "Dataset", "contentUrl"),
            text_at(file, "name"),
            modified=text_at(file, "dateModified") or modified,
            form=text_at(file, "encodingFormat") or text_at(file, "fileFormat"),
            licence=licence,
            heading=heading,
        )
    if not files:
        page = address_at(dataset, "url") or address_at(dataset, "@id")
        yield listed_file(page, (name, "Dataset", "url"), heading, modified=modified, licence=licence)
