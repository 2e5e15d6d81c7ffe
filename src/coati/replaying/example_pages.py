"""Pages of a site as examples for crawlers of other sites: ones that link to targets, ones that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from coati.model import Kind
from coati.strategies.tres.tres import TresExamples

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coati.replaying.site import ReplaySite

T = TypeVar("T")

# How many pages of each sort a site gives: the EDBT 2026 paper's number.
MOST_PAGES = 100


def example_pages(site: ReplaySite, most: int = MOST_PAGES) -> tuple[list[str], list[str]]:
    """Return the texts of up to this many pages with links to targets, and of as many without.

    They are drawn at equal distances from the site in the order of a breadth-first crawl, so that every part
    of it is represented, and the same ones are drawn every time.
    """
    truth = site.truth
    targets = frozenset(number for number, kind in enumerate(truth.kinds) if kind is Kind.TARGET)
    leading: list[str] = []
    others: list[str] = []
    for number, kind in enumerate(truth.kinds):
        if kind is Kind.PAGE:
            has_targets = not targets.isdisjoint(truth.children[number].tolist())
            (leading if has_targets else others).append(truth.urls[number])
    return _texts(site, _spread(leading, most)), _texts(site, _spread(others, most))


def join_examples(sites: Iterable[tuple[Sequence[str], Sequence[str]]]) -> TresExamples:
    """Join the examples of several sites; raise `UsageError` where one sort is missing."""
    positive: list[str] = []
    negative: list[str] = []
    for leading, others in sites:
        positive += leading
        negative += others
    return TresExamples(positive, negative)


def _texts(site: ReplaySite, urls: Iterable[str]) -> list[str]:
    return [text for url in urls if (text := site.page_text(url))]


def _spread(values: Sequence[T], most: int) -> Sequence[T]:
    """Return this many values at equal distances.

    >>> _spread("abcdefg", 3)
    ['a', 'c', 'e']
    """
    if len(values) <= most:
        return values
    return [values[place * len(values) // most] for place in range(most)]
