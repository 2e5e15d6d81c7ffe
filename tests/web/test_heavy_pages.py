from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from coati.web import heavy_pages
from coati.web.heavy_pages import MAX_DEPTH, balanced, is_heavy
from coati.web.links import LinkExtractor
from tests.web.nasty import TEXT_TAGS, soups, trees
from tests.web.slow_links import slow_links

URL = "http://example.org/"


def depth(html: str) -> int:
    root = LexborHTMLParser(html).root
    assert root is not None
    depths: dict[int, int] = {}
    for node in root.traverse():
        parent = node.parent
        depths[node.mem_id] = depths.get(parent.mem_id, 0) + 1 if parent is not None else 0
    return max(depths.values())


@given(trees())
def test_well_formed_markup_keeps_its_links_and_their_paths(html: str) -> None:
    text, cut = balanced(html)
    assert slow_links(text, URL) == slow_links(html, URL)
    assert not cut


@given(soups(TEXT_TAGS))
def test_damaged_markup_keeps_its_links(html: str) -> None:
    text, _ = balanced(html)
    assert {url for url, _ in slow_links(text, URL)} == {url for url, _ in slow_links(html, URL)}


@given(soups() | trees() | st.text())
def test_what_was_written_anew_would_be_written_the_same(html: str) -> None:
    text, _ = balanced(html)
    assert balanced(text) == (text, False)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>one<p>two", "<p>one</p><p>two</p>"),
        ("<ul><li>1<li>2</ul>", "<ul><li>1</li><li>2</li></ul>"),
        ("<ul><li><p>1<li>2", "<ul><li><p>1</p></li><li>2</li></ul>"),
        ("<dl><dt>a<dd>b<dt>c", "<dl><dt>a</dt><dd>b</dd><dt>c</dt></dl>"),
        (
            "<table><tr><td>1<td>2<tr><td>3</table>",
            "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>",
        ),
        ("<div><table><tr><td></div>x", "<div><table><tr><td>x</td></tr></table></div>"),
        ("<b><i></b></i>", "<b><i></i></b>"),
        ("</p></div><br/><hr>", "<br><hr>"),
        ("<a name=1><a name=2>", "<a name=1 ></a><a name=2 ></a>"),
        ("<p>a < b <", "<p>a &lt; b &lt;</p>"),
        ("<<!-- -->p>", "&lt;p>"),
        ("<p a=1 CLASS='x y' id=z/ href= src src>", "<p CLASS='x y'  id=z/  href= src  src ></p>"),
        ('<a href="a>b" title=">">', '<a href="a>b" ></a>'),
        ("<a href=x class=1 class=2>", "<a href=x  class=1 ></a>"),
        ("<script>if (a < b) '</div>'</script><p>", "<script></script><p></p>"),
        ("<div><!-- </div> --><p><!--></p><!----><p", "<div><p></p></div>"),
        ("<svg><path d='x'/><g/><a href=x /></svg>", "<svg><path></path><g></g><a href=x ></a></svg>"),
        ("<svg><a href=x/></svg>", "<svg><a href=x/ ></a></svg>"),
        ("<div/><span/>", "<div><span></span></div>"),
        ("<!DOCTYPE html><html><body>x</body></html>y", "<!DOCTYPE html><html><body>xy</body></html>"),
        ("<p>x<plaintext><a href=x>", "<p>x</p>"),
        ("<iframe src=x><a href=y></iframe>z", "<iframe src=x ></iframe>z"),
        ("<p>x<a href='", "<p>x</p>"),
        ("<?php <p> ?><p>", " ?><p></p>"),
    ],
)
def test_every_element_is_closed_where_a_browser_would_close_it(html: str, expected: str) -> None:
    assert balanced(html) == (expected, False)


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p>" * 4000,
        "<p>" + "<a href=/x>x</a>" * 4000,
        "<p>" + "prose without any tag " * 10_000,
        f"<img src='data:image/png;base64,{'A' * 3000}'>" * 20,
        "<script>" + "var x = 1;" * 10_000 + "</script>",
    ],
)
def test_ordinary_pages_are_parsed_as_they_are(html: str) -> None:
    assert not is_heavy(html)


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 20_000,
        "<span>" * 3000 + "</div>" * 20_000,
        "<p " + " ".join(f"a{n}" for n in range(2000)) + ">",
        f"<p>text {'x' * 3000}<p {'a=1 ' * 3000}>",
        "".join(f"<b id={n}>" for n in range(3000)) + "<p>x" * 3000,
        "".join(f"<FONT\ncolor={n}>" for n in range(3000)) + "<p>x" * 3000,
    ],
)
def test_pages_with_a_sign_of_trouble_are_heavy(html: str) -> None:
    assert is_heavy(html)


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000,
        "<ul><li>" * 30_000,
        "<b><i><font>" * 20_000,
        "<table><tr><td>" * 20_000,
        "<svg>" + "<g>" * 30_000,
        "<a href=/x><div>" * 20_000,
        "<select><option>" * 20_000,
        "<object><button>" * 20_000,
        "<span>" * 30_000 + "</div>" * 30_000,
        "<div><script></div></script>" * 20_000,
        "<div title='</div>'>" * 20_000,
        "<td><b id=1></td>" * 20_000,
    ],
)
def test_the_tree_of_what_is_written_is_shallow(html: str) -> None:
    # A browser adds at most the rows and bodies of tables.
    assert depth(balanced(html)[0]) < 3 * MAX_DEPTH


