"""New links that wait to be followed, page by page in turn, and what following taught about their shapes.

A page with new URLs on every visit (a clock, a session, an advertisement) would be followed for ever. So URLs
are grouped by their shape: one of which many were followed and none led to a file is skipped. Not for good,
since a site may begin to publish where it never did: of the URLs that are skipped the first, second, fourth,
eighth and so on are followed, and a file among them ends it.
"""

from __future__ import annotations

import re
from typing import Any

from coati.strategies.revisits.fair_queue import FairQueue, LinkToFollow
from coati.web.urls import host_of, path_of, query_of

# What waits beyond this is dropped, the last in turn first: this bounds memory, not quality.
MOST_WAITING = 10_000

# This many links of a shape are followed in a row before it is left alone: as many for each file that it ever
# brought (up to a limit), and once more. A site's news pages hold a file in every tenth to twentieth case:
# fewer would give up on some of them, and in the long run on all, as a row of forty without a file comes.
_MOST_BARREN, _MOST_FILES = 40, 9

# Anchored at the beginning of a run of digits, without backtracking: linear in the length of a URL.
_NUMBERS = re.compile(r"(?<![0-9a-f])[a-f]*+[0-9][0-9a-f]*+")


def link_shape(url: str) -> str:
    """Return what generated URLs have in common: digits are folded, values are left out.

    >>> link_shape("http://example.org/news/2026-05/item17?sid=abc")
    'example.org/news/0-0/item0?sid'
    """
    names = ",".join(sorted(part.partition("=")[0] for part in query_of(url).split("&")))
    folder, _, last = path_of(url).lower().rpartition("/")
    # The name of a page is its own; numbers in it are not, and one that is all letters says nothing.
    name = _NUMBERS.sub("0", last) if any(letter.isdigit() for letter in last) else ""
    return f"{host_of(url)}{_NUMBERS.sub('0', folder)}/{name}{'?' if names else ''}{names}"


class Following:
    """The queue of links to follow.

    >>> queue = Following()
    >>> for url, score in (("http://a.org/x", 0.1), ("http://a.org/y.csv", 0.9)):
    ...     queue.push(LinkToFollow(url, "http://a.org/", score))
    >>> queue.pop().url, len(queue)
    ('http://a.org/y.csv', 1)
    """

    def __init__(self) -> None:
        self._queue = FairQueue()
        self.dropped = 0
        # Of each shape: how many were followed since one led to a file, how many did, how many were left.
        self._barren: dict[str, int] = {}
        self._files: dict[str, int] = {}
        self._left: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._queue)

    def push(self, link: LinkToFollow) -> None:
        """Queue a link, unless it is queued already."""
        self._queue.push(link)
        if len(self) > MOST_WAITING:
            kept = {each.url for each in self._queue.in_order()[: MOST_WAITING * 9 // 10]}
            self.dropped += len(self) - len(kept)
            self._queue.keep(kept.__contains__)

    def skips(self, url: str) -> bool:
        """Tell whether a new link is not worth following; call this once per link."""
        shape = link_shape(url)
        if not self._is_barren(shape):
            return False
        left = self._left[shape] = self._left.get(shape, 0) + 1
        return left & (left - 1) != 0

    def _is_barren(self, shape: str) -> bool:
        return self._barren.get(shape, 0) >= _MOST_BARREN * (1 + self._files.get(shape, 0))

    def pop(self) -> LinkToFollow:
        """Take the link whose turn it is; there must be one."""
        return self._queue.pop()

    def take(self, url: str) -> LinkToFollow | None:
        """Take a given link; None if it does not wait."""
        return self._queue.take(url)

    def learn(self, url: str, *, led_to_file: bool) -> None:
        """Note what following a link brought."""
        shape = link_shape(url)
        if led_to_file:
            self._files[shape] = min(self._files.get(shape, 0) + 1, _MOST_FILES)
            self._barren.pop(shape, None)
            self._left.pop(shape, None)
            return
        was_barren = self._is_barren(shape)
        self._barren[shape] = self._barren.get(shape, 0) + 1
        if self._is_barren(shape) and not was_barren:
            self._queue.keep(lambda url: link_shape(url) != shape)

    def save(self) -> dict[str, Any]:
        return {"queue": self._queue.save(), "dropped": self.dropped, "shapes": self._save_shapes()}

    def _save_shapes(self) -> list[list[Any]]:
        kept = (self._barren, self._files, self._left)
        shapes = dict.fromkeys(shape for counts in kept for shape in counts)
        return [[shape, *(counts.get(shape, 0) for counts in kept)] for shape in shapes]

    def load(self, state: dict[str, Any]) -> None:
        self._queue = FairQueue.load(state["queue"])
        self.dropped = state["dropped"]
        for shape, *counts in state["shapes"]:
            for kept, count in zip((self._barren, self._files, self._left), counts, strict=True):
                if count:
                    kept[shape] = count
