"""Drupal: JSON:API, in the core since 8.7, lists managed files, fifty per page at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.shortcuts.api_answer import address_at, at, entries_at, text_at
from coati.shortcuts.listed_file import listed_file
from coati.shortcuts.paging import next_by_link, next_by_offset
from coati.shortcuts.profile import ApiEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_LIST = "/jsonapi/file/file"
_WHAT = ("drupal", "file")


class Drupal:
    """Files by JSON:API. No page shows whether a site has switched it on, so it is a probe."""

    name = "drupal"
    title = "Drupal"
    written_from = (
        "JSON:API module of Drupal 10 and 11:"
        " drupal.org/docs/core-modules-and-themes/core-modules/jsonapi-module"
    )

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by the generator, or by the settings that Drupal writes into each page."""
        said = page.generator
        if "drupal" not in said and not page.has(
            "data-drupal-selector=", '"drupalSettings"', "Drupal.settings"
        ):
            return None
        address = page.at(f"{_LIST}?page[offset]=0&page[limit]=50&sort=-changed")
        return [ApiEntry(address, "file", sure=False)]

    def reads(self, url: str) -> bool:
        """Recognise a list by the path."""
        return _LIST in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the files; ``links.next`` leads on."""
        found = list(entries_at(answer.json, "data"))
        following = address_at(answer.json, "links", "next")
        if following or at(answer.json, "links") is not None:
            yield from next_by_link(following, _WHAT, len(found))
        else:
            yield from next_by_offset(answer.url, _WHAT, ("page[offset]", "page[limit]"), len(found), None)
        for entry in found:
            facts = at(entry, "attributes")
            yield listed_file(
                address_at(facts, "uri"),
                (self.name, "file", "uri"),
                text_at(facts, "filename"),
                modified=text_at(facts, "changed"),
                form=text_at(facts, "filemime"),
            )
