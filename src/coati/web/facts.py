"""Facts about pages: pure functions of a page's bytes, found once when the page is read and logged with it.

A strategy names the extractors that it needs in its registry row; other strategies do not pay for them. What
they find is plain JSON, so that a run can be restored from its log without any body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from coati.model import NO_FACTS, Facts
from coati.web.dataset_markup import dataset_markup
from coati.web.feed_links import feed_links
from coati.web.markup.detector import markup_of
from coati.web.page_text import text_of
from coati.web.page_words import page_words

Extractor = Callable[[bytes, str], object]
"""From the bytes and the content type of a page to what JSON can hold; nothing raises."""

FEEDS = "feeds"

EXTRACTORS: Mapping[str, Extractor] = {
    "text": text_of,
    "markup": markup_of,
    "words": page_words,
    "dataset_markup": dataset_markup,
    FEEDS: feed_links,
}
"""The extractors by the key of their fact in ``Page.facts``."""


NO_EXTRACTORS: Mapping[str, Extractor] = MappingProxyType({})


def facts_of(extractors: Mapping[str, Extractor], body: bytes, content_type: str) -> Facts:
    """Return what extractors find on a page, by their names.

    >>> facts_of({"text": text_of}, b"<p>All files", "text/html")
    {'text': 'All files'}
    """
    if not extractors:
        return NO_FACTS
    return {name: extract(body, content_type) for name, extract in extractors.items()}


class LazyFacts(Mapping[str, object]):
    """Every fact about one page, each found when it is first read: for drivers that hold the body.

    >>> facts = LazyFacts(lambda: b"<p>All files", "text/html")
    >>> facts["text"]
    'All files'
    """

    __slots__ = ("_body", "_content_type")

    def __init__(self, body: Callable[[], bytes], content_type: str) -> None:
        self._body = body
        self._content_type = content_type

    def __getitem__(self, name: str) -> object:
        return EXTRACTORS[name](self._body(), self._content_type)

    def __iter__(self) -> Iterator[str]:
        return iter(EXTRACTORS)

    def __len__(self) -> int:
        return len(EXTRACTORS)
