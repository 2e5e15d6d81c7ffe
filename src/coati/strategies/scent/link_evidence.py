"""Why a link has its score, in words: what each kind of evidence says, and what it adds.

Evidence comes in five groups: the link's address, what its file is called, its place on the page, its words,
and the page where it was found. The contribution of a group is how much lower the score would be without it:
the link is scored again, by the same code, as if nothing were known of those keys.

What links brought is said of the key that the group rests on most, and the words name that key: "links under
/statistics/" when it is the directory that was seen, "links like /statistics/….html" when it is the shape of
the name. A star stands for any number and three dots for any word: keys do not tell these apart. What the two
models make of the group is said of the group, since they weigh all of its keys together.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coati.strategies.scent.link_keys import NOTHING, Key, any_number, any_word, words_of
from coati.strategies.strategy import Explained, Reason
from coati.web.urls import path_of, query_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from coati.learners.value_chains import Evidence
    from coati.strategies.scent.link_keys import Row
    from coati.strategies.scent.link_scores import LinkScores


class LinkTexts(NamedTuple):
    """What a link's keys were made of, as far as it is still known; ``anchor`` is None if it is not."""

    url: str
    tail: str = ""
    anchor: str | None = None
    source_url: str = ""


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


def explained(row: Row, texts: LinkTexts, scores: LinkScores, hope: float) -> Explained:
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
        brought = _brought(texts, _strongest(evidence, columns))
        likely = _likely(_name_of_group(plain, texts), target, useless)
        words = "; ".join(part for part in (brought, likely) if part)
        if not words:
            seen = "tell little" if weights[:, own].any() else "were not tried yet"
            words = f"{_subject(plain, texts)} {seen}"
        reasons.append(Reason(words, contribution))
    return Explained(whole, sorted(reasons, key=lambda reason: -abs(reason.contribution)))


def _strongest(evidence: Sequence[Evidence], columns: Collection[Key]) -> Evidence | None:
    seen = [part for part in evidence if part.column in columns and part.visits >= _A_VISIT]
    return max(seen, key=lambda part: part.weight, default=None)


# --- words --------------------------------------------------------------------------------------


def _brought(texts: LinkTexts, seen: Evidence | None) -> str:
    """Say what the links that share a key brought."""
    if seen is None:
        return ""
    column = Key(seen.column)
    visits = round(seen.visits) or 1
    about = "" if column in _COUNTED or visits == 1 else "about "
    files = math.expm1(max(seen.own, 0.0))
    plural = "s" if visits > 1 else ""
    return f"{_subject(column, texts)} brought {files:.1f} files per page in {about}{visits} visit{plural}"


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
        Key.DIRECTORY: ("its address", _folder(texts.url)),
        Key.EXTENSION: ("its file name", _ending(texts.url)),
        Key.TAIL: ("its place on the page", texts.tail),
        Key.ANCHOR: ("its text", texts.anchor),
        Key.SOURCE_DIRECTORY: ("the page where it was found", ""),
    }[plain]
    return f"{name} ({detail})" if detail else name


def _subject(column: Key, texts: LinkTexts) -> str:
    """Name the links that share one key with a link."""
    if column in _ADDRESS:
        return _address(column, texts.url)
    if column in _FILE:
        return _file(column, texts.url)
    if column in _PLACE:
        return _place(column, texts.tail)
    if column in _SOURCE:
        return _source(column, texts.source_url)
    if texts.anchor is None:
        called = "links with the same text"
    else:
        called = f'links called "{texts.anchor}"' if texts.anchor else "links without a text"
    return f"{called} under {_folder(texts.url)}" if column is Key.DIRECTORY_ANCHOR else called


def _address(column: Key, url: str) -> str:
    folder = _folder(url)
    first, second = (_first(folder, count) for count in (1, 2))
    # Whatever the first directory is.
    inner = "/…" + folder[len(first) - 1 :] if folder != "/" else "/"
    name = _name(url)
    shape, first_word = any_word(name), next(iter(words_of(name)), "")
    return {
        Key.TOP: f"links under {first}",
        Key.SECOND: f"links under {second}",
        Key.SHAPE: f"links like {folder}{shape}",
        Key.FIRST_WORD: f'links under {folder} whose first word is "{first_word}"',
        Key.INNER_TOP: f"links under {_first(inner, 2)}",
        Key.INNER: f"links under {inner}",
        Key.INNER_SHAPE: f"links like {inner}{shape}",
    }.get(column, f"links under {folder}")


def _file(column: Key, url: str) -> str:
    name = _name(url)
    if column is Key.FILE_NAME and name:
        return f"links to names like {name}"
    ending = _ending(url) or "names without an extension"
    parameters = " with parameters" if query_of(url) else ""
    where = f" under {_folder(url)}" if column is Key.DIRECTORY_EXTENSION else ""
    return f"links to {ending}{parameters}{where}"


def _ending(url: str) -> str:
    # Not with its numbers left out: "7z" and "h5" are extensions.
    _, dot, extension = path_of(url).rpartition("/")[2].rpartition(".")
    return dot + extension if dot else ""


def _place(column: Key, tail: str) -> str:
    if not tail:
        return "links at this place of a page"
    if column is Key.ELEMENT:
        return f"links with the element {tail.rpartition(' > ')[2]}"
    return f"links in the same place ({tail})" if column is Key.TAG_PATH else f"links in {tail}"


def _source(column: Key, source_url: str) -> str:
    if column is Key.SOURCE:
        return "links of the same list on the same page"
    where = f"under {_folder(source_url)}" if source_url else "nearby"
    return f"links found on pages {where}"


def _folder(url: str) -> str:
    """Return the folder of a URL, with a star for each number: keys do not tell numbers apart."""
    return any_number(path_of(url).rpartition("/")[0]) + "/"


def _name(url: str) -> str:
    return any_number(path_of(url).rpartition("/")[2])


def _first(folder: str, count: int) -> str:
    """Return the first this many directories of a path that ends with a slash.

    >>> _first("/a/b/c/", 2), _first("/a/", 2), _first("/", 1)
    ('/a/b/', '/a/', '/')
    """
    return "/".join(folder.split("/")[: count + 1]).rstrip("/") + "/"
