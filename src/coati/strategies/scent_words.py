"""Why a link has its score, in words: what each kind of evidence says, and what it adds.

The contribution of evidence is how much lower the score would be without it: its keys are taken out of the
logistic models, its chains out of the value, and the link is scored again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from coati.strategies.link_keys import NOTHING, Column
from coati.web.urls import path_of

if TYPE_CHECKING:
    from coati.learners.hashed_logistic import HashedLogistic
    from coati.learners.value_chains import Evidence, ValueChains
    from coati.strategies.link_keys import Row


class Reason(NamedTuple):
    """What speaks for a link (against it, where ``contribution`` is negative)."""

    words: str
    contribution: float


_DIRECTORY = frozenset({
    Column.TOP, Column.SECOND, Column.DIRECTORY, Column.SHAPE, Column.FOLDER, Column.FOLDER_FILE,
    Column.FIRST_WORD, Column.DEPTH, Column.SEGMENT_1, Column.SEGMENT_2, Column.INNER_TOP, Column.INNER,
    Column.INNER_SHAPE,
})  # fmt: skip
_FILE = frozenset({
    Column.EXTENSION, Column.FILE_NAME, Column.PARAMETERS, Column.URL_WORD_1, Column.URL_WORD_2,
    Column.DIRECTORY_EXTENSION, Column.FILE_LIKE,
})  # fmt: skip
_PLACE = frozenset({Column.ELEMENT, Column.TAIL, Column.TAG_PATH, Column.TAIL_EXTENSION})
_SOURCE = frozenset({Column.SOURCE_DIRECTORY, Column.SOURCE})
_ANCHOR = frozenset(Column) - _DIRECTORY - _FILE - _PLACE - _SOURCE


def reasons_for(row: Row, url: str, odds: HashedLogistic, values: ValueChains, tail: str) -> list[Reason]:
    """Give the reasons for a row's score, the strongest first; ``tail`` is its place on the page in words."""
    evidence = values.evidence(row)
    weights = odds.weights(row)
    weights[:, row == NOTHING] = 0
    folder, _, name = path_of(url).rpartition("/")
    subjects = (
        (_DIRECTORY, f"links under {folder}/"),
        (_FILE, f"links to {_ending(name)}"),
        (_PLACE, f"links in {tail}" if tail else "links at this place of a page"),
        (_ANCHOR, "links with these words"),
        (_SOURCE, "links found on the same pages"),
    )
    whole = _score(weights.sum(1).tolist(), odds.bias, evidence)
    reasons = []
    for columns, subject in subjects:
        left = [column not in columns for column in Column]
        without = _score(
            weights[:, left].sum(1).tolist(),
            odds.bias,
            [part for part in evidence if part.column not in columns],
        )
        own = [part for part in evidence if part.column in columns and part.visits]
        target, useless = weights[:, [not kept for kept in left]].sum(1).tolist()
        reasons.append(Reason(f"{subject} {_says(own, target, useless)}", whole - without))
    return sorted(reasons, key=lambda reason: -abs(reason.contribution))


def _score(odds: list[float], bias: tuple[float, float], evidence: list[Evidence]) -> float:
    target, useless = (1 / (1 + math.exp(-x - b)) for x, b in zip(odds, bias, strict=True))
    weight = sum(part.weight for part in evidence)
    value = sum(part.weight * part.mean for part in evidence) / weight if weight else 0.0
    beyond = math.expm1(max(value, 0.0)) * (1 - target) * (1 - useless)
    return (target + beyond) / (1 + beyond)


def _says(evidence: list[Evidence], target: float, useless: float) -> str:
    """Say what a group of keys has shown so far."""
    parts = []
    if evidence:
        seen = max(evidence, key=lambda part: part.weight)
        visits = max(1, round(seen.visits))
        files = math.expm1(max(seen.mean, 0.0))
        parts.append(f"brought {files:.1f} files a page in {visits} visit{'s' if visits > 1 else ''}")
    if abs(target) > 1:
        parts.append("are often files" if target > 0 else "are seldom files")
    if useless > 1:
        parts.append("are often dead")
    return ", ".join(parts) if parts else "were not tried yet"


def _ending(name: str) -> str:
    _, dot, extension = name.rpartition(".")
    return f".{extension}" if dot else "names without an extension"
