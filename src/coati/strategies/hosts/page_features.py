"""What the classifier sees of a page before it is fetched, as Anthelion has it (CIKM 2014).

The words of the URL after the host, hashed as Java hashes strings; whether a page that links to it was
relevant or not; and, if wanted, whether siblings were (other pages that the same page links to).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(r"[^\W_]+")
_LEAST_LENGTH = 3
_NUMBER = "[NUMBER]"


class FoundPage(NamedTuple):
    """A page that is known by a link.

    ``parent`` is the label of the page that it was found on (None: it is a start URL); the other two say
    whether a page that was found there too turned out to be relevant, and whether one did not.
    """

    url: str
    parent: bool | None = None
    good_sibling: bool = False
    bad_sibling: bool = False


@dataclass(frozen=True, slots=True)
class FeatureSettings:
    """Which features there are, and the number of buckets for words (k in the paper)."""

    words: bool = True
    parents: bool = True
    siblings: bool = False
    buckets: int = 10_000


def features_of(page: FoundPage, settings: FeatureSettings) -> frozenset[int]:
    """Return the numbers of the features that a page has.

    >>> features_of(FoundPage("http://a.example/shop/item?id=4711", parent=True), FeatureSettings())
    frozenset({10000, 2771, 9462, 2279})
    """
    found = set(hashed_words(page.url, settings.buckets)) if settings.words else set()
    # After the buckets of the hash: a good parent, a bad parent, a good sibling, a bad sibling.
    first = settings.buckets
    if settings.parents and page.parent is not None:
        found.add(first if page.parent else first + 1)
    if settings.siblings:
        found.update(
            first + 2 + place for place, there in enumerate((page.good_sibling, page.bad_sibling)) if there
        )
    return frozenset(found)


def hashed_words(url: str, buckets: int) -> list[int]:
    """Return the buckets of the words of a URL's path, query and fragment.

    >>> url_words("http://shop.example/Recipes/apple-pie-0815?p12x=1#top")
    ['recipes', 'apple', 'pie', '[NUMBER]', 'top']
    """
    return [_bucket(word, buckets) for word in url_words(url)]


def url_words(url: str) -> list[str]:
    """Return the words: at least three characters, numbers as one, what mixes letters and digits left out."""
    rest = url.split("/", 3)[3].lower() if url.count("/") >= 3 else ""  # noqa: PLR2004 - scheme://host/
    words = []
    for token in _TOKEN.findall(rest):
        if len(token) < _LEAST_LENGTH:
            continue
        if token.isalpha():
            words.append(token)
        elif token.isdigit():
            words.append(_NUMBER)
    return words


@lru_cache(maxsize=1 << 16)
def _bucket(word: str, buckets: int) -> int:
    return abs(java_hash(word)) % buckets


def java_hash(text: str) -> int:
    """Hash a text as ``String.hashCode`` of Java does.

    >>> java_hash("hello"), java_hash("polygenelubricants")
    (99162322, -2147483648)
    """
    value = 0
    units = text.encode("utf-16-le")
    for low, high in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + low + 256 * high) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value
