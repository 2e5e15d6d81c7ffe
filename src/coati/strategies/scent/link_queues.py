"""Waiting links in queues: links with the same row of keys wait in one, and share its score.

Scores change with everything that is learnt, and to work all of them out again at each step would cost time
in proportion to the frontier. Here a score may be old. Queues stand in blocks; the best score of each block
is kept, so that finding the best queue looks at one number per block and then into one block. Whoever owns
the scores refreshes them: a whole block (`waiting_in`), its best (`best_in`), or the best of all blocks
(`best_queues`).

Links of one queue wait in the order of their discovery, and there neighbours are alike: editions of one year,
pages of one letter. So where a link disappoints, some are skipped, and more with each that follows
(`skip_ahead`): the queue is searched in leaps until something is found, and from there link by link.

A queue whose last link was taken gives its place to the next new one. Links are numbers of `KnownUrls`;
queues are chains through arrays, so that any link can be taken out, and a URL costs twelve bytes.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from coati.strategies.chance import draw_many

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Row = npt.NDArray[np.uint32]
    Floats = npt.NDArray[np.float32]

BLOCK = 256
_NONE = -1
_NOTHING = array("i", [_NONE])
# How many links of a queue are skipped at most.
_MOST_SKIPPED = 64
# Below every score: a place where nothing waits.
EMPTY = -1.0
_EMPTY_32 = np.array(EMPTY, np.float32)
# Ties are broken by less than any difference that means something.
_TIE_BITS = 16
_TIE_STEP = 1e-9


class LinkQueues:
    """The frontier of `coati.strategies.scent.scent`.

    Between queues with equal scores chance decides, by the seed.

    >>> queues = LinkQueues(columns=2)
    >>> queue = queues.place(np.array([1, 2], np.uint32))
    >>> queues.push(queue, 7); queues.set_score(queue, 0.5)
    >>> queues.best(), queues.first(queue)
    (0, 7)
    >>> queues.take(7); queues.best()
    """

    def __init__(self, columns: int, seed: int = 0) -> None:
        self._seed = seed
        self._made = 0
        self._drawn: list[int] = []
        # One queue per column: what has the same key in one of the rows is found at a glance.
        self._keys = np.zeros((columns, BLOCK), np.uint32)
        self._score_of, self._scores = _both(np.full(BLOCK, EMPTY, np.float32))
        # A small amount that decides between queues with equal scores.
        self._tie_of, self._ties = _both(np.zeros(BLOCK, np.float32))
        self._best_of, self._block_best = _both(np.full(1, EMPTY, np.float32))
        # The queue that has it, the lowest place among equals; _NONE where it has to be looked for.
        self._best_in = [_NONE]
        self._first = _NOTHING * BLOCK
        self._last = _NOTHING * BLOCK
        # For each URL number its queue while it waits, and its neighbours in the queue.
        self._queue_of = array("i")
        self._before = array("i")
        self._behind = array("i")
        # By the hash of its row; two of 65,536 queues share one with a probability of 1 in 8 billion.
        self._place_of: dict[int, int] = {}
        self._hash_of = array("q", [0]) * BLOCK
        self._free: list[int] = []
        self._size = 0
        # How many links were skipped last, for queues where that was the last thing to happen.
        self._skipped: dict[int, int] = {}

    def __len__(self) -> int:
        """Count the queues that have links waiting."""
        return len(self._place_of)

    @property
    def blocks(self) -> int:
        """The number of blocks that hold queues."""
        return -(-self._size // BLOCK)

    def place(self, row: Row) -> int:
        """Return the queue with this row, a new one if there is none; push a link before anything else."""
        row_hash = _hash(row)
        queue = self._place_of.get(row_hash)
        if queue is not None:
            return queue
        if self._free:
            queue = self._free.pop()
        else:
            queue = self._size
            self._size += 1
            if queue == len(self._scores):
                self._grow()
        self._keys[:, queue] = row
        if not self._drawn:
            # Many at once, the next one last: one by one they would take longer than all else here.
            self._drawn = draw_many(self._seed, self._made, _TIE_BITS, BLOCK)[::-1]
        self._tie_of[queue] = self._drawn.pop() * _TIE_STEP
        self._made += 1
        self._place_of[row_hash] = queue
        self._hash_of[queue] = row_hash
        return queue

    def row(self, queue: int) -> Row:
        """Return a queue's row of keys."""
        return self._keys[:, queue].copy()

    def columns(self, queues: npt.NDArray[np.intp]) -> npt.NDArray[np.uint32]:
        """Return the rows of many queues, one per column."""
        return self._keys.take(queues, axis=1)

    def holds(self, queue: int, row: Row) -> bool:
        """Tell whether links with this row wait in this place: it may have gone to another queue."""
        return self._first[queue] != _NONE and self._hash_of[queue] == _hash(row)

    def push(self, queue: int, number: int) -> None:
        """Let a link wait behind the others of its queue."""
        missing = number + 1 - len(self._queue_of)
        if missing > 0:
            nothing = _NOTHING if missing == 1 else _NOTHING * missing
            self._queue_of += nothing
            self._before += nothing
            self._behind += nothing
        self._queue_of[number] = queue
        last = self._last[queue]
        self._last[queue] = number
        if last == _NONE:
            self._first[queue] = number
        else:
            self._link(last, number)

    def _link(self, number: int, behind: int) -> None:
        self._behind[number] = behind
        self._before[behind] = number

    def queue_of(self, number: int) -> int | None:
        """Return the queue of a link that waits."""
        queue = self._queue_of[number] if number < len(self._queue_of) else _NONE
        return None if queue == _NONE else queue

    def first(self, queue: int) -> int:
        """Return the link of a queue that is next."""
        return self._first[queue]

    def take(self, number: int) -> None:
        """Let a link wait no longer; with the last one its queue goes."""
        queue, before, behind = self._queue_of[number], self._before[number], self._behind[number]
        self._queue_of[number] = self._before[number] = self._behind[number] = _NONE
        if before != _NONE:
            self._behind[before] = behind
        else:
            self._first[queue] = behind
        if behind != _NONE:
            self._before[behind] = before
        else:
            self._last[queue] = before
        if before == behind == _NONE:
            self._skipped.pop(queue, None)
            del self._place_of[self._hash_of[queue]]
            self._free.append(queue)
            self.set_score(queue, EMPTY)

    def count(self, queue: int, most: int) -> int:
        """Count the links of a queue that wait, up to ``most``."""
        counted, number = 0, self._first[queue]
        while number != _NONE and counted < most:
            counted += 1
            number = self._behind[number]
        return counted

    def skip_ahead(self, queue: int) -> None:
        """Put some of a queue's links behind the others: one, and twice as many each further time."""
        skipped = self._skipped[queue] = min(_MOST_SKIPPED, 2 * self._skipped.get(queue, 0) or 1)
        first, last, behind = self._first[queue], self._last[queue], self._behind
        number = first
        for _ in range(skipped):
            number = behind[number]
            if number == _NONE:
                # Once around: whoever is skipped twice stands where it stood.
                number = first
        if number == first:
            return
        # All that were skipped go behind the last, in their order.
        self._link(last, first)
        last_skipped = self._before[number]
        behind[last_skipped] = self._before[number] = _NONE
        self._first[queue], self._last[queue] = number, last_skipped

    def stop_skipping(self, queue: int) -> None:
        """Take a queue's links one after the other again."""
        self._skipped.pop(queue, None)

    def waiting(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the queues that have links waiting, and how many each has; looks at every URL."""
        numbers = np.array(self._queue_of, np.intp)
        links = np.bincount(numbers[numbers != _NONE], minlength=1)
        queues = np.flatnonzero(links)
        return queues, links[queues]

    # --- scores ---------------------------------------------------------------------------------

    def score(self, queue: int) -> float:
        """Return the score that a queue was given last."""
        return self._score_of[queue]

    def set_score(self, queue: int, score: float) -> None:
        """Give a queue its score."""
        block = queue // BLOCK
        before, best = self._score_of[queue], self._best_of[block]
        self._score_of[queue] = score
        # As it is kept, which is less precise.
        now = self._score_of[queue]
        if now > best:
            self._best_of[block] = now
            self._best_in[block] = queue
        elif now == best:
            self._best_in[block] = min(queue, self._best_in[block])
        elif before == best:
            self._best_of[block] = self._score_of[self._find_best(block)]

    def _find_best(self, block: int) -> int:
        start = block * BLOCK
        queue = self._best_in[block] = start + int(self._scores[start : start + BLOCK].argmax())
        return queue

    def tie(self, queue: int) -> float:
        """Return what breaks a tie for or against a queue; the owner adds it to the score."""
        return self._tie_of[queue]

    def best(self) -> int | None:
        """Return the queue with the highest score, the one in the lowest place among equals."""
        block = int(self._block_best.argmax())
        if self._best_of[block] == EMPTY:
            return None
        queue = self._best_in[block]
        return self._find_best(block) if queue == _NONE else queue

    def waiting_in(self, block: int) -> npt.NDArray[np.intp]:
        """Return the queues of a block that have links waiting."""
        start = block * BLOCK
        waiting: npt.NDArray[np.intp] = (self._scores[start : start + BLOCK] != _EMPTY_32).nonzero()[0]
        waiting += start
        return waiting

    def best_in(self, block: int, most: int) -> npt.NDArray[np.intp]:
        """Return the queues of a block with the highest scores."""
        return self._best_of_these(self.waiting_in(block), most)

    def best_queues(self, most: int) -> npt.NDArray[np.intp]:
        """Return the queues of all blocks with the highest scores."""
        return self._best_of_these((self._scores[: self._size] != _EMPTY_32).nonzero()[0], most)

    def _best_of_these(self, waiting: npt.NDArray[np.intp], most: int) -> npt.NDArray[np.intp]:
        if len(waiting) > most:
            waiting = waiting[self._scores.take(waiting).argpartition(len(waiting) - most)[-most:]]
        return waiting

    def set_scores(self, queues: npt.NDArray[np.intp], scores: Floats) -> None:
        """Give many queues their scores; ties are broken here."""
        self._scores.put(queues, scores + self._ties.take(queues))
        first, last = int(np.minimum.reduce(queues)) // BLOCK, int(np.maximum.reduce(queues)) // BLOCK
        within = self._scores[first * BLOCK : (last + 1) * BLOCK].reshape(-1, BLOCK)
        np.maximum.reduce(within, 1, out=self._block_best[first : last + 1])
        self._best_in[first : last + 1] = [_NONE] * (last + 1 - first)

    def _grow(self) -> None:
        # By an eighth: doubling would leave half of the memory empty at worst.
        more = max(1, len(self._block_best) // 8)
        self._keys = np.concatenate(
            [self._keys, np.zeros((len(self._keys), more * BLOCK), np.uint32)], axis=1
        )
        empty = np.full(more * BLOCK, EMPTY, np.float32)
        self._score_of, self._scores = _both(np.concatenate([self._scores, empty]))
        self._tie_of, self._ties = _both(np.concatenate([self._ties, np.zeros_like(empty)]))
        self._best_of, self._block_best = _both(np.concatenate([self._block_best, empty[:more]]))
        self._best_in += [_NONE] * more
        nothing = _NOTHING * (more * BLOCK)
        self._first.extend(nothing)
        self._last.extend(nothing)
        self._hash_of.extend(array("q", [0]) * (more * BLOCK))

    # --- saving ---------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Return the queues and the links in them."""
        size = self._size
        return {
            "queues_keys": self._keys[:, :size],
            "queues_scores": self._scores[:size],
            "queues_ties": self._ties[:size],
            "queues_made": self._made,
            "queues_first": np.array(self._first[:size], np.int32),
            "queues_last": np.array(self._last[:size], np.int32),
            "queues_links": np.array([self._queue_of, self._before, self._behind], np.int32),
            "queues_free": np.array(self._free, np.int32),
            "queues_skipped": [[queue, skipped] for queue, skipped in self._skipped.items()],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over saved queues."""
        self._size = len(state["queues_scores"])
        while len(self._scores) < self._size:
            self._grow()
        self._made = state["queues_made"]
        self._drawn = []
        self._ties[: self._size] = state["queues_ties"]
        self._keys[:, : self._size] = state["queues_keys"]
        self._scores[: self._size] = state["queues_scores"]
        np.maximum.reduce(self._scores.reshape(-1, BLOCK), 1, out=self._block_best)
        self._best_in = [_NONE] * len(self._block_best)
        self._first[: self._size] = array("i", state["queues_first"].tobytes())
        self._last[: self._size] = array("i", state["queues_last"].tobytes())
        self._queue_of, self._before, self._behind = (
            array("i", links.tobytes()) for links in state["queues_links"]
        )
        self._free = state["queues_free"].tolist()
        self._skipped = dict(state["queues_skipped"])
        self._place_of = {}
        for queue in range(self._size):
            if self._first[queue] != _NONE:
                self._hash_of[queue] = _hash(self._keys[:, queue])
                self._place_of[self._hash_of[queue]] = queue


def _both(numbers: Floats) -> tuple[array[float], Floats]:
    """Return a copy of numbers as Python's array, for one at a time, and as numpy's; both are one memory.

    To read or write one number of numpy's array takes three times as long.
    """
    single = array("f", numbers.tobytes())
    return single, np.frombuffer(single, np.float32)


def _hash(row: Row) -> int:
    """Return a number for a row; it differs between processes, so it is never saved."""
    return hash(row.tobytes())
