"""All out-links of a page, for strategies that ask for them: as differences to the page's last visit.

A page that is visited again mostly holds the links that it held before, so that a visit costs eight bytes for
each link that came or went, and nothing where nothing did. Hashes are `coati.web.urls.url_hash`, which do not
depend on the process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable
    from sqlite3 import Connection

    import numpy.typing as npt

    Hashes = npt.NDArray[np.uint64]

_VISITS = (
    "SELECT out_links FROM pages WHERE url = ? AND out_links IS NOT NULL AND request <= ? ORDER BY request"
)
_NONE = np.array([], np.uint64)


class OutLinks:
    """What stood on each page when it was last visited, read from the log where it is not known yet."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._last: dict[str, Hashes] = {}

    def difference(self, url: str, request: int, now: Iterable[int]) -> bytes:
        """Encode what came and went since the last visit; ``now`` becomes the last visit."""
        before = self._before(url, request - 1)
        current = np.unique(np.fromiter(now, np.uint64))
        self._last[url] = current
        came = np.setdiff1d(current, before, assume_unique=True)
        went = np.setdiff1d(before, current, assume_unique=True)
        return len(came).to_bytes(4, "little") + came.astype("<u8").tobytes() + went.astype("<u8").tobytes()

    def restored(self, url: str, request: int, difference: bytes) -> list[int]:
        """Decode what stood on the page at a visit; visits are asked about in the order of the log."""
        current = _applied(self._before(url, request - 1), difference)
        self._last[url] = current
        hashes: list[int] = current.tolist()
        return hashes

    def _before(self, url: str, request: int) -> Hashes:
        known = self._last.get(url)
        if known is None:
            known = _NONE
            for (difference,) in self._connection.execute(_VISITS, (url, request)):
                known = _applied(known, difference)
        return known


def _applied(before: Hashes, difference: bytes) -> Hashes:
    count = int.from_bytes(difference[:4], "little")
    changed = np.frombuffer(difference[4:], "<u8").astype(np.uint64)
    came, went = changed[:count], changed[count:]
    return np.union1d(np.setdiff1d(before, went, assume_unique=True), came)
