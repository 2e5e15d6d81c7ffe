"""DSpace: versions 7 and later by their REST API, older ones by the REST API of theirs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coati.shortcuts.api_answer import address_at, at, count_at, entries_at, text_at
from coati.shortcuts.listed_file import listed_file
from coati.shortcuts.paging import next_by_link, next_by_offset
from coati.shortcuts.profile import ApiEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_SEARCH = "/server/api/discover/search/objects?dsoType=item&size=100&page=0&embed=bundles/bitstreams"
_ITEMS = "/rest/items?expand=bitstreams&limit=100&offset=0"
_OAI = "oai/request?verb=ListRecords&metadataPrefix=oai_dc"
_VERSION = re.compile(r"dspace (\d{1,2})")
_NEW = 7
# Texts and previews that DSpace makes of files by itself.
_MADE = frozenset({"TEXT", "THUMBNAIL", "LICENSE", "SWORD", "METADATA"})


class Dspace:
    """Bitstreams of items; OAI-PMH is the fallback, where REST is closed."""

    name = "dspace"
    title = "DSpace"
    written_from = (
        "REST API of DSpace 7 and 8: github.com/DSpace/RestContract;"
        " of 5 and 6: wiki.lyrasis.org/display/DSDOC6x/REST+API"
    )

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by the generator, which says the version, or by the root element of version 7."""
        found = _VERSION.search(page.generator)
        if found is None and not page.has("<ds-app"):
            return None
        if found is None or int(found[1]) >= _NEW:
            oai = ApiEntry(page.at(f"/server/{_OAI}"), "oai", sure=False)
            return [ApiEntry(page.at(_SEARCH), "items"), oai]
        return [
            ApiEntry(page.at(_ITEMS), "items", sure=False),
            ApiEntry(page.at(f"/{_OAI}"), "oai", sure=False),
        ]

    def reads(self, url: str) -> bool:
        """Recognise a list by the path."""
        return "/server/api/discover/search/objects?" in url or "/rest/items?" in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the items, whichever API answered."""
        return self._old(answer) if isinstance(answer.json, list) else self._new(answer)

    def _new(self, answer: ApiAnswer) -> Iterator[Listed]:
        result = at(answer.json, "_embedded", "searchResult")
        found = list(entries_at(result, "_embedded", "objects"))
        yield from next_by_link(address_at(result, "_links", "next"), (self.name, "items"), len(found))
        for entry in found:
            item = at(entry, "_embedded", "indexableObject")
            heading = text_at(item, "name")
            modified = text_at(item, "lastModified")
            licence = text_at(next(entries_at(item, "metadata", "dc.rights"), {}), "value")
            none = True
            for bundle in entries_at(item, "_embedded", "bundles", "_embedded", "bundles"):
                if text_at(bundle, "name") in _MADE:
                    continue
                for stream in entries_at(bundle, "_embedded", "bitstreams", "_embedded", "bitstreams"):
                    none = False
                    yield listed_file(
                        address_at(stream, "_links", "content"),
                        (self.name, "items", "bitstream"),
                        text_at(stream, "name"),
                        modified=modified,
                        licence=licence,
                        heading=heading,
                    )
            if none and text_at(item, "uuid"):
                page = f"/items/{text_at(item, 'uuid')}"
                path = (self.name, "items", "page")
                yield listed_file(page, path, heading, modified=modified, licence=licence)

    def _old(self, answer: ApiAnswer) -> Iterator[Listed]:
        found = list(entries_at({"items": answer.json}, "items"))
        yield from next_by_offset(answer.url, (self.name, "items"), ("offset", "limit"), len(found), None)
        for item in found:
            for stream in entries_at(item, "bitstreams"):
                if text_at(stream, "bundleName") in _MADE or not count_at(stream, "sizeBytes"):
                    continue
                link = address_at(stream, "retrieveLink")
                yield listed_file(
                    f"/rest{link}" if link.startswith("/bitstreams") else link,
                    (self.name, "items", "bitstream"),
                    text_at(stream, "name"),
                    modified=text_at(item, "lastModified"),
                    form=text_at(stream, "mimeType"),
                    heading=text_at(item, "name"),
                )
