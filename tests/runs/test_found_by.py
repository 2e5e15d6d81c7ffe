from __future__ import annotations

from pathlib import Path

import pytest

from coati.model import Redirect
from coati.runs.found_by import START_URLS, found_by, way_of
from coati.runs.reader import RunReader
from tests.runs.synthetic import START, new_store
from tests.runs.test_store import CSV_TARGET, fetch, page


@pytest.mark.parametrize(
    ("tag_path", "way"),
    [
        (None, START_URLS),
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


def test_pages_that_cost_nothing_are_not_among_the_requests(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        fetch(store, 0, START, page())
        # It lists sitemaps, and was requested before the crawl.
        fetch(store, 1, START + "robots.txt", page(), charged=0)
    with RunReader(tmp_path) as run:
        (way,) = found_by(run.connection)
    assert (way.way, way.requests, way.pages) == (START_URLS, 1, 1)


def test_what_several_redirects_lead_to_was_found_by_the_link_before_them(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        fetch(store, 0, START, page(START + "a"))
        for number, (url, location) in enumerate([("a", "b"), ("b", "c"), ("c", "d.csv")], start=1):
            fetch(store, number, START + url, Redirect(302, 0, START + location))
        fetch(store, 4, START + "d.csv", CSV_TARGET)
    with RunReader(tmp_path) as run:
        ways = {way.way: (way.requests, way.targets) for way in found_by(run.connection)}
    assert ways == {"links": (4, 1), START_URLS: (1, 0)}
