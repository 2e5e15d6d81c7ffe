"""DCAT-US: the whole catalogue of a site in one ``data.json``; DKAN and ArcGIS Hub have one, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.shortcuts.api_answer import MAX_ENTRIES, address_at, at, entries_at, text_at
from coati.shortcuts.listed_file import listed_file
from coati.shortcuts.profile import ApiEntry
from coati.web.urls import host_of, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_USUAL_PLACE = "/data.json"


class Dcat:
    """Distributions of all data sets: their files, else the pages that give access to them."""

    name = "dcat"
    title = "DCAT catalogue (data.json)"
    written_from = "DCAT-US 1.1 (Project Open Data): resources.data.gov/resources/dcat-us"

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by a link to the catalogue; agencies of the United States must have one."""
        for reference in page.references(_USUAL_PLACE):
            address = page.at(reference)
            if path_of(address) == _USUAL_PLACE and host_of(address) == host_of(page.url):
                return [ApiEntry(address, "dataset")]
        if host_of(page.url).endswith(".gov"):
            return [ApiEntry(page.at(_USUAL_PLACE), "dataset", sure=False)]
        return None

    def reads(self, url: str) -> bool:
        """Recognise a list by the name of the file."""
        return path_of(url).endswith(_USUAL_PLACE)

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the distributions."""
        datasets = answer.json if isinstance(answer.json, list) else at(answer.json, "dataset")
        yield from distributions(self.name, datasets)


def distributions(name: str, datasets: object) -> Iterator[Listed]:
    """Yield the distributions of data sets in DCAT's words, with or without the prefix of JSON-LD."""
    left = MAX_ENTRIES
    for dataset in entries_at({"datasets": datasets}, "datasets"):
        heading = _text(dataset, "title")
        licence = _text(dataset, "license")
        modified = _text(dataset, "modified")
        for found in entries_at({"found": _value(dataset, "distribution")}, "found"):
            left -= 1
            if left < 0:
                return
            word = "downloadURL" if _address(found, "downloadURL") else "accessURL"
            yield listed_file(
                _address(found, word),
                (name, "distribution", word),
                _text(found, "title"),
                modified=_text(found, "modified") or modified,
                form=_text(found, "format") or _text(found, "mediaType"),
                licence=_text(found, "license") or licence,
                heading=heading,
            )


def _value(entry: object, word: str) -> object:
    found = at(entry, word)
    if found is None:
        found = at(entry, f"dcat:{word}") or at(entry, f"dct:{word}")
    return [found] if isinstance(found, dict) and word == "distribution" else found


def _text(entry: object, word: str) -> str:
    return text_at({"found": _value(entry, word)}, "found")


def _address(entry: object, word: str) -> str:
    return address_at({"found": _value(entry, word)}, "found")
