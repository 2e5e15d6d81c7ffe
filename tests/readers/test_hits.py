from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.readers.formats import Format
from coati.readers.hits import MAX_HITS, Hit, Hits, bounded_hits, read_hits, write_hits
from coati.readers.registry import PageReader
from coati.web.links import ReadPage
from coati.web.rules import Refusal, Rules
from coati.web.urls import MAX_URL_CHARS

ADDRESS = "search://local/?q=rain"

hits = st.builds(Hits, st.lists(st.builds(Hit, st.text(), st.text(), st.text())).map(tuple), st.booleans())


def hits_page(body: bytes, address: str, rules: Rules | None = None) -> ReadPage:
    return PageReader(rules).read(Format.HITS, body, address)


@given(hits)
def test_what_is_written_is_read(found: Hits) -> None:
    assert read_hits(write_hits(found)) == bounded_hits(found.hits, more=found.more)


def test_a_hit_is_a_link() -> None:
    body = write_hits(Hits((Hit("HTTP://a.test/x#top", " The  rain ", "Rain by\nmonth"),)))
    link = hits_page(body, ADDRESS).links.link(0)
    assert link == ("http://a.test/x", ("search", "local", "hit"), "The rain", "Rain by month", None)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "javascript:alert(1)",
        "search://local/?q=more",
        "//a.test/",
        "/a",
        "mailto:a@a.test",
        "http://",
        "ftp://a/",
    ],
)
def test_a_hit_that_is_not_a_url_is_left_out(url: str) -> None:
    assert not hits_page(write_hits(Hits((Hit(url),))), ADDRESS).links.urls


def test_the_rules_of_the_run_decide_which_hits_are_links() -> None:
    body = write_hits(Hits((Hit("http://a.test/"), Hit("http://b.test/"), Hit("http://a.test/c.png"))))
    page = hits_page(body, ADDRESS, Rules("http://a.test/"))
    assert page.links.urls == ["http://a.test/"]
    assert page.refused == [
        ("http://b.test/", Refusal.SCOPE),
        ("http://a.test/c.png", Refusal.EXTENSION),
    ]


def test_a_million_hits_are_a_thousand() -> None:
    title = "x" * 10_000
    many = Hits(tuple(Hit(f"http://a.test/{number}", title) for number in range(1_000_000)))
    body = write_hits(many)
    assert len(body) < 1_000_000
    assert len(hits_page(body, ADDRESS).links.urls) == MAX_HITS


def test_long_texts_are_cut_and_long_addresses_left_out() -> None:
    found = bounded_hits([Hit("http://a.test/", "a" * 10**6, "b " * 10**6), Hit("h" * (MAX_URL_CHARS + 1))])
    ((_, title, snippet, *_),) = found.hits
    assert (len(title), len(snippet)) == (300, 1000)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<!doctype html><h1>Are you a robot?</h1>",
        b"[]",
        b"{}",
        b'{"hits": 3, "more": false}',
        b'{"hits": [3], "more": false}',
        b'{"hits": [{"url": "http://a.test/"}], "more": false}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_what_is_damaged_holds_no_hits(body: bytes) -> None:
    assert read_hits(body) == Hits()


@given(st.binary() | st.recursive(st.none() | st.text(), st.lists).map(json.dumps).map(str.encode))
def test_nothing_raises(body: bytes) -> None:
    assert hits_page(body, ADDRESS).links.urls == []


@pytest.mark.parametrize("address", ["https://a.test/", "search://cdx/?site=http://a.test/&page=9999"])
def test_without_a_next_page_only_hits_are_links(address: str) -> None:
    body = write_hits(Hits((Hit("http://a.test/x"),), more=True))
    assert list(PageReader(None).read(Format.HITS, body, address).links.urls) == ["http://a.test/x"]
