"""WARC records as other tools write them, byte by byte."""

from __future__ import annotations

import gzip
from collections.abc import Iterable

HTTP = "application/http; msgtype=response"


def warc(
    kind: str,
    url: str | None,
    block: bytes,
    content_type: str = HTTP,
    version: str = "1.0",
    **fields: str,
) -> bytes:
    """Write one record; underscores in the names of fields stand for hyphens."""
    lines = [f"WARC/{version}", f"WARC-Type: {kind}", f"Content-Type: {content_type}"]
    if url is not None:
        lines.append(f"WARC-Target-URI: {url}")
    fields.setdefault("WARC_Date", "2024-05-06T07:08:09Z")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    lines.append(f"Content-Length: {len(block)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def http(body: bytes, status: str = "200 OK", media_type: str = "text/html", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}"]
    if media_type:
        lines.append(f"Content-Type: {media_type}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def response(url: str, body: bytes = b"<p>hello</p>", **headers: str) -> bytes:
    return warc("response", url, http(body, **headers))


def packed(records: Iterable[bytes]) -> bytes:
    """Compress each record for itself, as the standard recommends."""
    return b"".join(map(gzip.compress, records))
