"""The words of a URL, hashed as Java does, and the labels around a page."""

from __future__ import annotations

import pytest

from coati.strategies.hosts.page_features import (
    FeatureSettings,
    FoundPage,
    features_of,
    java_hash,
    url_words,
)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://shop.example/", []),
        ("http://shop.example", []),
        ("http://shop.example/Red-Shoes_2014.html", ["red", "shoes", "[NUMBER]", "html"]),
        ("http://shop.example/a/bc/def?id=12&sku=a12b#Top", ["def", "sku", "top"]),
        ("http://shop.example/x%20yz/1234567", ["[NUMBER]"]),
    ],
)
def test_words(url: str, words: list[str]) -> None:
    assert url_words(url) == words


def test_java_hashes() -> None:
    assert [java_hash(text) for text in ("", "a", "schema", "Aa", "BB")] == [0, 97, -907987551, 2112, 2112]


def test_labels_are_features_behind_the_words() -> None:
    settings = FeatureSettings(words=False, siblings=True, buckets=100)
    page = FoundPage("http://a.example/item", parent=False, good_sibling=True)
    assert features_of(page, settings) == {101, 102}
    assert features_of(FoundPage("http://a.example/item"), settings) == frozenset()


def test_words_are_a_set_of_buckets() -> None:
    settings = FeatureSettings(parents=False, buckets=50)
    found = features_of(FoundPage("http://a.example/item/item/other"), settings)
    assert found == {abs(java_hash(word)) % 50 for word in ("item", "other")}
