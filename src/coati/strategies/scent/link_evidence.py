"""Why a link has its score, in words: what each kind of evidence says, and what it adds.

Evidence comes in five groups: the link's address, what its file is called, its place on the page, its words,
and the page where it was found. The contribution of a group is how much lower the score would be without it:
the link is scored again, by the same code, as if nothing were known of those keys.

What links led to is said of the key that the group rests on most, and the words name that key (`key_names`).
What the two models make of the group is said of the group, since they weigh all of its keys together.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from coati.strategies.scent.key_names import ending_of, folder_of, links_like
from coati.strategies.scent.link_keys import NOTHING, Key, any_text
from coati.strategies.strategy import ScoreExplanation, ScoreReason
from coati.units import format_count

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from coati.learners.value_chains import Evidence
    from coati.strategies.scent.key_names import LinkTexts
    from coati.strategies.scent.link_keys import Row
    from coati.strategies.scent.link_scores import LinkScores


_ADDRESS = frozenset({
    Key.TOP, Key.SECOND, Key.DIRECTORY, Key.SHAPE, Key.FOLDER, Key.FOLDER_FILE,
    Key.FIRST_WORD, Key.DEPTH, Key.SEGMENT_1, Key.SEGMENT_2, Key.INNER_TOP, Key.INNER,
    Key.INNER_SHAPE,
})  # fmt: skip
_FILE = frozenset({
    Key.EXTENSION, Key.FILE_NAME, Key.PARAMETERS, Key.URL_WORD_1, Key.URL_WORD_2,
    Key.DIRECTORY_EXTENSION, Key.FILE_LIKE,
})  # fmt: skip
_PLACE = frozenset({Key.ELEMENT, Key.TAIL, Key.TAG_PATH, Key.TAIL_EXTENSION})
_SOURCE = frozenset({Key.SOURCE_DIRECTORY, Key.SOURCE})
_WORDS = frozenset(Key) - _ADDRESS - _FILE - _PLACE - _SOURCE

# Each group with the key that stands for it where no key of it was seen.
_GROUPS: tuple[tuple[frozenset[Key], Key], ...] = (
    (_ADDRESS, Key.DIRECTORY),
    (_FILE, Key.EXTENSION),
    (_PLACE, Key.TAIL),
    (_WORDS, Key.ANCHOR),
    (_SOURCE, Key.SOURCE_DIRECTORY),
)

# The keys that end a chain. Keys above them count what differs below them, so that their visits are no plain
# count (rule 3 of `coati.learners.value_chains`).
_COUNTED = frozenset({
    Key.SHAPE, Key.INNER_SHAPE, Key.FIRST_WORD, Key.TAG_PATH, Key.SOURCE,
    Key.DIRECTORY_ANCHOR, Key.FILE_NAME, Key.ANCHOR,
})  # fmt: skip

# What is left of a visit that has faded is none.
_A_VISIT = 0.5
# Log-odds that are worth a word: a factor of about 1.6.
_TELLING = 0.5


def explained(row: Row, texts: LinkTexts, scores: LinkScores, hope: float) -> ScoreExplanation:
    """Return a row's score with ``hope`` as the part of the doubt that counts, and the reasons for it."""
    evidence = scores.values.evidence(row)
    weights = scores.odds.weights(row)
    whole = scores.score(row, scores.expect(row), hope)
    reasons = []
    for columns, plain in _GROUPS:
        own = [column in columns for column in Key]
        without = np.where(own, np.uint32(NOTHING), row)
        contribution = whole - scores.score(without, scores.expect(without), hope)
        target, useless = weights[:, own].sum(1).tolist()
        name = _name_of_group(plain, texts)
        words = "; ".join(
            filter(None, (_led_to(texts, _strongest(evidence, columns)), _likely(name, target, useless)))
        )
        if not words and weights[:, own].any():
            words = f"{name} tells little"
        elif not words:
            words = f"nothing was learnt yet of {links_like(plain, texts)}"
        reasons.append(ScoreReason(words, contribution))
    return ScoreExplanation(whole, sorted(reasons, key=lambda reason: -abs(reason.contribution)))


def _strongest(evidence: Sequence[Evidence], columns: Collection[Key]) -> Evidence | None:
    seen = [part for part in evidence if part.column in columns and part.visits >= _A_VISIT]
    return max(seen, key=lambda part: part.weight, default=None)


# --- words --------------------------------------------------------------------------------------


def _led_to(texts: LinkTexts, seen: Evidence | None) -> str:
    """Say what the links that share a key led to; labels look ahead, and are means of logarithms."""
    if seen is None:
        return ""
    column = Key(seen.column)
    visits = round(seen.visits) or 1
    about = "" if column in _COUNTED or visits == 1 else "about "
    files = math.expm1(max(seen.own, 0.0))
    return (
        f"{links_like(column, texts)} led to about {files:.1f} files per page in"
        f" {about}{format_count(visits, 'visit')}, a few steps ahead included"
    )


def _likely(name: str, target: float, useless: float) -> str:
    """Say what a group of keys adds to the log-odds of a file and of a useless link."""
    parts = []
    if abs(target) > _TELLING:
        parts.append(f"a file {'more' if target > 0 else 'less'} likely")
    if useless > _TELLING:
        parts.append("something that is neither a wanted file nor a page more likely")
    return f"{name} makes {' and '.join(parts)}" if parts else ""


def _name_of_group(plain: Key, texts: LinkTexts) -> str:
    name, detail = {
        Key.DIRECTORY: ("its address", folder_of(texts.url)),
        Key.EXTENSION: ("its file name", ending_of(texts.url)),
        Key.TAIL: ("its place on the page", texts.tail),
        Key.ANCHOR: ("its text", any_text(texts.anchor or "")),
        Key.SOURCE_DIRECTORY: ("the page where it was found", ""),
    }[plain]
    return f"{name} ({detail})" if detail else name
