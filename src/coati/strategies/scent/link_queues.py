"""Waiting links, gathered by kind: links that nothing tells apart share a row of keys, a score and a queue.

Scores change with everything that is learnt, and to work all of them out again at each step would cost time
in proportion to the frontier. Here a score may be old. Kinds stand in blocks; the best score of each block is
kept, so that finding the best kind looks at one number per block and then into one block. Whoever owns the
scores refreshes them: a whole block (`waiting_in`), its best (`best_in`), the best of all (`best_kinds`).

Links of one kind wait in the order of their discovery, and there neighbours are alike: editions of one year,
pages of one letter. So where a link disappoints, some are skipped, and more with each that follows
(`skip_ahead`): the kind is searched in leaps until something is found, and from there link by link.

A kind whose last link was taken gives its place to the next new one. Links are numbers of `KnownUrls`; queues
are chains through arrays, so that any link can be taken out, and a URL costs twelve bytes.
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
# How many links of a kind are skipped at most.
_MOST_PASSED = 64
# Below every score: a place where nothing waits.
EMPTY = -1.0
_EMPTY_32 = np.array(EMPTY, np.float32)
# Ties are broken by less than any difference that means something.
_TIE_BITS = 16
_TIE_STEP = 1e-9


class LinkQueues:
    """The frontier of `coati.strategies.scent.scent`.

    Between kinds with equal scores chance decides, by the seed.

    >>> kinds = LinkQueues(columns=2)
    >>> kind = kinds.place(np.array([1, 2], np.uint32))
    >>> kinds.push(kind, 7); kinds.set_score(kind, 0.5)
    >>> kinds.best(), kinds.first(kind)
    (0, 7)
    >>> kinds.take(7); kinds.best()
    """

    def __init__(self, columns: int, seed: int = 0) -> None:
        self._seed = seed
        self._made = 0
        self._drawn: list[int] = []
        # One kind per column: what has the same key in one of the rows is found at a glance.
        self._keys = np.zeros((columns, BLOCK), np.uint32)
        self._score_of, self._scores = _both(np.full(BLOCK, EMPTY, np.float32))
        # A small amount that decides between kinds with equal scores.
        self._tie_of, self._ties = _both(np.zeros(BLOCK, np.float32))
        self._best_of, self._block_best = _both(np.full(1, EMPTY, np.float32))
        # The kind that has it, the one in the lowest place among equals; _NONE where it has to be looked for.
        self._best_in = [_NONE]
        self._first = _NOTHING * BLOCK
        self._last = _NOTHING * BLOCK
        # For each URL number its kind while it waits, and its neighbours in the queue.
        self._kind_of = array("i")
        self._before = array("i")
        self._behind = array("i")
        # By the hash of its row; two of 65,536 kinds share one with a probability of 1 in 8 billion.
        self._place_of: dict[int, int] = {}
        self._hash_of = array("q", [0]) * BLOCK
        self._free: list[int] = []
        self._size = 0
        # How many links were skipped last, for kinds where that was the last thing to happen.
        self._passed: dict[int, int] = {}

    def __len__(self) -> int:
        """Count the kinds that have links waiting."""
        return len(self._place_of)

    @property
    def blocks(self) -> int:
        """The number of blocks that hold kinds."""
        return -(-self._size // BLOCK)

    def place(self, row: Row) -> int:
        """Return the kind with this row, a new one if there is none; push a link before anything else."""
        row_hash = _hash(row)
        kind = self._place_of.get(row_hash)
        if kind is not None:
            return kind
        if self._free:
            kind = self._free.pop()
        else:
            kind = self._size
            self._size += 1
            if kind == len(self._scores):
                self._grow()
        self._keys[:, kind] = row
        if not self._drawn:
            # Many at once, the next one last: one by one they would take longer than all else here.
            self._drawn = draw_many(self._seed, self._made, _TIE_BITS, BLOCK)[::-1]
        self._tie_of[kind] = self._drawn.pop() * _TIE_STEP
        self._made += 1
        self._place_of[row_hash] = kind
        self._hash_of[kind] = row_hash
        return kind

    def row(self, kind: int) -> Row:
        """Return a kind's row of keys."""
        return self._keys[:, kind].copy()

    def columns(self, kinds: npt.NDArray[np.intp]) -> npt.NDArray[np.uint32]:
        """Return the rows of many kinds, one per column."""
        return self._keys.take(kinds, axis=1)

    def holds(self, kind: int, row: Row) -> bool:
        """Tell whether links with this row wait in this place: it may have gone to another kind."""
        return self._first[kind] != _NONE and self._hash_of[kind] == _hash(row)

    def push(self, kind: int, number: int) -> None:
        """Let a link wait behind the others of its kind."""
        missing = number + 1 - len(self._kind_of)
        if missing > 0:
            nothing = _NOTHING if missing == 1 else _NOTHING * missing
            self._kind_of += nothing
            self._before += nothing
            self._behind += nothing
        self._kind_of[number] = kind
        last = self._last[kind]
        self._last[kind] = number
        if last == _NONE:
            self._first[kind] = number
        else:
            self._link(last, number)

    def _link(self, number: int, behind: int) -> None:
        self._behind[number] = behind
        self._before[behind] = number

    def kind_of(self, number: int) -> int | None:
        """Return the kind of a link that waits."""
        kind = self._kind_of[number] if number < len(self._kind_of) else _NONE
        return None if kind == _NONE else kind

    def first(self, kind: int) -> int:
        """Return the link of a kind that is next."""
        return self._first[kind]

    def take(self, number: int) -> None:
        """Let a link wait no longer; with the last one its kind goes."""
        kind, before, behind = self._kind_of[number], self._before[number], self._behind[number]
        self._kind_of[number] = self._before[number] = self._behind[number] = _NONE
        if before != _NONE:
            self._behind[before] = behind
        else:
            self._first[kind] = behind
        if behind != _NONE:
            self._before[behind] = before
        else:
            self._last[kind] = before
        if before == behind == _NONE:
            self._passed.pop(kind, None)
            del self._place_of[self._hash_of[kind]]
            self._free.append(kind)
            self.set_score(kind, EMPTY)

    def count(self, kind: int, most: int) -> int:
        """Count the links of a kind that wait, up to ``most``."""
        counted, number = 0, self._first[kind]
        while number != _NONE and counted < most:
            counted += 1
            number = self._behind[number]
        return counted

    def skip_ahead(self, kind: int) -> None:
        """Put some of a kind's links behind the others: one, and twice as many each further time."""
        passed = self._passed[kind] = min(_MOST_PASSED, 2 * self._passed.get(kind, 0) or 1)
        first, last, behind = self._first[kind], self._last[kind], self._behind
        number = first
        for _ in range(passed):
            number = behind[number]
            if number == _NONE:
                # Once around: whoever is skipped twice stands where it stood.
                number = first
        if number == first:
            return
        # All that were skipped go behind the last, in their order.
        self._link(last, first)
        last_passed = self._before[number]
        behind[last_passed] = self._before[number] = _NONE
        self._first[kind], self._last[kind] = number, last_passed

    def stop_skipping(self, kind: int) -> None:
        """Take a kind's links one after the other again."""
        self._passed.pop(kind, None)

    def waiting(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the kinds that have links waiting, and how many each has; looks at every URL."""
        numbers = np.array(self._kind_of, np.intp)
        links = np.bincount(numbers[numbers != _NONE], minlength=1)
        kinds = np.flatnonzero(links)
        return kinds, links[kinds]

    # --- scores ---------------------------------------------------------------------------------

    def score(self, kind: int) -> float:
        """Return the score that a kind was given last."""
        return self._score_of[kind]

    def set_score(self, kind: int, score: float) -> None:
        """Give a kind its score."""
        block = kind // BLOCK
        before, best = self._score_of[kind], self._best_of[block]
        self._score_of[kind] = score
        # As it is kept, which is less precise.
        now = self._score_of[kind]
        if now > best:
            self._best_of[block] = now
            self._best_in[block] = kind
        elif now == best:
            self._best_in[block] = min(kind, self._best_in[block])
        elif before == best:
            self._best_of[block] = self._score_of[self._find_best(block)]

    def _find_best(self, block: int) -> int:
        start = block * BLOCK
        kind = self._best_in[block] = start + int(self._scores[start : start + BLOCK].argmax())
        return kind

    def tie(self, kind: int) -> float:
        """Return what breaks a tie for or against a kind; the owner adds it to the score."""
        return self._tie_of[kind]

    def best(self) -> int | None:
        """Return the kind with the highest score, the one in the lowest place among equals."""
        block = int(self._block_best.argmax())
        if self._best_of[block] == EMPTY:
            return None
        kind = self._best_in[block]
        return self._find_best(block) if kind == _NONE else kind

    def waiting_in(self, block: int) -> npt.NDArray[np.intp]:
        """Return the kinds of a block that have links waiting."""
        start = block * BLOCK
        waiting: npt.NDArray[np.intp] = (self._scores[start : start + BLOCK] != _EMPTY_32).nonzero()[0]
        waiting += start
        return waiting

    def best_in(self, block: int, most: int) -> npt.NDArray[np.intp]:
        """Return the kinds of a block with the highest scores."""
        return self._best_of_these(self.waiting_in(block), most)

    def best_kinds(self, most: int) -> npt.NDArray[np.intp]:
        """Return the kinds of all blocks with the highest scores."""
        return self._best_of_these((self._scores[: self._size] != _EMPTY_32).nonzero()[0], most)

    def _best_of_these(self, waiting: npt.NDArray[np.intp], most: int) -> npt.NDArray[np.intp]:
        if len(waiting) > most:
            waiting = waiting[self._scores.take(waiting).argpartition(len(waiting) - most)[-most:]]
        return waiting

    def set_scores(self, kinds: npt.NDArray[np.intp], scores: Floats) -> None:
        """Give many kinds their scores; ties are broken here."""
        self._scores.put(kinds, scores + self._ties.take(kinds))
        first, last = int(np.minimum.reduce(kinds)) // BLOCK, int(np.maximum.reduce(kinds)) // BLOCK
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
        """Return the kinds and their queues."""
        size = self._size
        return {
            "kinds_keys": self._keys[:, :size],
            "kinds_scores": self._scores[:size],
            "kinds_ties": self._ties[:size],
            "kinds_made": self._made,
            "kinds_first": np.array(self._first[:size], np.int32),
            "kinds_last": np.array(self._last[:size], np.int32),
            "kinds_links": np.array([self._kind_of, self._before, self._behind], np.int32),
            "kinds_free": np.array(self._free, np.int32),
            "kinds_passed": [[kind, passed] for kind, passed in self._passed.items()],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over saved kinds."""
        self._size = len(state["kinds_scores"])
        while len(self._scores) < self._size:
            self._grow()
        self._made = state["kinds_made"]
        self._drawn = []
        self._ties[: self._size] = state["kinds_ties"]
        self._keys[:, : self._size] = state["kinds_keys"]
        self._scores[: self._size] = state["kinds_scores"]
        np.maximum.reduce(self._scores.reshape(-1, BLOCK), 1, out=self._block_best)
        self._best_in = [_NONE] * len(self._block_best)
        self._first[: self._size] = array("i", state["kinds_first"].tobytes())
        self._last[: self._size] = array("i", state["kinds_last"].tobytes())
        self._kind_of, self._before, self._behind = (
            array("i", links.tobytes()) for links in state["kinds_links"]
        )
        self._free = state["kinds_free"].tolist()
        self._passed = dict(state["kinds_passed"])
        self._place_of = {}
        for kind in range(self._size):
            if self._first[kind] != _NONE:
                self._hash_of[kind] = _hash(self._keys[:, kind])
                self._place_of[self._hash_of[kind]] = kind


def _both(numbers: Floats) -> tuple[array[float], Floats]:
    """Return a copy of numbers as Python's array, for one at a time, and as numpy's; both are one memory.

    To read or write one number of numpy's array takes three times as long.
    """
    single = array("f", numbers.tobytes())
    return single, np.frombuffer(single, np.float32)


def _hash(row: Row) -> int:
    """Return a number for a row; it differs between processes, so it is never saved."""
    return hash(row.tobytes())
