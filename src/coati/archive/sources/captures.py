"""From a capture in a WARC file to a record of ours."""

from __future__ import annotations

import re
from typing import NamedTuple

from fastwarc.warc import WarcRecordType

from coati.archive.record import Entry, Record
from coati.archive.sources.content_coding import Decoded, decode_body
from coati.archive.sources.source import MAX_BODY_BYTES
from coati.archive.sources.warc_stream import Capture
from coati.model import Kind
from coati.times import from_iso
from coati.web.urls import normalise, resolve

_OK = 200
_HIGHEST_STATUS = 999
_SIZE = re.compile(r"[0-9]{1,15}\Z")
_RANGE = re.compile(r"bytes [0-9]+-[0-9]+/([0-9]{1,15})\Z")
_KINDS = {kind.value: kind for kind in Kind}


class DecodedRecord(NamedTuple):
    """A record, and whether its body came whole out of its codings."""

    record: Record
    whole: bool


def address_of(capture: Capture) -> str | None:
    """Return the normal form of what a capture is of; None for what is not on the web."""
    # wget writes the URL in angle brackets, as a draft of the standard had it.
    return normalise(capture.fields.get("warc-target-uri", "").strip("<> "))


def date_of(capture: Capture) -> float | None:
    """Return the time of a capture in seconds since the epoch; None where it does not say."""
    if capture.fields.get("coati-fetched") == "unknown":
        return None
    try:
        return from_iso(capture.fields.get("warc-date", ""))
    except (ValueError, OverflowError):
        return None


def to_record(capture: Capture, url: str) -> DecodedRecord:
    """Turn a response or a resource into a record; raise `ValueError` where that cannot be."""
    status = _status(capture)
    by_name: dict[str, str] = {}
    for name, value in capture.headers:
        by_name.setdefault(name.lower(), value)
    decoded = _decode(capture, by_name)
    size_bytes = _size(capture, by_name, decoded)
    fields = capture.fields
    if capture.type == WarcRecordType.resource:
        media_type = fields.get("content-type", "")
    else:
        media_type = by_name.get("content-type", "")
    location = by_name.get("location", "")
    entry = Entry(
        url=url,
        status=status,
        media_type=fields.get("coati-media-type", media_type),
        size_bytes=size_bytes,
        kind=_KINDS.get(fields.get("coati-kind", "")),
        location=(resolve(url, location) or "") if location else "",
        fetched_at=date_of(capture),
    )
    body = None if decoded is None else decoded.body
    return DecodedRecord(Record(entry, capture.headers, body), decoded is None or decoded.whole)


def _status(capture: Capture) -> int:
    if capture.type == WarcRecordType.resource:
        return _OK
    status = capture.status
    if status is None or not 0 < status <= _HIGHEST_STATUS:
        raise ValueError("it holds no HTTP response")
    return status


def _decode(capture: Capture, headers: dict[str, str]) -> Decoded | None:
    """Return the body; None where it is too large, or was left out, as our own archives do it."""
    left_out = "warc-truncated" in capture.fields and not capture.body
    if capture.body is None or left_out:
        return None
    return decode_body(
        capture.body,
        transfer_coding=headers.get("transfer-encoding", ""),
        content_coding=headers.get("content-encoding", ""),
        max_bytes=MAX_BODY_BYTES,
    )


def _size(capture: Capture, headers: dict[str, str], decoded: Decoded | None) -> int:
    """Return the size of the whole body, where the capture holds less of it than there was."""
    own = capture.fields.get("coati-size", "")
    if _SIZE.match(own):
        return int(own)
    part = _RANGE.match(headers.get("content-range", ""))
    if part:
        return int(part[1])
    if decoded is not None and "warc-truncated" not in capture.fields:
        return len(decoded.body)
    here = capture.body_bytes if decoded is None else len(decoded.body)
    stated = headers.get("content-length", "")
    return max(here, int(stated)) if _SIZE.match(stated) else here
