"""Feeds of all kinds."""

import pytest

from coati.model import Link
from coati.readers.formats import Format
from coati.readers.registry import PageReader

BASE = "https://example.org/"


def links_of(body: str) -> list[Link]:
    page = PageReader().read(Format.FEED, body.encode(), BASE + "feed", "application/rss+xml")
    return [page.links.link(place) for place in range(len(page.links.urls))]


def test_rss() -> None:
    (link, file) = links_of(
        """<?xml version="1.0"?><rss version="2.0" xmlns:media="m"><channel>
        <title>All</title><link>https://example.org/home</link>
        <image><link>https://example.org/logo</link></image>
        <item><media:title>no</media:title><title><![CDATA[New & <b>figures</b>]]></title><link>/a</link>
        <description><![CDATA[<link>/no</link>]]></description><guid isPermaLink="false">7</guid>
        <pubDate>Tue, 02 Jan 2024 00:00:00 GMT</pubDate><enclosure url="/a.csv" type="text/csv"/></item>
        </channel></rss>"""
    )
    assert link == Link(
        BASE + "a",
        ("rss", "channel", "item", "link"),
        "New & <b>figures</b>",
        "New & <b>figures</b>",
        1704153600.0,
    )
    assert (file.url, file.tag_path[-1]) == (BASE + "a.csv", "enclosure")


def test_an_item_without_a_link_is_found_by_its_permalink() -> None:
    items = "<item><guid>https://example.org/p</guid></item><item><guid isPermaLink='false'>http://x</guid></item>"
    assert [link.url for link in links_of(f"<rss><channel>{items}</channel></rss>")] == [BASE + "p"]


def test_atom() -> None:
    links = links_of(
        """<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="/feed"/><link href="/home"/>
        <entry><title>One</title><link rel="edit" href="/edit"/><link href="/one?a=1&amp;b"/>
        <link rel='enclosure' href='/one.csv'/><published>2024-01-01T00:00:00Z</published>
        <updated>2024-01-02T01:00:00+01:00</updated></entry><entry><link href="/two"/></entry></feed>"""
    )
    assert [(link.url, link.tag_path, link.modified) for link in links] == [
        (BASE + "one?a=1&b", ("feed", "entry", "link"), 1704153600.0),
        (BASE + "one.csv", ("feed", "entry", "enclosure"), 1704153600.0),
        (BASE + "two", ("feed", "entry", "link"), None),
    ]


def test_rss_1() -> None:
    body = """<rdf:RDF xmlns="http://purl.org/rss/1.0/"><channel><link>/home</link></channel>
    <item><title>T</title><link>/a</link><dc:date>2024-01-02</dc:date></item></rdf:RDF>"""
    assert links_of(body) == [Link(BASE + "a", ("rdf", "item", "link"), "T", "T", 1704153600.0)]


@pytest.mark.parametrize(
    "body", ["", "<rss>", "<rss><item><link>", "<feed><entry><link href=></entry></feed>"]
)
def test_damaged_feeds_give_nothing(body: str) -> None:
    assert links_of(body) == []


def test_a_feed_of_fifty_megabytes_is_read_up_to_the_bound() -> None:
    item = b"<item><title>x</title><link>/%d</link><description>" + b"y" * 1000 + b"</description></item>"
    body = b"<rss><channel>" + b"".join(item % number for number in range(52_000))
    assert len(body) > 52_428_800
    page = PageReader().read(Format.FEED, body, BASE + "feed", "application/rss+xml")
    assert 40_000 < len(page.links.urls) < 52_000
    assert page.truncated