def test_links_below_the_greatest_depth_are_found_and_what_follows_is_in_its_place() -> None:
    html = (
        "<div id=a>"
        + "<div>" * 20_000
        + "<a href=/deep>x</a>"
        + "</div>" * 20_000
        + "</div><p><a href=/last>x</a>"
    )
    page = LinkExtractor().extract(html.encode(), URL)
    assert page.links.urls == ["http://example.org/deep", "http://example.org/last"]
    assert page.links.link(1).tag_path == ("html", "body", "p", "a")
    assert not page.truncated


def test_elements_are_counted_and_the_rest_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heavy_pages, "MAX_ELEMENTS", 20_000)
    assert not LinkExtractor().extract(b"<br>" * 20_000, URL).truncated
    page = LinkExtractor().extract(b"<p>" + b"<br>" * 19_998 + b"<a href=/x>x</a><a href=/y>y</a>", URL)
    assert page.truncated
    assert page.links.urls == ["http://example.org/x"]


# Each of these kept lexbor busy for minutes, or took gigabytes, when it was parsed as it was.
HOSTILE = """
import resource
# The kernel ends what takes a minute of processor time, however long the machine lets it wait for that.
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
from coati.web.links import LinkExtractor
link = "<a href=/x>x</a>"
for html in (
    "<div>" * 100_000 + link,
    "".join(f"<div class=c{n}><a href=/{n}>{n}</a>" for n in range(50_000)),
    "<ul><li>" * 50_000 + link,
    "<span>" * 100_000 + "</div>" * 100_000 + link,
    "<p " + " ".join(f"a{n}" for n in range(200_000)) + ">" + link,
    "<p>" + "".join(f"<b id={n}>" for n in range(10_000)) + "</p>" + "<p>x" * 10_000 + link,
    "<a href=/x><div>" * 50_000,
    "<a href=" * 100_000 + "'>" + link,
    "<a x=" * 200_000 + ">" + link,
    "<!--" * 200_000 + "-->" + link,
):
    page = LinkExtractor().extract(html.encode(), "http://example.org/")
    for index in range(0, len(page.links.urls), 100):
        page.links.link(index)
    assert page.links.urls, html[:40]
"""


def test_hostile_pages_take_neither_long_nor_all_memory() -> None:
    run = subprocess.run([sys.executable, "-c", HOSTILE], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
