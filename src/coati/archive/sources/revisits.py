"""Revisits: captures that leave their body out because it was the same as another one's.

The other capture is found by the digest of its body or by its record's name, in a second pass over
the files, which is made only if there are revisits. So only the revisits are kept in memory, not
what every record of a large crawl might be needed for later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from fastwarc.warc import WarcRecordType

from coati.archive.record import Record
from coati.archive.sources.captures import address_of, date_of, to_record
from coati.archive.sources.source import DamagedPart, Report, unreported
from coati.archive.sources.warc_stream import Capture, WarcFile, read_captures


class _Waiting(NamedTuple):
    where: str
    url: str
    capture: Capture


class Revisits:
    """The revisits of some files; `resolve` gives them their bodies."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []

    def add(self, file: WarcFile, capture: Capture) -> None:
        """Keep a revisit; "not modified" does not count as one, since it says nothing new."""
        url = address_of(capture)
        not_modified = "not-modified" in capture.fields.get("warc-profile", "")
        if url is not None and not not_modified:
            where = f"{file.name}, byte {capture.offset}"
            self._waiting.append(_Waiting(where, url, capture._replace(body=None)))

    def resolve(self, files: Sequence[WarcFile], report: Report) -> Iterator[Record]:
        """Return each revisit with the body that it refers to; report those without."""
        wanted: dict[str, list[int]] = {}
        for place, waiting in enumerate(self._waiting):
            for key in _names_of_original(waiting.capture):
                wanted.setdefault(key, []).append(place)
        left = dict(enumerate(self._waiting))
        if wanted:
            yield from _find(files, wanted, left)
        for waiting in left.values():
            report(DamagedPart(waiting.where, "what it repeats is not in these files", waiting.url))


def _find(
    files: Sequence[WarcFile], wanted: dict[str, list[int]], left: dict[int, _Waiting]
) -> Iterator[Record]:
    """Look for the originals of revisits, and take those off ``left`` that are found."""
    for file in files:
        for original in read_captures(file, unreported):
            if not left:
                return
            if original.type == WarcRecordType.revisit:
                continue
            keys = (original.fields.get("warc-payload-digest"), _record_id(original))
            for place in [place for key in keys if key is not None for place in wanted.get(key, ())]:
                waiting = left.pop(place, None)
                if waiting is not None:
                    yield from _joined(waiting.capture, original, waiting.url)


def _joined(revisit: Capture, original: Capture, url: str) -> Iterator[Record]:
    try:
        record = to_record(original, url).record
    except ValueError:
        return
    entry = replace(record.entry, fetched_at=date_of(revisit))
    headers = record.headers
    if revisit.status is not None:
        entry = replace(entry, status=revisit.status)
        headers = revisit.headers
    yield Record(entry, headers, record.body)


def _names_of_original(revisit: Capture) -> Iterator[str]:
    fields = revisit.fields
    for name in ("warc-payload-digest", "warc-refers-to"):
        if name in fields:
            yield fields[name]


def _record_id(capture: Capture) -> str | None:
    return capture.fields.get("warc-record-id")
