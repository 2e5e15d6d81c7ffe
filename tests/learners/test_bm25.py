from __future__ import annotations

import math

import pytest

from coati.learners.bm25 import bm25

PAGES = [{"rain": 3, "the": 5, "city": 1}, {"the": 2, "snow": 1}, {"the": 1, "rain": 1}, {"the": 4, "sea": 2}]


def literal(query: list[str]) -> list[float]:
    n = len(PAGES)
    df = {word: sum(word in page for page in PAGES) for page in PAGES for word in page}
    idf = {word: math.log((n - count + 0.5) / (count + 0.5)) for word, count in df.items()}
    floor = 0.25 * sum(idf.values()) / len(idf)
    mean = sum(sum(page.values()) for page in PAGES) / n
    scores = []
    for page in PAGES:
        score = 0.0
        for word in query:
            if word in page:
                length = sum(page.values()) / mean
                weight = idf[word] if idf[word] >= 0 else floor
                score += weight * page[word] * 2.2 / (page[word] + 1.2 * (0.25 + 0.75 * length))
        scores.append(score)
    return scores


@pytest.mark.parametrize("query", [["rain"], ["the"], ["rain", "the", "snow"], ["nowhere"], []])
def test_scores_are_those_of_the_formula(query: list[str]) -> None:
    assert bm25(PAGES, query) == pytest.approx(literal(query))


def test_no_pages() -> None:
    assert bm25([], ["rain"]) == []


def test_among_a_few_alike_pages_more_of_the_query_scores_higher() -> None:
    often, once = bm25([{"data": 6, "sea": 1}, {"data": 1, "sea": 6}], ["data"])
    assert often > once > 0
    assert bm25([{"data": 1}], ["data"])[0] > 0
