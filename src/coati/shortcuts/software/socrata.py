"""Socrata (Tyler Data & Insights): the discovery API lists all data sets of a domain; each exports as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from coati.shortcuts.api_answer import at, count_at, entries_at, text_at
from coati.shortcuts.listed_file import listed_file
from coati.shortcuts.paging import next_by_offset
from coati.shortcuts.profile import ApiEntry
from coati.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_LIST = "/api/catalog/v1"


class Socrata:
    """Tables as CSV, and files that were put there as they are."""

    name = "socrata"
    title = "Socrata"
    written_from = (
        "Discovery API v1: dev.socrata.com/docs/other/discovery; exports: dev.socrata.com/docs/formats/csv"
    )

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by the headers that each answer has, or by what pages load."""
        by_header = any(name.startswith("x-socrata-") for name in page.headers)
        if not by_header and not page.has("cdn.socrata.com", "socrata-visualizations", "window.socrata"):
            return None
        host = host_of(page.url)
        return [
            ApiEntry(page.at(f"{_LIST}?domains={host}&search_context={host}&limit=1000&offset=0"), "catalog")
        ]

    def reads(self, url: str) -> bool:
        """Recognise a list by the path."""
        return f"{_LIST}?" in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the resources; ``resultSetSize`` counts them."""
        found = list(entries_at(answer.json, "results"))
        total = count_at(answer.json, "resultSetSize")
        yield from next_by_offset(answer.url, (self.name, "catalog"), ("offset", "limit"), len(found), total)
        for entry in found:
            resource = at(entry, "resource")
            number = quote(text_at(resource, "id"), safe="")
            kind = text_at(resource, "type")
            if not number or kind not in {"dataset", "file", "filter", "map"}:
                continue
            is_file = kind == "file"
            yield listed_file(
                f"/download/{number}" if is_file else f"/api/views/{number}/rows.csv?accessType=DOWNLOAD",
                (self.name, "catalog", "file" if is_file else "rows.csv"),
                text_at(resource, "name"),
                modified=text_at(resource, "data_updated_at") or text_at(resource, "updatedAt"),
                form="" if is_file else "CSV",
                licence=text_at(entry, "metadata", "license"),
            )
