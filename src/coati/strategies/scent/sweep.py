"""How a site is looked at when nothing promises anything: one link of each folder, the shallowest first.

A folder here is one with its numbers: what is behind ``/1.4/`` may differ from what is behind ``/1.5/``,
though links to both wait in one queue. Each folder is represented by the link that was found first, which is
often its home page.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Deeper addresses are swept as if they were this deep.
DEPTHS = 9
# A site with more folders than this is not swept to its end.
MOST_FOLDERS = 1 << 14


class Sweep:
    """Links that stand for folders.

    >>> sweep = Sweep()
    >>> for number, url in enumerate(["http://a.test/b/c/d.html", "http://a.test/e.html"]):
    ...     sweep.add(url, number)
    >>> sweep.next(lambda number: True), sweep.next(lambda number: True), sweep.next(lambda number: True)
    (1, 0, None)
    """

    def __init__(self) -> None:
        self._folders: set[int] = set()
        # By depth: links in the order in which they were found, and where the sweep stands in them.
        self._order = [array("i") for _ in range(DEPTHS + 1)]
        self._position = [0] * (DEPTHS + 1)

    def add(self, url: str, number: int) -> None:
        """Take note of a link to a new URL."""
        path = url.partition("?")[0]
        folder = crc32(path.rpartition("/")[0].encode())
        if folder not in self._folders and len(self._folders) < MOST_FOLDERS:
            self._folders.add(folder)
            self._order[min(path.rstrip("/").count("/"), DEPTHS)].append(number)

    def next(self, wanted: Callable[[int], bool]) -> int | None:
        """Return the next link that is wanted; those that are not are skipped for good."""
        for depth, order in enumerate(self._order):
            for at in range(self._position[depth], len(order)):
                self._position[depth] = at + 1
                if wanted(order[at]):
                    return order[at]
        return None

    # --- saving ---------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Return the folders and the order."""
        return {
            "sweep_folders": np.array(sorted(self._folders), np.uint32),
            "sweep_order": np.concatenate([np.array(order, np.int32) for order in self._order]),
            "sweep_sizes": [len(order) for order in self._order],
            "sweep_position": list(self._position),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over what was saved."""
        self._folders = set(state["sweep_folders"].tolist())
        ends = np.cumsum(state["sweep_sizes"])[:-1]
        self._order = [array("i", order.tobytes()) for order in np.split(state["sweep_order"], ends)]
        self._position = list(state["sweep_position"])
