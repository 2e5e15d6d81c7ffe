"""EPrints: OAI-PMH, whose identifiers are the URLs of the files, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.shortcuts.profile import ApiEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_OAI = "/cgi/oai2?verb=ListRecords&metadataPrefix=oai_dc"


class Eprints:
    """Only the URLs: responses are read as OAI-PMH."""

    name = "eprints"
    title = "EPrints"
    written_from = "OAI 2.0 interface of EPrints 3.4: wiki.eprints.org/w/OAI-PMH"

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by the generator."""
        return [ApiEntry(page.at(_OAI), "records")] if "eprints" in page.generator else None

    def reads(self, url: str) -> bool:
        """Return False: OAI-PMH reads its lists."""
        return False

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """List nothing."""
        return iter(())
