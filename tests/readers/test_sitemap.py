"""Sitemaps, as sites write them and as enemies do."""

import gzip

import pytest

from coati.readers import registry, unpacking, xml_tags
from coati.readers.formats import Format
from coati.readers.listed import PAGES_OF_SITEMAP, SITEMAPS_OF_INDEX
from coati.readers.registry import MAX_LINKS, PageReader
from coati.web.links import ReadPage

BASE = "https://example.org/"
MAP = BASE + "sitemap.xml"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*urls: str) -> bytes:
    entries = "".join(f"<url><loc>{url}</loc><lastmod>2024-01-01</lastmod></url>" for url in urls)
    return f"{HEAD}<urlset {NAMESPACE}>{entries}</urlset>".encode()


def read(body: bytes, content_type: str = "application/xml") -> ReadPage:
    return PageReader().read(Format.SITEMAP, body, MAP, content_type)


def urls_of(body: bytes) -> list[str]:
    return list(read(body).links.urls)


def test_a_plain_sitemap() -> None:
    page = read(urlset(BASE + "a?x=1&amp;y=2", BASE + "b"))
    assert page.links.urls == [BASE + "a?x=1&y=2", BASE + "b"]
    assert page.links.link(0).tag_path == PAGES_OF_SITEMAP
    assert page.links.link(0).modified == 1704067200.0
    assert not page.truncated


def test_an_index_names_sitemaps() -> None:
    entries = "<sitemap><loc>/1.xml</loc></sitemap><sitemap><loc>2.xml.gz</loc></sitemap>"
    body = f"<sitemapindex {NAMESPACE}>{entries}</sitemapindex>"
    page = read(body.encode())
    assert page.links.urls == [BASE + "1.xml", BASE + "2.xml.gz"]
    assert {page.links.link(place).tag_path for place in (0, 1)} == {SITEMAPS_OF_INDEX}


@pytest.mark.parametrize(
    "body",
    [
        b'<x:urlset xmlns:x="u"><x:url><x:loc> https://example.org/a </x:loc></x:url></x:urlset>',
        b"<urlset><url><loc><![CDATA[https://example.org/a]]></loc></url></urlset>",
        b"<URLSET><URL><LOC>https://example.org/a</LOC></URL></URLSET>",
        b"<urlset><loc>https://example.org/a</loc></urlset>",
        b"<urlset><url><loc id='1'>https://example.org/a</loc></url></urlset>",
        "<urlset><loc>https://example.org/a</loc></urlset>".encode("utf-16"),
        gzip.compress(urlset("https://example.org/a"), mtime=0),
        gzip.compress(b"<urlset>", mtime=0) + gzip.compress(b"<url><loc>/a</loc></url>", mtime=0),
        b"\xef\xbb\xbf" + urlset("https://example.org/a"),
        b"<!-- <loc>/no</loc> --><urlset><![CDATA[<loc>/no</loc>]]><url><loc>/a</loc></url></urlset>",
    ],
)
def test_sitemaps_of_all_kinds(body: bytes) -> None:
    assert urls_of(body) == [BASE + "a"]


def test_the_encoding_that_a_sitemap_declares_counts() -> None:
    body = "<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>/caf\xe9</loc></url></urlset>"
    assert urls_of(body.encode("latin-1")) == [BASE + "caf%C3%A9"]


def test_pictures_are_left_out() -> None:
    body = (
        b"<urlset><url><loc>/a</loc><image:image><image:loc>/a.php</image:loc></image:image></url></urlset>"
    )
    assert urls_of(body) == [BASE + "a"]


def test_a_bare_ampersand_damages_nothing() -> None:
    body = b"<urlset><url><loc>/a?x=1&copy=2</loc></url><url><loc>/b</loc></url></urlset>"
    assert urls_of(body) == [BASE + "a?x=1&copy=2", BASE + "b"]


@pytest.mark.parametrize(
    "date", ["soon", "2024-13-45", "", "-1", "9" * 100, "99999-01-01", "0001-01-01", "2024-01-01T25:00:00Z"]
)
def test_dates_that_are_none_are_left_out(date: str) -> None:
    body = f"<urlset><url><loc>/a</loc><lastmod>{date}</lastmod></url></urlset>"
    assert read(body.encode()).links.link(0).modified is None


def test_a_date_belongs_to_its_own_entry() -> None:
    entries = (
        b"<url><lastmod>1970-01-02</lastmod><loc>/a</loc></url><url><loc>/b</loc></url>"
        b"<loc>/c</loc><lastmod>1970-01-03</lastmod><loc>/d</loc>"
    )
    links = read(b"<urlset>" + entries + b"</urlset>").links
    assert [links.link(place).modified for place in range(4)] == [86400.0, None, 172800.0, None]


def test_entities_are_neither_declared_nor_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    bomb = (
        f'<!DOCTYPE urlset [<!ENTITY l0 "ha">{laughs}<!ENTITY file SYSTEM "file:///etc/passwd">]>'
        "<urlset><url><loc>https://example.org/&l9;</loc></url><url><loc>&file;</loc></url></urlset>"
    )
    assert urls_of(bomb.encode()) == [BASE + "&l9;", BASE + "&file;"]


def test_a_bomb_is_read_up_to_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    body = gzip.compress(urlset(BASE + "first") + b" " * 10_000_000 + urlset(BASE + "last"))
    assert len(body) < 50_000
    assert urls_of(body) == [BASE + "first", BASE + "last"]
    monkeypatch.setattr(unpacking, "MAX_LIST_BYTES", 1000)
    monkeypatch.setattr(registry, "unpack_text", lambda body, kind: unpacking.unpack_text(body, kind, 1000))
    page = read(body)
    assert page.links.urls == [BASE + "first"]
    assert page.truncated


def test_a_bomb_never_stands_in_memory_whole() -> None:
    zeros = gzip.compress(b"\n" * (unpacking.MAX_LIST_BYTES * 4))
    text, truncated = unpacking.unpack_text(zeros)
    assert (len(text), truncated) == (unpacking.MAX_LIST_BYTES, True)


def test_what_is_cut_off_is_not_taken() -> None:
    assert urls_of(b"<urlset><loc>https://example.org/a</loc><loc>https://example.org/par") == [BASE + "a"]


def test_a_sitemap_of_a_million_addresses_is_read_up_to_the_bound() -> None:
    body = b"<urlset>" + b"".join(b"<url><loc>/%d</loc></url>" % number for number in range(1_000_000))
    page = read(body)
    assert len(page.links.urls) == MAX_LINKS
    assert page.truncated


def test_tags_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_tags, "MAX_TAGS", 10)
    assert len(urls_of(urlset(*(f"/{number}" for number in range(100))))) < 10


def test_wrong_xml_gives_what_can_be_told() -> None:
    assert urls_of(b"<urlset><url><loc>/a</url><url></loc><loc>/b</loc>") == [BASE + "a", BASE + "b"]
    assert urls_of(b"<urlset><url><loc><a>/x</a></loc><loc></loc><loc>mailto:a@b</loc>") == []
    assert urls_of(b"\x00\xff<<<>>><urlset") == []
