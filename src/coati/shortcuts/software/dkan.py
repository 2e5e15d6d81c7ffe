"""DKAN: a catalogue on Drupal; its metastore gives all data sets at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.shortcuts.profile import ApiEntry
from coati.shortcuts.software.dcat import distributions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_LIST = "/api/1/metastore/schemas/dataset/items"


class Dkan:
    """Data sets of the metastore (2.x), else ``data.json`` (1.x has it, too)."""

    name = "dkan"
    title = "DKAN"
    written_from = "metastore API of DKAN 2.19: dkan.readthedocs.io/en/latest/user-guide/guide_api.html"

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by what Drupal's pages load or say with DKAN on top."""
        drupal = "drupal" in page.generator or page.has("Drupal.settings", "drupal-settings-json")
        if not drupal or not page.has("/dkan", "dkan_", "dkan-"):
            return None
        return [ApiEntry(page.at(_LIST), "dataset"), ApiEntry(page.at("/data.json"), "dataset", sure=False)]

    def reads(self, url: str) -> bool:
        """Recognise a list by the path; data.json is DCAT's."""
        return _LIST in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the distributions."""
        return distributions(self.name, answer.json)
