"""NADA, the catalogue of many statistical offices: studies by search; their pages lead to the files."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from coati.shortcuts.api_answer import address_at, count_at, entries_at, text_at
from coati.shortcuts.listed_file import listed_file
from coati.shortcuts.paging import next_by_page
from coati.shortcuts.profile import ApiEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_SEARCH = "/index.php/api/catalog/search?ps=100&page=1&sort_by=created&sort_order=desc"


class Nada:
    """Related materials of each study: the page that has its questionnaires, reports and tables."""

    name = "nada"
    title = "NADA"
    written_from = "catalogue API of NADA 5: ihsn.github.io/nada-api-redoc/catalog-admin"

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by the generator, or by what its pages load."""
        said = "nada" in page.generator.split() or page.loads("/themes/nada52/")
        if not said and not page.has("nada-citation", "nada-search", "NADA - Microdata", "/nada-logo"):
            return None
        return [ApiEntry(page.at(_SEARCH), "search")]

    def reads(self, url: str) -> bool:
        """Recognise a list by the path."""
        return "/api/catalog/search?" in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the studies; ``result.found`` counts them."""
        found = list(entries_at(answer.json, "result", "rows"))
        total = count_at(answer.json, "result", "found")
        pages = None if total is None or not found else -(-total // len(found))
        yield from next_by_page(answer.url, (self.name, "search"), ("page", "ps"), len(found), pages)
        for study in found:
            number = quote(text_at(study, "id"), safe="")
            page = address_at(study, "url") or (f"/index.php/catalog/{number}" if number else "")
            yield listed_file(
                f"{page.rstrip('/')}/related-materials" if page else "",
                (self.name, "study", "related materials"),
                text_at(study, "title"),
                modified=text_at(study, "changed"),
                heading=text_at(study, "title"),
            )
