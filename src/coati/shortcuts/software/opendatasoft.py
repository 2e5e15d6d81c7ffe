"""OpenDataSoft: the Explore API lists data sets; each exports as CSV, and may have files beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from coati.shortcuts.api_answer import address_at, at, count_at, entries_at, text_at
from coati.shortcuts.listed_file import listed_file
from coati.shortcuts.paging import next_by_offset
from coati.shortcuts.profile import ApiEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_LIST = "/api/explore/v2.1/catalog/datasets"


class OpenDataSoft:
    """Exports of data sets, their attachments and what they export to other formats."""

    name = "opendatasoft"
    title = "OpenDataSoft"
    written_from = "Explore API v2.1: help.opendatasoft.com/apis/ods-explore-v2"

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by what its pages load or declare."""
        if not page.has("static.opendatasoft.com", "ods-widgets", 'ng-app="ods.', "/static/ods-"):
            return None
        return [ApiEntry(page.at(f"{_LIST}?limit=100&offset=0"), "datasets")]

    def reads(self, url: str) -> bool:
        """Recognise a list by the path."""
        return f"{_LIST}?" in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the data sets; ``total_count`` counts them."""
        found = list(entries_at(answer.json, "results"))
        total = count_at(answer.json, "total_count")
        yield from next_by_offset(answer.url, (self.name, "datasets"), ("offset", "limit"), len(found), total)
        for entry in found:
            about = at(entry, "metas", "default")
            heading = text_at(about, "title")
            details = {
                "modified": text_at(about, "modified") or text_at(about, "data_processed"),
                "licence": text_at(about, "license"),
                "heading": heading,
            }
            number = quote(text_at(entry, "dataset_id"), safe="")
            if number and at(entry, "has_records") is not False:
                export = f"{_LIST}/{number}/exports/csv"
                yield listed_file(export, (self.name, "datasets", "csv"), heading, form="CSV", **details)
            for word in ("attachments", "alternative_exports"):
                for extra in entries_at(entry, word):
                    title = text_at(extra, "title")
                    form = text_at(extra, "mimetype")
                    path = (self.name, "datasets", word)
                    yield listed_file(address_at(extra, "url"), path, title, form=form, **details)
