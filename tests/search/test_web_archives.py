"""The indexes of web archives: what is asked, and what is made of their answers, whatever they are."""

import json

import pytest

from coati.readers.formats import Format
from coati.readers.hits import Hit, Hits, read_hits, write_hits
from coati.readers.registry import PageReader
from coati.search.provider import Prepares, ProviderRequest
from coati.search.web_archives import PAGE_HITS, CommonCrawl, Wayback
from coati.web.queries import Ability, Query, parse_query
from coati.web.rules import Rules

SITE = Query("wayback", "https://www.example.org/", Ability.SITE)
HEAD = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length", "endtimestamp"]
ROW = [
    "org,example)/a.csv",
    "20150102030405",
    "http://www.example.org:80/a.csv",
    "text/csv",
    "200",
    "X",
    "123",
    "20191231000000",
]


def test_a_query_for_a_site_is_an_address() -> None:
    assert SITE.address == "search://wayback/?site=https://www.example.org/"
    assert parse_query(SITE.address + "&page=2").page == 2


def test_the_wayback_machine_is_queried_for_files() -> None:
    asked = Wayback().request(Query("wayback", "https://www.example.org/", Ability.SITE, page=2))
    assert asked.url.startswith("https://web.archive.org/cdx/search/cdx?url=example.org&matchType=domain")
    assert asked.url.endswith(f"&limit={PAGE_HITS}&offset={PAGE_HITS}")
    found = Wayback().read(json.dumps([HEAD, ROW]).encode(), "application/json")
    assert found == Hits(
        (
            Hit(
                "http://www.example.org/a.csv",
                "a.csv",
                "text/csv, 123 B, last seen 2019-12-31",
                "2019-12-31",
                "https://web.archive.org/web/20191231000000/http://www.example.org:80/a.csv",
            ),
        )
    )
    assert Wayback().read(json.dumps([HEAD, *[ROW] * PAGE_HITS]).encode(), "").more
    assert Wayback().read(b"[]", "") == Wayback().read(b"", "") == Hits()


@pytest.mark.parametrize("body", [b"{}", b"<html>busy</html>", b"[1]", b"[[]", b"[null, [1]]"])
def test_what_is_not_a_table_is_an_error_of_this_query(body: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        Wayback().read(body, "text/html")


def test_common_crawl_finds_out_its_newest_index_first() -> None:
    engine = CommonCrawl("http://127.0.0.1:1")
    assert isinstance(engine, Prepares)
    assert engine.preparation() == ProviderRequest("http://127.0.0.1:1/collinfo.json")
    indexes = [{"id": "CC-MAIN-2026-39", "cdx-api": "http://127.0.0.1:1/CC-MAIN-2026-39-index"}]
    engine.prepare(json.dumps(indexes).encode(), "")
    assert engine.preparation() is None
    second = Query("commoncrawl", "https://www.example.org/", Ability.SITE, page=2)
    assert engine.request(second).url.startswith(
        "http://127.0.0.1:1/CC-MAIN-2026-39-index?url=*.example.org/*"
    )
    assert engine.request(second).url.endswith("&page=1")
    line = {"url": "http://example.org/b.pdf", "mime": "application/pdf", "timestamp": "20260101000000"}
    (hit,) = engine.read(json.dumps(line).encode() + b"\n", "").hits
    assert (hit.url, hit.title, hit.snippet) == (
        "http://example.org/b.pdf",
        "b.pdf",
        "application/pdf, last seen 2026-01-01",
    )


@pytest.mark.parametrize(
    "body", [b"{}", b"[]", b"<html>", b"[7]", b'[{"id": "x"}]', b'[{"cdx-api": "file:///a"}]']
)
def test_what_is_not_a_list_of_indexes_is_an_error(body: bytes) -> None:
    engine = CommonCrawl("http://127.0.0.1:1")
    with pytest.raises(ValueError):  # noqa: PT011 - JSON's own error among them
        engine.prepare(body, "text/html")
    assert engine.preparation() is not None


def test_hits_keep_what_web_archives_tell_and_lead_to_their_own_next_page() -> None:
    hit = Hit(
        "http://www.example.org/a.csv", "a.csv", "text/csv", "1970-01-02", "https://web.archive.org/web/1/x"
    )
    body = write_hits(Hits((hit, Hit("search://wayback/?q=money", "x")), more=True))
    assert read_hits(body).hits[0] == hit
    page = PageReader(Rules("https://www.example.org/")).read(Format.HITS, body, SITE.address)
    following, found = page.links.link(0), page.links.link(1)
    # No answer makes another query: only the next page of this one is asked for.
    assert page.links.urls == [f"{SITE.address}&page=2", hit.url]
    assert following.tag_path == ("search", "wayback", "api page")
    assert (found.tag_path, found.modified) == (("search", "wayback", "archived"), 86400.0)
    assert page.links.nearby_text(1).archived == hit.archived
