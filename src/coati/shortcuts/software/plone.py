"""Plone: its REST API searches the catalogue, in which files are content like pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.shortcuts.api_answer import address_at, entries_at, text_at
from coati.shortcuts.listed_file import listed_file
from coati.shortcuts.paging import next_by_link
from coati.shortcuts.profile import ApiEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

# With ++api++ the answer is JSON whatever the request's Accept header says.
_SEARCH = (
    "/++api++/@search?portal_type=File&b_size=100&b_start=0"
    "&metadata_fields=modified&metadata_fields=mime_type&metadata_fields=Rights"
)


class Plone:
    """Content of the type File; its bytes are at ``@@download/file``."""

    name = "plone"
    title = "Plone"
    written_from = (
        "plone.restapi 9 (Plone 6): 6.docs.plone.org/plone.restapi/docs/source/endpoints/searching.html"
    )

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by the generator."""
        if "plone" not in page.generator:
            return None
        return [ApiEntry(page.at(_SEARCH), "search", sure=False)]

    def reads(self, url: str) -> bool:
        """Recognise a list by the route."""
        return "/@search?" in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the results; ``batching.next`` leads on."""
        found = list(entries_at(answer.json, "items"))
        yield from next_by_link(
            address_at(answer.json, "batching", "next"), (self.name, "search"), len(found)
        )
        for entry in found:
            address = address_at(entry, "@id")
            yield listed_file(
                f"{address}/@@download/file" if address else "",
                (self.name, "search", "file"),
                text_at(entry, "title"),
                modified=text_at(entry, "modified"),
                form=text_at(entry, "mime_type"),
                licence=text_at(entry, "Rights"),
            )
