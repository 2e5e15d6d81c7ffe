"""The words of a page and how often each occurs: what a classifier of pages learns from.

Kept as a fact of the page in place of its text: a fraction of the size, and all that discovery needs.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, TypedDict

from selectolax.lexbor import LexborHTMLParser

from coati.web.charset import decode_page
from coati.web.heavy_pages import balanced, is_heavy
from coati.web.link_names import page_title
from coati.web.links import MAX_PAGE_BYTES
from coati.web.page_text import tree_text

if TYPE_CHECKING:
    from collections.abc import Mapping

# Beyond these a word occurs once or twice on a long page.
MOST_WORDS = 300
_MAX_WORD_CHARS = 40
_MAX_TITLE_CHARS = 300

# Letters of any script; digits and signs say nothing of a topic.
_WORD = re.compile(r"[^\W\d_]{2,}")


class PageWords(TypedDict):
    """The title of a page, and its words with their counts, the most frequent first."""

    title: str
    words: dict[str, int]


def words_in(text: str) -> list[str]:
    """Return the words of a text in lower case: letters only, two of them or more.

    >>> words_in("Rain 2020, by city-district (mm)")
    ['rain', 'by', 'city', 'district', 'mm']
    """
    return _WORD.findall(text.lower())


def count_words(text: str, most: int = MOST_WORDS) -> dict[str, int]:
    """Count the words of a text; of too many, the most frequent are kept, then the first.

    >>> count_words("data by city, data by year")
    {'data': 2, 'by': 2, 'city': 1, 'year': 1}
    """
    counts = Counter(word for word in words_in(text) if len(word) <= _MAX_WORD_CHARS)
    return dict(counts.most_common(most))


def page_words(body: bytes, content_type: str) -> PageWords:
    """Count the words of a page: of its title, its links and its text; nothing raises.

    >>> page_words(b"<title>Rain</title><p>Rain by <a href=x>city</a>", "text/html")
    {'title': 'Rain', 'words': {'rain': 2, 'by': 1, 'city': 1}}
    """
    text, _ = decode_page(body[:MAX_PAGE_BYTES], content_type)
    if is_heavy(text):
        text, _ = balanced(text)
    tree = LexborHTMLParser(text)
    title = page_title(tree)[:_MAX_TITLE_CHARS]
    return {"title": title, "words": count_words(tree_text(tree))}


def words_of_facts(facts: Mapping[str, object]) -> PageWords:
    """Return the words among the facts of a page; none where they are missing or damaged.

    >>> words_of_facts({})
    {'title': '', 'words': {}}
    """
    found = facts.get("words")
    if isinstance(found, dict) and isinstance(found.get("words"), dict):
        return {"title": str(found.get("title", "")), "words": found["words"]}
    return {"title": "", "words": {}}
