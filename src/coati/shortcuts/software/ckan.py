"""CKAN: the action API searches data sets and gives their resources with them."""

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

_LIST = "api/3/action/package_search"


class Ckan:
    """Resources of all public data sets. A server gives 1000 data sets at most, and often fewer."""

    name = "ckan"
    title = "CKAN"
    written_from = "action API v3 of CKAN 2.10 and 2.11: docs.ckan.org/en/2.11/api"

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by the generator, or by what only its own pages load."""
        root = page.at("/")
        if "ckan" not in page.generator and not page.has('data-module="', "data-site-root="):
            return None
        if "ckan" not in page.generator and not page.has("/api/i18n/", "ckan"):
            return None
        return [ApiEntry(f"{root}{_LIST}?rows=500&start=0&sort=metadata_modified+desc", "package_search")]

    def reads(self, url: str) -> bool:
        """Recognise a list by the route."""
        return f"/{_LIST}" in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the resources; ``result.count`` counts data sets."""
        packages = list(entries_at(answer.json, "result", "results"))
        total = count_at(answer.json, "result", "count")
        what = (self.name, "package_search")
        yield from next_by_offset(answer.url, what, ("start", "rows"), len(packages), total)
        for package in packages:
            heading = text_at(package, "title") or text_at(package, "name")
            licence = text_at(package, "license_title") or text_at(package, "license_id")
            for resource in entries_at(package, "resources"):
                yield listed_file(
                    address_at(resource, "url"),
                    (self.name, "resource", "url"),
                    text_at(resource, "name") or text_at(resource, "description"),
                    modified=text_at(resource, "last_modified") or text_at(package, "metadata_modified"),
                    form=text_at(resource, "format") or text_at(resource, "mimetype"),
                    licence=licence,
                    heading=heading,
                )
