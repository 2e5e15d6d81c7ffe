"""Dataverse: the search API lists files, a thousand per page at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.shortcuts.api_answer import address_at, count_at, entries_at, text_at
from coati.shortcuts.listed_file import listed_file
from coati.shortcuts.paging import next_by_offset
from coati.shortcuts.profile import ApiEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_SEARCH = "/api/search?q=*&type=file&per_page=1000&start=0&sort=date&order=desc"


class Dataverse:
    """Public files, by the URL that gives their bytes."""

    name = "dataverse"
    title = "Dataverse"
    written_from = "Search API of Dataverse 6: guides.dataverse.org/en/latest/api/search.html"

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by the URLs of its pages together with what they load."""
        if not page.has("/dataverse.xhtml", "dataverse_project_logo", "/resources/js/dv_", "dataverseHeader"):
            return None
        return [ApiEntry(page.at(_SEARCH), "search")]

    def reads(self, url: str) -> bool:
        """Recognise a list by the path and the kind of thing that is looked for."""
        return "/api/search?" in url and "type=file" in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the files; ``total_count`` counts them."""
        found = list(entries_at(answer.json, "data", "items"))
        total = count_at(answer.json, "data", "total_count")
        yield from next_by_offset(answer.url, (self.name, "search"), ("start", "per_page"), len(found), total)
        for entry in found:
            yield listed_file(
                address_at(entry, "url"),
                (self.name, "search", "file"),
                text_at(entry, "name"),
                modified=text_at(entry, "published_at"),
                form=text_at(entry, "file_content_type") or text_at(entry, "file_type"),
                heading=text_at(entry, "dataset_name"),
            )
