"""What a fetched page was worth, and what it turns out to be worth as its links are followed.

A page's worth is the best rate, in targets per request, that somebody who stands on it can have: take the
``k`` most promising of its new links, and the targets that it brought already, over the ``1 + k`` requests
that this costs. A hub or the next page of a listing thus inherits the worth of what it leads to, discounted
at each step. The label that is learnt is the logarithm of 1 + worth, so that one page with a thousand files
does not outweigh everything else.

What a link promised is replaced by what it brought when it was followed, and if that changes the page's
worth, the page that led to it is revised too, a few steps up. Only the last pages are kept open for this.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, insort
from dataclasses import dataclass
from operator import neg
from typing import TYPE_CHECKING, Any

import numpy as np

from coati.model import Settlement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from coati.learners.value_chains import Share, ValueChains

    Row = npt.NDArray[np.uint32]

# How many pages stay open, and for how many of its links a page remembers the promise.
OPEN_PAGES = 4096
_BEST = 20
# How far up a change is passed on, and how small a change is not worth it.
_STEPS_UP = 3
_SMALL = 0.05
# A promise is kept in one byte, in steps of this size.
_GRAIN = 1 / 32


@dataclass(slots=True)
class _OpenPage:
    """``row`` and ``share`` are None for the start page, which nothing can be learnt about."""

    request_id: int
    row: Row | None
    share: Share | None
    value: float
    promises: list[float]
    waiting: int
    held: int = 0
    targets: int = 0


class PageLabels:
    """Learns the worth of pages into `ValueChains`, and revises it. URLs are numbers of `KnownUrls`."""

    def __init__(self, chains: ValueChains, discount: float) -> None:
        self._chains = chains
        self._discount = discount
        # For each URL: the page where it was found, and what it promised there.
        self._found_on = array("i")
        self._promised = bytearray()
        self._open: dict[int, _OpenPage] = {}

    def add(self, found_on: int) -> None:
        """Take note of the next URL and of the page where it was found; -1 for none."""
        self._found_on.append(found_on)
        self._promised.append(0)

    def add_redirect(self, number: int) -> None:
        """Take note of the next URL: where the redirect ``number`` leads, so that it stands in its place."""
        self._found_on.append(self._found_on[number])
        self._promised.append(self._promised[number])

    def follow(self, number: int, *, target: bool) -> list[Settlement]:
        """Take note that a link was followed; return the reward of its page, if it was the last to wait."""
        place = self._found_on[number]
        page = self._open.get(place)
        if page is None:
            return []
        page.targets += target
        page.waiting -= 1
        self._replace(place, page, self._promised[number] * _GRAIN, 0.0, _STEPS_UP)
        return [] if page.waiting else [Settlement(page.request_id, float(page.targets))]

    def open(
        self,
        request_id: int,
        number: int,
        row: Row | None,
        promises: Sequence[tuple[int, float]],
        held: int = 0,
    ) -> tuple[float, list[Settlement]]:
        """Learn a page's worth from its new links and the targets that each promises (number, promise).

        ``held`` targets stand on it that were known from elsewhere: they count for its worth, since the next
        page like it may hold others, and not for its reward. Return the label, and what is settled by it.
        """
        for link, promise in promises:
            self._promised[link] = min(255, int(promise / _GRAIN))
        best = sorted((promise for _, promise in promises), reverse=True)[:_BEST]
        value = _label(held, best)
        self._propagate(self._found_on[number], 0.0, value, _STEPS_UP - 1)
        share = None if row is None else self._chains.learn(row, value)
        if not promises:
            return value, [Settlement(request_id, 0.0)]
        self._open[number] = _OpenPage(request_id, row, share, value, best, len(promises), held)
        if len(self._open) <= OPEN_PAGES:
            return value, []
        oldest = self._open.pop(next(iter(self._open)))
        return value, [Settlement(oldest.request_id, float(oldest.targets))] if oldest.waiting else []

    def _replace(self, place: int, page: _OpenPage, before: float, after: float, steps: int) -> None:
        """Replace the promise that is nearest to ``before``, and pass on what that changes."""
        promises = page.promises
        if promises:
            nearest = bisect_left(promises, -before, key=neg)
            if nearest == len(promises) or (
                nearest and promises[nearest - 1] - before <= before - promises[nearest]
            ):
                nearest -= 1
            del promises[nearest]
            if after:
                insort(promises, after, key=neg)
            else:
                # None is less. So it is for each link that was followed.
                promises.append(after)
        value = _label(page.held + page.targets, promises)
        if abs(value - page.value) <= _SMALL:
            return
        old, page.value = page.value, value
        if page.row is not None and page.share is not None:
            self._chains.revise(page.row, old, value, page.share)
        self._propagate(self._found_on[place], old, value, steps)

    def _propagate(self, place: int, before: float, after: float, steps: int) -> None:
        """Pass a change of a page's label on to the page where it was found."""
        parent = self._open.get(place)
        if parent is not None and steps:
            old, new = self._discount * math.expm1(before), self._discount * math.expm1(after)
            self._replace(place, parent, old, new, steps - 1)

    # --- saving ---------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Return what is noted of all URLs, and the open pages."""
        pages = [
            [
                number,
                page.request_id,
                None if page.row is None else page.row.tolist(),
                None if page.share is None else page.share.tolist(),
                page.value,
                page.promises,
                page.waiting,
                page.held,
                page.targets,
            ]
            for number, page in self._open.items()
        ]
        return {
            "labels_found_on": np.array(self._found_on, np.int32),
            "labels_promised": bytes(self._promised),
            "labels_open": pages,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over what was saved."""
        self._found_on = array("i", state["labels_found_on"].tobytes())
        self._promised = bytearray(state["labels_promised"])
        self._open = {}
        for number, request_id, row, share, value, promises, waiting, held, targets in state["labels_open"]:
            self._open[number] = _OpenPage(
                request_id,
                None if row is None else np.array(row, np.uint32),
                None if share is None else np.array(share, np.float32),
                value,
                list(promises),
                waiting,
                held,
                targets,
            )


def _label(targets: int, promises: Sequence[float]) -> float:
    """Return the label of a page with this many targets and these promises, the largest first.

    >>> round(_label(3, [0.9]), 2), round(_label(0, [0.9, 0.9]), 2)
    (1.39, 0.47)
    """
    rate = total = float(targets)
    for requests, promise in enumerate(promises, 2):
        if promise <= rate:
            # Neither this one nor any smaller one raises the rate.
            break
        total += promise
        rate = total / requests
    return math.log1p(rate)
