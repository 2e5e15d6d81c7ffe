"""ArcGIS Hub: a feed in the words of DCAT-US has all public items of a site, with their downloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.shortcuts.api_answer import at
from coati.shortcuts.profile import ApiEntry
from coati.shortcuts.software.dcat import distributions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_FEED = "/api/feed/dcat-us/1.1.json"


class ArcgisHub:
    """Downloads of the feed; many are made when they are first requested, and come a little later."""

    name = "arcgis-hub"
    title = "ArcGIS Hub"
    written_from = (
        "DCAT-US 1.1 feed of ArcGIS Hub:"
        " doc.arcgis.com/en/hub/content/federate-data-with-external-catalogs.htm"
    )

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by what its pages load."""
        if not page.has("hubcdn.arcgis.com", "/opendata-ui/assets", "arcgis-hub"):
            return None
        return [ApiEntry(page.at(_FEED), "feed")]

    def reads(self, url: str) -> bool:
        """Recognise a list by the path."""
        return "/api/feed/dcat-us/" in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the distributions."""
        return distributions(self.name, at(answer.json, "dataset"))
