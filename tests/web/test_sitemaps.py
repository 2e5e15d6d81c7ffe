"""Sitemaps, as sites write them and as enemies do."""

import gzip
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.web import sitemaps
from coati.web.sitemaps import TAG_PATH, SitemapWalk, read_sitemap, sitemaps_of_robots

BASE = "https://example.org/"
MAP = BASE + "sitemap.xml"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*urls: str) -> bytes:
    entries = "".join(f"<url><loc>{url}</loc><lastmod>2024-01-01</lastmod></url>" for url in urls)
    return f"{HEAD}<urlset {NAMESPACE}>{entries}</urlset>".encode()


def index(*urls: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f"{HEAD}<sitemapindex {NAMESPACE}>{entries}</sitemapindex>".encode()


def walked(answers: dict[str, bytes | None], **bounds: int) -> tuple[list[str], list[str], SitemapWalk]:
    """Walk with these answers; gives what was asked for and what was found."""
    walk = SitemapWalk(BASE, **bounds)
    asked = []
    while (url := walk.next_url()) is not None:
        asked.append(url)
        walk.take(url, answers.get(url))
    return asked, [link.url for link in walk.links()], walk


def test_robots_lines_in_any_spelling() -> None:
    text = "User-agent: *\nDisallow: /x\nSITEMAP:https://example.org/a.xml\r\n sitemap : /b.xml #c\nSitemap: ftp://x/y\n"
    found = sitemaps_of_robots(text, BASE + "robots.txt")
    assert found == [BASE + "a.xml", BASE + "b.xml"]


def test_a_plain_sitemap() -> None:
    found = read_sitemap(urlset(BASE + "a?x=1&amp;y=2", BASE + "b", BASE + "a?x=1&amp;y=2"), MAP)
    assert found.urls == [BASE + "a?x=1&y=2", BASE + "b"]
    assert not found.is_index


@pytest.mark.parametrize(
    "body",
    [
        b'<x:urlset xmlns:x="u"><x:url><x:loc> https://example.org/a </x:loc></x:url></x:urlset>',
        b"<urlset><url><loc><![CDATA[https://example.org/a]]></loc></url></urlset>",
        b"<URLSET><URL><LOC>https://example.org/a</LOC></URL></URLSET>",
        b"https://example.org/a\n\nnot a url: \x00\n",
        "<urlset><loc>https://example.org/a</loc></urlset>".encode("utf-16"),
        gzip.compress(urlset("https://example.org/a")),
        b"\xef\xbb\xbf" + urlset("https://example.org/a"),
    ],
)
def test_sitemaps_of_all_kinds(body: bytes) -> None:
    assert BASE + "a" in read_sitemap(body, MAP).urls


def test_pictures_are_left_out() -> None:
    body = (
        b"<urlset><url><loc>/a</loc><image:image><image:loc>/a.php</image:loc></image:image></url></urlset>"
    )
    assert read_sitemap(body, MAP).urls == [BASE + "a"]


def test_entities_are_not_expanded() -> None:
    bomb = (
        '<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">'
        '<!ENTITY file SYSTEM "file:///etc/passwd">]>'
        "<urlset><url><loc>https://example.org/&b;</loc></url><url><loc>&file;</loc></url></urlset>"
    )
    assert all("aaaa" not in url and "root" not in url for url in read_sitemap(bomb.encode(), MAP).urls)


def test_a_bomb_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MAX_SITEMAP_BYTES", 1000)
    body = gzip.compress(urlset(BASE + "first") + b" " * 10_000_000 + urlset(BASE + "last"))
    assert read_sitemap(body, MAP).urls == [BASE + "first"]


def test_what_is_cut_off_is_not_taken() -> None:
    assert read_sitemap(
        b"<urlset><loc>https://example.org/a</loc><loc>https://example.org/par", MAP
    ).urls == [BASE + "a"]


@pytest.mark.parametrize(
    "piece", [b"<loc>", b"<loc ", b"<loc> ", b"<a:", b"<loc><![CDATA[", b"<loc>]", b"&", b"<urlset "]
)
def test_nothing_takes_long(piece: bytes) -> None:
    body = b"<urlset>" + piece * (1_000_000 // len(piece)) + b" " * 1_000_000
    begun = time.process_time()
    read_sitemap(body, MAP)
    assert time.process_time() - begun < 5


@given(st.binary(max_size=400))
def test_any_bytes_give_urls_or_nothing(body: bytes) -> None:
    for made in (body, b"<urlset><loc>" + body + b"</loc></urlset>", gzip.compress(body)[: len(body)]):
        assert all(url.startswith("http") for url in read_sitemap(made, MAP).urls)


def test_a_walk_goes_from_robots_through_an_index_to_the_pages() -> None:
    answers: dict[str, bytes | None] = {
        BASE + "robots.txt": b"Sitemap: https://example.org/index.xml",
        BASE + "index.xml": index(BASE + "one.xml", BASE + "two.xml.gz", BASE + "index.xml"),
        BASE + "one.xml": urlset(BASE + "a"),
        BASE + "two.xml.gz": gzip.compress(urlset(BASE + "b", BASE + "a")),
    }
    asked, found, walk = walked(answers)
    assert asked == [BASE + "robots.txt", BASE + "index.xml", BASE + "one.xml", BASE + "two.xml.gz"]
    assert found == [BASE + "a", BASE + "b"]
    assert {link.tag_path for link in walk.links()} == {TAG_PATH}


def test_a_site_that_names_none_may_have_one_at_the_usual_place() -> None:
    asked, found, _ = walked({MAP: urlset(BASE + "a")})
    assert asked == [BASE + "robots.txt", MAP]
    assert found == [BASE + "a"]


def test_the_number_of_files_and_urls_is_bounded() -> None:
    many = [f"{BASE}{number}.xml" for number in range(50)]
    answers: dict[str, bytes | None] = {BASE + "robots.txt": None, MAP: index(*many)}
    answers.update({url: urlset(*(f"{url}/{page}" for page in range(10))) for url in many})
    asked, _, walk = walked(answers, max_sitemaps=5)
    assert len(asked) <= 6
    assert walk.left_out == 46
    asked, found, _ = walked(answers, max_urls=25)
    assert len(found) == 25
    assert len(asked) == 5


def test_an_index_of_indexes_ends_somewhere() -> None:
    answers: dict[str, bytes | None] = {MAP: index(BASE + "1.xml")}
    answers.update({f"{BASE}{depth}.xml": index(f"{BASE}{depth + 1}.xml") for depth in range(1, 50)})
    asked, _, walk = walked(answers)
    assert len(asked) <= 5
    assert walk.left_out == 1
