"""What is read as a page, and as which one."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.readers.formats import Format, format_of, is_missing_robots
from coati.readers.registry import PageReader
from coati.web.rules import Refusal, Rules, Scope

BASE = "https://example.org/"
SITEMAP = b"<?xml version='1.0'?><!-- made by hand --><urlset xmlns='x'><url/></urlset>"
FEED = b"<rss version='2.0'></rss>"


def form(
    body: bytes | None, media_type: str, path: str = "x", *, is_list: bool = True, wanted: bool = True
) -> Format | None:
    return format_of(BASE + path, media_type, body, is_list=is_list, wanted=wanted)


@pytest.mark.parametrize(
    ("body", "media_type", "expected"),
    [
        (SITEMAP, "application/xml; charset=utf-8", Format.SITEMAP),
        (SITEMAP, "text/plain", Format.SITEMAP),
        (b"<x:sitemapindex xmlns:x='y'>", "text/xml", Format.SITEMAP),
        (gzip.compress(SITEMAP, mtime=0), "application/x-gzip", Format.SITEMAP),
        (gzip.compress(SITEMAP, mtime=0), "application/octet-stream", Format.SITEMAP),
        (gzip.compress(b"https://example.org/a\n", mtime=0), "application/gzip", Format.LINES),
        (b"\xef\xbb\xbfhttps://example.org/a\n", "text/plain", Format.LINES),
        (FEED, "application/rss+xml", Format.FEED),
        (b"<!DOCTYPE rss SYSTEM 'x'><rss/>", "text/xml", Format.FEED),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'/>", "application/atom+xml", Format.FEED),
        (b"<rdf:RDF xmlns='http://purl.org/rss/1.0/'>", "application/rdf+xml", Format.FEED),
        (b"<rdf:RDF xmlns:dcat='d'>", "application/rdf+xml", None),
        (b"<data><urlset/></data>", "application/xml", None),
        (b"<p>", "text/html", Format.HTML),
        (b"https://example.org/a\n", "text/csv", None),
        (b"name,value\n", "text/plain", None),
        (gzip.compress(b"name,value\n", mtime=0), "application/gzip", None),
        (SITEMAP, "image/svg+xml", None),
        (b"", "application/xml", None),
        (b"\x1f\x8b\x00", "application/gzip", None),
    ],
)
def test_the_content_of_a_list_address_decides(body: bytes, media_type: str, expected: Format | None) -> None:
    assert form(body, media_type) == expected


def test_elsewhere_a_wanted_media_type_stays_a_target() -> None:
    assert form(SITEMAP, "application/xml", is_list=False, wanted=True) is None
    assert form(SITEMAP, "application/xml", is_list=False, wanted=False) is Format.SITEMAP
    assert form(FEED, "text/xml", is_list=False, wanted=False) is Format.FEED
    # Only XML says what it is by its root element.
    assert form(gzip.compress(SITEMAP), "application/gzip", is_list=False, wanted=False) is None
    assert form(SITEMAP, "text/plain", is_list=False, wanted=False) is None
    assert form(b"<kml/>", "application/xml", is_list=False, wanted=False) is None


@pytest.mark.parametrize(
    ("media_type", "is_page"),
    [("application/xml", True), ("application/gzip", True), ("text/plain", True), ("text/csv", False)],
)
def test_a_head_of_a_list_address_is_a_page(media_type: str, *, is_page: bool) -> None:
    assert (form(None, media_type) is not None) is is_page
    assert form(None, media_type, is_list=False, wanted=False) is None


def test_robots_is_a_list_only_where_it_is_read_as_one() -> None:
    assert form(b"Disallow: /", "text/plain", "robots.txt") is Format.ROBOTS
    assert form(b"<h1>", "text/html", "robots.txt") is Format.ROBOTS
    assert form(b"Disallow: /", "text/plain", "robots.txt", is_list=False) is None
    assert form(b"Disallow: /", "text/plain", "a/robots.txt") is None
    assert [
        is_missing_robots(BASE + "robots.txt", status, is_list=True) for status in (404, 403, 429, 503)
    ] == [
        True,
        True,
        False,
        False,
    ]


def urls_of(form: Format, body: bytes, media_type: str, rules: Rules | None = None) -> list[str]:
    return list(PageReader(rules).read(form, body, BASE + "robots.txt", media_type).links.urls)


def test_robots_lines_in_any_spelling() -> None:
    text = b"User-agent: *\nSITEMAP:https://example.org/a.xml\r\n sitemap : /b.xml #c\nSitemap: ftp://x/y\n"
    assert urls_of(Format.ROBOTS, text, "text/plain") == [BASE + "a.xml", BASE + "b.xml"]


@pytest.mark.parametrize(
    ("body", "media_type"), [(b"", "text/plain"), (b"<html>\nSitemap: /no.xml\n<a href=/x>", "text/html")]
)
def test_robots_that_names_none_leads_to_the_usual_place(body: bytes, media_type: str) -> None:
    assert urls_of(Format.ROBOTS, body, media_type) == [BASE + "sitemap.xml"]


def test_a_list_is_under_the_scope_of_hosts_and_what_it_lists_under_all_rules() -> None:
    rules = Rules(BASE + "data/", Scope.PATH, more_start_urls=("https://more.example/",))
    robots = b"Sitemap: /map.xml\nSitemap: https://more.example/map.xml\nSitemap: https://cdn.example/map.xml"
    page = PageReader(rules).read(Format.ROBOTS, robots, BASE + "robots.txt", "text/plain")
    assert page.links.urls == [BASE + "map.xml", "https://more.example/map.xml"]
    assert page.refused == [("https://cdn.example/map.xml", Refusal.SCOPE)]
    listed = b"<urlset><loc>/data/a</loc><loc>/b</loc><loc>https://more.example/c.png</loc></urlset>"
    page = PageReader(rules).read(Format.SITEMAP, listed, BASE + "map.xml", "text/xml")
    assert page.links.urls == [BASE + "data/a"]
    assert [reason for _, reason in page.refused] == [Refusal.SCOPE, Refusal.EXTENSION]


def test_lines_of_junk_are_left_out() -> None:
    text = (
        b"\n# http://example.org/no\n  https://example.org/a\r\nhttp://\n\x00\xff\nhttps://example.org/b c\n"
    )
    assert urls_of(Format.LINES, text, "text/plain") == [BASE + "a", BASE + "b"]


def test_of_lines_that_are_cut_off_the_last_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "coati.readers.registry.unpack_text", lambda *_: ("http://a.example/\nhttp://a.exa", True)
    )
    assert urls_of(Format.LINES, b"", "text/plain") == ["http://a.example/"]


@given(st.binary(max_size=400), st.sampled_from(list(Format)))
def test_any_bytes_give_web_addresses_or_nothing(body: bytes, form: Format) -> None:
    for made in (
        body,
        b"<urlset><loc>" + body + b"</loc></urlset>",
        b"<feed><entry><link href='" + body + b"'/></entry></feed>",
        gzip.compress(body, mtime=0)[: len(body)],
    ):
        format_of(BASE, "text/xml", made, is_list=True, wanted=False)
        assert all(url.startswith("http") for url in urls_of(form, made, "text/xml"))


@pytest.mark.parametrize(
    "piece",
    [
        b"<loc>",
        b"<loc ",
        b"<loc> ",
        b"<a:",
        b"<loc><![CDATA[",
        b"<!--",
        b"<link href='",
        b"<item><link>",
        b"&",
    ],
)
def test_no_text_sends_the_search_back(piece: bytes) -> None:
    """Each of these would take hours if the work grew with the square of the text."""
    for form in (Format.SITEMAP, Format.FEED, Format.LINES, Format.ROBOTS):
        body = b"<urlset>" + piece * (1_000_000 // len(piece)) + b" " * 1_000_000
        assert len(urls_of(form, body, "text/xml")) <= 1
