"""All out-links of a page, for strategies that need them: stored as differences to the last visit.

A page that is visited again mostly holds the links that it held before, so that a visit costs eight bytes for
each link that came or went, and nothing where nothing did. Hashes are `coati.web.urls.url_hash`, which do not
depend on the process.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable
    from sqlite3 import Connection

    import numpy.typing as npt

    Hashes = npt.NDArray[np.uint64]

_VISITS = """
SELECT out_links FROM requests JOIN pages ON pages.request = requests.id
WHERE requests.url = ? AND out_links IS NOT NULL AND requests.id <= ? ORDER BY requests.id
"""
_NONE = np.array([], np.uint64)

# This many hashes are kept in memory, 32 MB: of the pages that were visited last. Others are read from the
# log.
_KEPT_HASHES = 4_000_000


class OutLinks:
    """What stood on each page when it was last visited, read from the log where it is not known yet."""

    def __init__(self, connection: Connection, kept_hashes: int = _KEPT_HASHES) -> None:
        self._connection = connection
        self._last: OrderedDict[str, Hashes] = OrderedDict()
        self._room = kept_hashes

    def difference(self, url: str, request: int, now: Iterable[int]) -> bytes:
        """Encode what came and went since the last visit; ``now`` becomes the last visit."""
        before = self._before(url, request - 1)
        current = np.unique(np.fromiter(now, np.uint64))
        self._keep(url, current)
        came = np.setdiff1d(current, before, assume_unique=True)
        went = np.setdiff1d(before, current, assume_unique=True)
        return len(came).to_bytes(4, "little") + came.astype("<u8").tobytes() + went.astype("<u8").tobytes()

    def restored(self, url: str, request: int, difference: bytes) -> list[int]:
        """Decode what stood on the page at a visit; visits must be decoded in the order of the log."""
        current = _applied(self._before(url, request - 1), difference)
        self._keep(url, current)
        hashes: list[int] = current.tolist()
        return hashes

    def _keep(self, url: str, current: Hashes) -> None:
        """Keep what stands on a page now, in the place of those that were visited longest ago."""
        before = self._last.pop(url, None)
        self._room += _room_of(before) - _room_of(current)
        self._last[url] = current
        while self._room < 0 and len(self._last) > 1:
            _, oldest = self._last.popitem(last=False)
            self._room += _room_of(oldest)

    def _before(self, url: str, request: int) -> Hashes:
        known = self._last.get(url)
        if known is None:
            known = _NONE
            for (difference,) in self._connection.execute(_VISITS, (url, request)):
                known = _applied(known, difference)
        return known


def _room_of(hashes: Hashes | None) -> int:
    # The page itself takes room, too.
    return 0 if hashes is None else len(hashes) + 1


def _applied(before: Hashes, difference: bytes) -> Hashes:
    count = int.from_bytes(difference[:4], "little")
    changed = np.frombuffer(difference[4:], "<u8").astype(np.uint64)
    came, went = changed[:count], changed[count:]
    return np.union1d(np.setdiff1d(before, went, assume_unique=True), came)
