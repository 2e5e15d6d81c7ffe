"""SharePoint: its search lists documents, where anonymous visitors may search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coati.readers.xml_tags import tags
from coati.shortcuts.listed_file import listed_file
from coati.shortcuts.paging import next_by_offset
from coati.shortcuts.profile import ApiEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_SEARCH = (
    "/_api/search/query?querytext=%27IsDocument:1%27&rowlimit=500&startrow=0"
    "&selectproperties=%27Path,Title,FileExtension,LastModifiedTime%27"
)
_TOTAL = re.compile(r"TotalRows[^<>]{0,80}>(\d{1,9})<")


class SharePoint:
    """Documents by search. The answer is Atom: pairs of a property's name and its value."""

    name = "sharepoint"
    title = "SharePoint"
    written_from = (
        "SharePoint Search REST API (2013 and later, Online): learn.microsoft.com/sharepoint/dev/"
        "general-development/sharepoint-search-rest-api-overview"
    )

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by the header that each answer has, or by the generator."""
        if (
            not page.header("microsoftsharepointteamservices")
            and "microsoft sharepoint" not in page.generator
        ):
            return None
        return [ApiEntry(page.at(_SEARCH), "search", sure=False)]

    def reads(self, url: str) -> bool:
        """Recognise a list by the route."""
        return "/_api/search/query?" in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the rows of the result."""
        rows = list(_rows(answer.text))
        total = _TOTAL.search(answer.text)
        yield from next_by_offset(
            answer.url,
            (self.name, "search"),
            ("startrow", "rowlimit"),
            len(rows),
            int(total[1]) if total else None,
        )
        for row in rows:
            yield listed_file(
                row.get("Path", ""),
                (self.name, "search", "path"),
                row.get("Title", ""),
                modified=row.get("LastModifiedTime", ""),
                form=row.get("FileExtension", ""),
            )


def _rows(text: str) -> Iterator[dict[str, str]]:
    """Yield rows: each begins with the property that was first in the row before."""
    row: dict[str, str] = {}
    key = ""
    for tag in tags(text, ("key", "value")):
        if tag.closes:
            continue
        if tag.name == "key":
            key = tag.text
        elif key:
            if key in row:
                if "Path" in row:
                    yield row
                row = {}
            row[key], key = tag.text, ""
    if "Path" in row:
        yield row
