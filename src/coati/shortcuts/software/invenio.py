"""InvenioRDM: the records API; each record names its files, or at least its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.shortcuts.api_answer import address_at, at, entries_at, text_at
from coati.shortcuts.listed_file import listed_file
from coati.shortcuts.paging import next_by_link
from coati.shortcuts.profile import ApiEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

# Visitors without an account get 25 per page at most.
_SEARCH = "/api/records?size=25&page=1&sort=newest"


class InvenioRdm:
    """Files of public records."""

    name = "invenio-rdm"
    title = "InvenioRDM"
    written_from = "REST API of InvenioRDM 12: inveniordm.docs.cern.ch/reference/rest_api_drafts_records"

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by what it writes into its pages."""
        if "inveniordm" not in page.generator and not page.has("InvenioRDM", "data-invenio-"):
            return None
        return [ApiEntry(page.at(_SEARCH), "records")]

    def reads(self, url: str) -> bool:
        """Recognise a list by the path."""
        return "/api/records?" in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the records; ``links.next`` leads on."""
        found = list(entries_at(answer.json, "hits", "hits"))
        yield from next_by_link(address_at(answer.json, "links", "next"), (self.name, "records"), len(found))
        for record in found:
            about = at(record, "metadata")
            heading = text_at(about, "title")
            licence = text_at(next(entries_at(about, "rights"), {}), "id") or text_at(about, "license", "id")
            modified = text_at(record, "updated")
            files = at(record, "files", "entries") or at(record, "files")
            none = True
            for entry in entries_at({"files": files}, "files"):
                name = text_at(entry, "key")
                address = address_at(entry, "links", "content") or address_at(entry, "links", "self")
                if not address and name:
                    address = f"{address_at(record, 'links', 'files')}/{name}/content"
                none = none and not address
                yield listed_file(
                    address,
                    (self.name, "records", "file"),
                    name,
                    modified=modified,
                    form=text_at(entry, "mimetype"),
                    licence=licence,
                    heading=heading,
                )
            if none:
                page = address_at(record, "links", "self_html")
                yield listed_file(
                    page, (self.name, "records", "page"), heading, modified=modified, licence=licence
                )
