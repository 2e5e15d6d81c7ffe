"""SDMX: a registry lists its dataflows; each is one data set that its web service gives whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from coati.readers.xml_tags import tags
from coati.shortcuts.api_answer import MAX_ENTRIES, entries_at, text_at
from coati.shortcuts.listed_file import listed_file
from coati.shortcuts.profile import ApiEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_FLOWS = re.compile(r"^([^?#]{1,2000})/dataflow(?:/[^?#]{0,300})?$")
_LISTS = re.compile(r"/dataflow(?:/[\w.,*+-]{1,100}){0,3}/?(?:\?|$)")


class Sdmx:
    """Dataflows of a registry that a page links to, or at which a crawl begins."""

    name = "sdmx"
    title = "SDMX registry"
    written_from = "SDMX 2.1 RESTful web services, 1.5: github.com/sdmx-twg/sdmx-rest/tree/v1.5.0"

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by a link to a list of dataflows."""
        for reference in page.references("/dataflow"):
            found = _FLOWS.match(page.at(reference))
            if found is not None and ("sdmx" in found[1].lower() or found[1].endswith("/rest")):
                return [ApiEntry(f"{found[1]}/dataflow/all/all/latest?detail=allstubs", "dataflow")]
        return None

    def reads(self, url: str) -> bool:
        """Recognise a list by the path."""
        return _LISTS.search(url) is not None

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Read the dataflows, in XML or JSON; there are no pages."""
        base = answer.url.partition("?")[0].partition("/dataflow")[0]
        for flow, title in self._flows(answer):
            yield listed_file(
                f"{base}/data/{flow}/all", (self.name, "dataflow", "data"), title, form="SDMX", heading=title
            )

    def _flows(self, answer: ApiAnswer) -> Iterator[tuple[str, str]]:
        if answer.json is not None:
            for entry in entries_at(answer.json, "data", "dataflows"):
                yield (
                    _reference(*(text_at(entry, word) for word in ("agencyID", "id", "version"))),
                    text_at(entry, "name"),
                )
            return
        reference = title = ""
        for number, tag in enumerate(tags(answer.text, ("dataflow", "name"))):
            if number > MAX_ENTRIES:
                return
            if tag.name == "dataflow" and not tag.closes:
                if reference:
                    yield reference, title
                identity = (tag.attribute(word) for word in ("agencyid", "id", "version"))
                reference, title = _reference(*identity), ""
            elif tag.name == "name" and not tag.closes:
                title = title or " ".join(tag.text.split())[:300]
        if reference:
            yield reference, title


def _reference(agency: str, flow: str, version: str) -> str:
    parts = [agency, flow, version] if agency else [flow]
    return ",".join(quote(part, safe=".") for part in parts if part)
