"""OAI-PMH: records in Dublin Core, a page at a time; EPrints and many others speak it.

Identifiers of a record are URLs of its page and, in EPrints, of its files. Others are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from coati.readers.listed import API_PAGE, Listed
from coati.readers.xml_tags import tags
from coati.shortcuts.listed_file import listed_file
from coati.shortcuts.profile import ApiEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_NAMES = (
    "record",
    "identifier",
    "relation",
    "title",
    "rights",
    "format",
    "datestamp",
    "resumptiontoken",
    "date",
)
_LIST = "verb=ListRecords&metadataPrefix=oai_dc"
_MAX_TEXT_CHARS = 300


class OaiPmh:
    """Whatever a page links to as a repository of this protocol."""

    name = "oai-pmh"
    title = "OAI-PMH"
    written_from = "OAI-PMH 2.0: openarchives.org/OAI/openarchivesprotocol.html"

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by a link to an answer of the protocol."""
        for reference in page.references("verb="):
            base, mark, query = reference.partition("?")
            if mark and query.startswith(("verb=Identify", "verb=List")):
                return [ApiEntry(page.at(f"{base}?{_LIST}"), "records")]
        return None

    def reads(self, url: str) -> bool:
        """Recognise a list by the verb."""
        return "verb=ListRecords" in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the records; a token leads on."""
        token = ""
        records: list[dict[str, list[str]]] = []
        for tag in tags(answer.text, _NAMES):
            if tag.closes:
                continue
            if tag.name == "record":
                records.append({})
            elif tag.name == "resumptiontoken":
                token = tag.text.strip()
            elif records:
                records[-1].setdefault(tag.name, []).append(tag.text[: 4 * _MAX_TEXT_CHARS].strip())
        if token and records:
            base = answer.url.partition("?")[0]
            following = f"{base}?verb=ListRecords&resumptionToken={quote(token, safe='')}"
            yield Listed(following, (self.name, "records", API_PAGE))
        for record in records:
            yield from _links(record)


def _links(record: dict[str, list[str]]) -> Iterator[Listed]:
    title = _first(record, "title")
    for word in ("identifier", "relation"):
        for address in record.get(word, ()):
            if address.startswith(("http://", "https://")) and "doi.org/" not in address:
                yield listed_file(
                    address,
                    (OaiPmh.name, "record", word),
                    title,
                    modified=_first(record, "datestamp"),
                    form=_first(record, "format"),
                    licence=_first(record, "rights"),
                    heading=title,
                )


def _first(record: dict[str, list[str]], word: str) -> str:
    return " ".join(record.get(word, [""])[0].split())[:_MAX_TEXT_CHARS]
