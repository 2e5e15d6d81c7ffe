"""GeoNetwork: a catalogue service (CSW) that is queried by a URL, and names each record's files."""

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

_CSW = (
    "{base}/srv/eng/csw?service=CSW&version=2.0.2&request=GetRecords&typeNames=csw:Record"
    "&elementSetName=full&resultType=results&maxRecords=100&startPosition=1"
)
_BASE = re.compile(r"(/[\w.-]{1,60})?/srv/[a-z]{3}/")
_MATCHED = re.compile(r"numberOfRecordsMatched\s?=\s?[\"'](\d{1,9})")
_NAMES = ("record", "uri", "references", "title", "modified", "format", "rights", "accessrights")


class GeoNetwork:
    """Online resources of all public records."""

    name = "geonetwork"
    title = "GeoNetwork"
    written_from = "CSW 2.0.2 of GeoNetwork 3 and 4: docs.geonetwork-opensource.org/4.4/api/csw"

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by what its pages load or declare."""
        if "geonetwork" not in page.generator and not page.has(
            'ng-app="gn_', "/catalog/components/", "gn-search"
        ):
            return None
        found = _BASE.search(page.url) or _BASE.search(page.text)
        base = (found[1] or "") if found else "/geonetwork"
        return [ApiEntry(page.at(_CSW.format(base=base)), "records")]

    def reads(self, url: str) -> bool:
        """Recognise a list by the request."""
        return "/csw?" in url and "request=GetRecords" in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the records; ``numberOfRecordsMatched`` counts them."""
        records: list[dict[str, list[str]]] = []
        for tag in tags(answer.text, _NAMES):
            if tag.closes:
                continue
            if tag.name == "record":
                records.append({})
            elif records:
                records[-1].setdefault(tag.name, []).append(" ".join(tag.text[:1200].split()))
        total = _MATCHED.search(answer.text)
        yield from next_by_offset(
            answer.url,
            (self.name, "records"),
            ("startPosition", "maxRecords"),
            len(records),
            int(total[1]) if total else None,
            first=1,
        )
        for record in records:
            title = record.get("title", [""])[0][:300]
            for word in ("uri", "references"):
                for address in record.get(word, ()):
                    yield listed_file(
                        address,
                        (self.name, "record", word),
                        title,
                        modified=record.get("modified", [""])[0],
                        form=record.get("format", [""])[0][:60],
                        licence=record.get("rights", [""])[0][:300],
                        heading=title,
                    )
