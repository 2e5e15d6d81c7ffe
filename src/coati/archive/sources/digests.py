"""Whether a capture is what the digests in its record say, as the tool that wrote it computed them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping

_ALGORITHMS = ("sha1", "sha256")
_BY_LIBRARY = re.compile(r"(sha1:([a-z2-7]{32}|[0-9a-f]{40})|sha256:[0-9a-f]{64})\Z", re.IGNORECASE)


def block_can_be_checked(fields: Mapping[str, str]) -> bool:
    """Tell whether a record has a digest of its block that the WARC library reads."""
    return _BY_LIBRARY.match(fields.get("warc-block-digest", "").strip()) is not None


def has_payload(fields: Mapping[str, str], *bodies: bytes | None) -> bool:
    """Tell whether one of these is the body that the record's digest names; True where none is named.

    Tools do not agree on whether it is the body as it was sent or without its codings.

    >>> digest = {"warc-payload-digest": "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"}
    >>> has_payload(digest, b"5 hello 0", b"hello"), has_payload(digest, b"hell")
    (True, False)
    """
    algorithm, _, claimed = fields.get("warc-payload-digest", "").strip().partition(":")
    expected = _octets(claimed, algorithm.lower())
    # What was cut off may have been whole when its digest was taken.
    if expected is None or "warc-truncated" in fields:
        return True
    known = [body for body in bodies if body is not None]
    return not known or any(_hash(algorithm.lower(), body) == expected for body in known)


def _hash(algorithm: str, body: bytes) -> bytes:
    return hashlib.new(algorithm, body, usedforsecurity=False).digest()


def _octets(claimed: str, algorithm: str) -> bytes | None:
    """Read a digest in base 32 or base 16; None where it is neither, or its algorithm is not known."""
    if algorithm not in _ALGORITHMS:
        return None
    size = hashlib.new(algorithm, usedforsecurity=False).digest_size
    try:
        if len(claimed) == 2 * size:
            return bytes.fromhex(claimed)
        octets = base64.b32decode(claimed + "=" * (-len(claimed) % 8), casefold=True)
    except (ValueError, binascii.Error):
        return None
    return octets if len(octets) == size else None
