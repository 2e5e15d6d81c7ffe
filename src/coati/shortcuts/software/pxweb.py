"""PxWeb, the tables of the Nordic and many other statistical offices: version 2 of its API gives them as CSV.

Version 1 gives data to POST requests alone, so that there is nothing to follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from coati.readers.listed import API_PAGE, Listed
from coati.shortcuts.api_answer import address_at, at, count_at, entries_at, text_at
from coati.shortcuts.listed_file import listed_file
from coati.shortcuts.paging import next_by_page
from coati.shortcuts.profile import ApiEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_TABLES = "/api/v2/tables?pageSize=1000&pageNumber=1"


class PxWeb:
    """All tables, each with the cells that the office chose as its default."""

    name = "pxweb"
    title = "PxWeb"
    written_from = "PxWebApi 2.0: github.com/statisticssweden/PxApiSpecs (PxAPI-2.yml)"

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by what its pages load or declare."""
        if "pxweb" not in page.generator and not page.has("pxweb-", "/PXWeb/", "PxWebApi", "px-web"):
            return None
        return [ApiEntry(page.at(_TABLES), "tables", sure=False)]

    def reads(self, url: str) -> bool:
        """Recognise a list by the path."""
        return "/v2/tables?" in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the tables; ``page`` says how many pages there are."""
        found = list(entries_at(answer.json, "tables"))
        about = at(answer.json, "page")
        named = [address_at(link) for link in entries_at(about, "links") if text_at(link, "rel") == "next"]
        if named and found:
            yield Listed(named[0], (self.name, "tables", API_PAGE))
        else:
            pages = count_at(about, "totalPages")
            yield from next_by_page(
                answer.url, (self.name, "tables"), ("pageNumber", "pageSize"), len(found), pages
            )
        for table in found:
            number = quote(text_at(table, "id"), safe="")
            yield listed_file(
                f"tables/{number}/data?outputFormat=csv" if number else "",
                (self.name, "tables", "data"),
                text_at(table, "label"),
                modified=text_at(table, "updated"),
                form="CSV",
            )
