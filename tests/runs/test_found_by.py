from __future__ import annotations

import pytest

from coati.runs.found_by import START_ADDRESSES, way_of


@pytest.mark.parametrize(
    ("tag_path", "way"),
    [
        (None, START_ADDRESSES),
        ("html > body > a", "links"),
        ("html.no-js > body > a", "links"),
        ("html#top.no-js > body > a", "links"),
        ("htmly > page", "API of htmly"),
        ("robots.txt > sitemap", "sitemaps"),
        ("search > local > hit", "search engine local"),
        ("ckan > resource > url", "API of ckan"),
    ],
)
def test_a_tag_path_says_by_its_first_part_how_a_link_was_found(tag_path: str | None, way: str) -> None:
    assert way_of(tag_path) == way
