from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coati.model import Link
from coati.web import links as links_module
from coati.web import node_text
from coati.web.links import MAX_PAGE_BYTES, LinkExtractor, ReadPage
from coati.web.rules import Refusal, Rules
from coati.web.urls import resolve
from tests.counted_calls import count_calls
from tests.web.nasty import references, soups, trees
from tests.web.slow_links import slow_links

URL = "http://example.org/dir/page.html?old=1"


def extract(html: str | bytes, url: str = URL, content_type: str = "text/html; charset=utf-8") -> ReadPage:
    body = html if isinstance(html, bytes) else html.encode()
    return LinkExtractor().extract(body, url, content_type)


def urls(html: str | bytes, url: str = URL, content_type: str = "text/html; charset=utf-8") -> list[str]:
    return list(extract(html, url, content_type).links.urls)


def paths(html: str) -> list[tuple[str, ...]]:
    links = extract(html).links
    return [links.link(index).tag_path for index in range(len(links.urls))]


# --- what is a link ---------------------------------------------------------------------------------------


def test_each_link_element_counts_in_document_order() -> None:
    html = """
      <iframe src=1></iframe> <map><area href=2></map> <a href=3>x</a>
      <meta http-equiv=Refresh content="5; url=4"> <area href=5>
      <A HREF=6>x</A> <iframe src=7></iframe> <a href=3>again</a>
    """
    assert urls(html) == [f"http://example.org/dir/{n}" for n in (1, 2, 3, 4, 5, 6, 7, 3)]


def test_frames_are_links_too() -> None:
    html = "<frameset><frame src=a><frame><frame src=b><noframes><a href=c>c</a></noframes></frameset>"
    assert urls(html) == ["http://example.org/dir/a", "http://example.org/dir/b"]


@pytest.mark.parametrize(
    "html",
    [
        "<a name=top>x</a>",
        "<a href>x</a>",
        '<a href="">x</a>',
        "<a href='#part'>x</a>",
        "<a href=' '>x</a>",
        "<link href=style.css><img src=a.png><script src=a.js></script><embed src=x><form action=y></form>",
        "<!-- <a href=x>x</a> -->",
        "<script>document.write('<a href=x>')</script><style><a href=x></style>",
        "<textarea><a href=x></textarea><title><a href=x></title><xmp><a href=x></xmp>",
        "<template><a href=x>x</a></template>",
        "<svg><a xlink:href=x>x</a></svg>",
        "<a src=x>x</a>",
        "<plaintext><a href=x>",
        "<meta http-equiv=content-type content='0; url=x'>",
        "<meta name=refresh content='0; url=x'>",
    ],
)
def test_these_are_not_links(html: str) -> None:
    assert urls(html) == []


@pytest.mark.parametrize(
    "html",
    [
        "<svg><a href=x>x</a></svg>",
        "<noscript><a href=x>x</a></noscript>",
        "<noscript><iframe src=x></iframe></noscript>",
        "<head><a href=x>",
        "<object><a href=x>x</a></object>",
        "<a href=x",
        "<iframe href=y src=x></iframe>",
        "<a src=y href=x>x</a>",
        "<meta href=y http-equiv=refresh content=0;url=x>",
        "<a href=x rel=nofollow>x</a>",
        "<a href=x><a href=javascript:y()>",
        "<p><a href=x>x<p>",
    ],
)
def test_these_are_one_link(html: str) -> None:
    expected = [] if html == "<a href=x" else ["http://example.org/dir/x"]
    assert list(dict.fromkeys(urls(html))) == expected


@pytest.mark.parametrize(
    "reference",
    [
        *(
            "javascript:x()",
            "JavaScript:x()",
            " \n javascript:x()",
            "\x01JAVASCRIPT:x()",
            "java&#10;script:x()",
        ),
        *(
            "mailto:a@example.org",
            "MailTo:a@example.org",
            "tel:1",
            "data:text/html,<a>",
            "DATA:x",
            "ftp://x/y",
        ),
        *("http://", "//", "http://[", "http://a b/", "http://example.org:99999/", "about:blank"),
        *("x" * 5000, "http://example.org/" + "é" * 1500),
    ],
)
def test_what_no_browser_would_ask_the_web_for_is_left_out(reference: str) -> None:
    assert urls(f'<a href="{reference}">x</a><a href=/kept>x</a>') == ["http://example.org/kept"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0; url=x", "x"),
        ("0;URL=x", "x"),
        ("5,url = x", "x"),
        ("0 url=x", "x"),
        ("0;x", "x"),
        (" 1.5 ; url='x' y", "x"),
        ('.5; url="x"y', "x"),
        ("0; url=it's", "it's"),
        ("0; url='it", "it"),
        ("0; url=url.html", "url.html"),
        ("0;url=a?b=1;c=2", "a?b=1;c=2"),
        # Only a time, or no time: it leads nowhere else.
        ("0", None),
        ("0;", None),
        ("0; url=", None),
        ("0; url=''", None),
        ("; url=x", None),
        ("url=x", None),
        ("soon; url=x", None),
        ("0x; url=x", None),
        ("", None),
    ],
)
def test_a_refresh_leads_where_the_standard_says(content: str, expected: str | None) -> None:
    html = f"<meta http-equiv=refresh content='{content.replace(chr(39), '&#39;')}'>"
    assert urls(html) == ([] if expected is None else ["http://example.org/dir/" + expected])


# --- base -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("<base href=/other/>", "http://example.org/other/x"),
        ("<base href=http://other.test/a/b>", "http://other.test/a/x"),
        ("<base href=//other.test>", "http://other.test/x"),
        ("<base href='?q=/y/'>", "http://example.org/dir/x"),
        ("<base target=_blank><base href=/a/><base href=/b/>", "http://example.org/a/x"),
        ("<base href=''><base href=/b/>", "http://example.org/dir/x"),
        ("<base href>", "http://example.org/dir/x"),
        ("<base href='http://['><base href=/b/>", "http://example.org/dir/x"),
        ("<base href=javascript:x()>", "http://example.org/dir/x"),
        ("<base href=data:text/html,x>", "http://example.org/dir/x"),
        ("<base href=' \n/a/ '>", "http://example.org/a/x"),
        ("<p><a href=/before></a><base href=/late/></p>", "http://example.org/late/x"),
    ],
)
def test_the_first_base_with_a_reference_decides(base: str, expected: str) -> None:
    assert urls(base + "<a href=x>x</a>")[-1] == expected


@pytest.mark.parametrize("base", ["ftp://example.org/", "file:///", "mailto:x@example.org", "about:blank"])
def test_under_a_base_that_is_not_of_the_web_only_whole_addresses_lead_somewhere(base: str) -> None:
    html = (
        f"<base href={base}><a href=x>x</a><a href=/x>x</a><a href=?q>x</a><a href=http://example.org/y>y</a>"
    )
    assert urls(html) == ["http://example.org/y"]


def test_a_reference_without_a_path_keeps_the_file_name() -> None:
    html = "<a href=?new=2>x</a><a href=http:?new=3>x</a><a href=x?new=4>x</a>"
    expected = ["page.html?new=2", "page.html?new=3", "x?new=4"]
    assert urls(html) == ["http://example.org/dir/" + end for end in expected]


# --- tag paths and texts ----------------------------------------------------------------------------------


def test_a_path_has_tag_classes_and_id_of_every_ancestor() -> None:
    html = """
      <html lang=en><body class="  home\twide " id=top>
        <ul class=menu id="the  list"><li><a class="btn x/2" id=go href=/x><b>Go</b></a></li></ul>
    """
    assert paths(html) == [("html", "body.home wide#top", "ul.menu#the_list", "li", "a.btn x/2#go")]


def test_implied_elements_are_there_as_in_a_browser() -> None:
    assert paths("<table><tr><td><a href=x>x</table>") == [
        ("html", "body", "table", "tbody", "tr", "td", "a")
    ]
    assert paths("<td><a href=x>") == [("html", "body", "a")]
    assert paths("<p><div><a href=x>") == [("html", "body", "div", "a")]
    assert paths("<ul><li><a href=x>x<li><a href=y>y") == [("html", "body", "ul", "li", "a")] * 2
    assert paths("<meta http-equiv=refresh content='0;url=x'>") == [("html", "head", "meta")]


def test_damage_is_repaired_as_in_a_browser() -> None:
    assert paths("<p><b><a href=x>x</a><p><a href=y>") == [("html", "body", "p", "b", "a")] * 2
    assert paths("<a href=x><div>y</div></a></b></i>") == [("html", "body", "a")]
    assert paths("<a href=x>x<div>y<a href=z>") == [
        ("html", "body", "a"),
        ("html", "body", "div", "a"),
        ("html", "body", "div", "a"),
    ]
    assert paths("<table><a href=x>x</a><tr><td></table>") == [("html", "body", "a")]
    assert paths("</div></p><a href=x>") == [("html", "body", "a")]


def test_what_comes_from_the_page_is_cut() -> None:
    html = f"<div class='{'c' * 10_000}'>" + "<span>" * 300 + f"<a href=x>{'word ' * 10_000}</a>"
    links = extract(html).links
    link = links.link(0)
    assert len(link.tag_path) == 128
    assert max(map(len, link.tag_path)) == 200
    assert 290 <= len(link.anchor) <= 300
    assert 290 <= len(link.context) <= 300


def test_anchor_and_context_are_what_a_reader_sees() -> None:
    html = """<p>Before, <script>var x = 1</script><style>p {}</style>
       <a href=x>the <b>new</b>
       data</a> &amp; after <!-- not this --></p>"""
    link = extract(html).links.link(0)
    assert link.anchor == "the new data"
    assert link.context == "Before, the new data & after"


def test_the_context_of_a_link_in_a_very_large_element_is_its_beginning() -> None:
    html = "<div>" + "".join(f"<i></i><a href={n}>n{n}</a> " for n in range(2000))
    links = extract(html).links
    assert links.link(1999).anchor == "n1999"
    assert links.link(1999).context == links.link(0).context
    assert links.link(0).context.startswith("n0 n1 n2 n3")


@given(st.data())
def test_links_are_the_same_in_whatever_order_they_are_requested(data: st.DataObject) -> None:
    html = data.draw(soups() | trees())
    eager = extract(html).links
    expected = [eager.link(index) for index in range(len(eager.urls))]
    assert [link.url for link in expected] == eager.urls
    lazy = extract(html).links
    for index in data.draw(st.permutations(range(len(expected)))):
        assert lazy.link(index) == expected[index]
        assert lazy.link(index) == expected[index]


# --- against a slow traversal -----------------------------------------------------------------------------


@given(soups() | trees())
@example("<table><a href=x><tr><td><a href=y></table><a href=z>")
@example('<base href="http:?q"><a href="http:">')
@example('<a href="a #b"><a href="http:\t#b">')
@example('<a href="http:#"><a href="?#"><a href="\t?x"><a href="http:\t?x">')
def test_links_and_paths_agree_with_a_walk_over_the_tree(html: str) -> None:
    links = extract(html).links
    found = [(link.url, link.tag_path) for link in map(links.link, range(len(links.urls)))]
    assert found == slow_links(html, URL)


PAGES = (
    *(
        "http://example.org/",
        "http://example.org/dir/",
        "http://example.org/dir/page",
        "https://example.org/dir/",
    ),
    *("http://example.org/dir/p?q=/", "http://example.org/dir/deeper/", "http://user@example.org/dir/"),
    "http://other.test/dir/",
)


@given(st.lists(references(), max_size=8), st.lists(st.sampled_from(PAGES), max_size=5))
def test_what_is_kept_from_one_page_is_right_on_every_other(found: list[str], pages: list[str]) -> None:
    extractor = LinkExtractor()
    html = "".join(f'<a href="{reference.replace(chr(34), "")}">' for reference in found)
    for page in pages:
        again = extractor.extract(html.encode(), page, "text/html; charset=utf-8").links.urls
        assert again == urls(html, page)
        assert again == [url for url, _ in slow_links(html, page)]


def test_the_menu_of_a_site_is_kept_once_for_all_of_its_directories() -> None:
    extractor = LinkExtractor()
    html = b"<a href=/data/><a href=http://example.org/about><a href=//example.org/b>"
    for page in ("http://example.org/", "http://example.org/dir/", "http://example.org/dir/deeper/x"):
        assert len(extractor.extract(html, page).links.urls) == 3
    assert extractor._resolve_in.cache_info().currsize == 3  # noqa: SLF001 - not seen otherwise


def test_what_is_kept_is_bounded() -> None:
    extractor = LinkExtractor()
    for half in (range(20_000), range(20_000, 40_000)):
        body = "".join(f"<a href=/{number}>" for number in half).encode()
        assert len(extractor.extract(body, URL).links.urls) == 20_000
    assert extractor._resolve_in.cache_info().currsize <= 1 << 15  # noqa: SLF001 - not seen otherwise
    long = LinkExtractor()
    long.extract(b"".join(b"<a href=/%d%s>" % (n, b"x" * 300) for n in range(100)), URL)
    assert long._resolve_in.cache_info().currsize == 0  # noqa: SLF001


# --- rules ------------------------------------------------------------------------------------------------


def test_links_that_the_rules_forbid_are_reported_with_the_reason() -> None:
    extractor = LinkExtractor(Rules("http://example.org/"))
    html = b"<a href=/a.csv><a href=http://other.test/><a href=/b.png><a href=/x/x/x/><a href=mailto:x>"
    page = extractor.extract(html, URL)
    assert page.links.urls == ["http://example.org/a.csv"]
    assert page.refused == [
        ("http://other.test/", Refusal.SCOPE),
        ("http://example.org/b.png", Refusal.EXTENSION),
        ("http://example.org/x/x/x/", Refusal.REPEATS),
    ]
    again = extractor.extract(html + b"<a href=/c.gif>", URL)
    assert again.links.urls == ["http://example.org/a.csv"]
    assert ("http://example.org/c.gif", Refusal.EXTENSION) in again.refused
    assert len(page.refused) == 3


# --- nofollow ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("meta", "nofollow"),
    [
        ("<meta name=robots content=nofollow>", True),
        ("<META NAME=ROBOTS CONTENT='NOINDEX, NOFOLLOW'>", True),
        ("<meta name=robots content=none>", True),
        ("<meta name=robots content=noindex><meta name=robots content=nofollow>", True),
        ("<meta name=robots content='noindex nofollow'>", True),
        ("<meta name=robots content='max-image-preview:none'>", False),
        ("<meta name=robots content=noindex>", False),
        ("<meta name=robots content='index, follow'>", False),
        ("<meta name=robots>", False),
        ("<meta name=description content=nofollow>", False),
        ("<a rel=nofollow href=x>", False),
        ("", False),
    ],
)
def test_only_the_pages_own_meta_asks_not_to_follow(meta: str, *, nofollow: bool) -> None:
    page = extract(meta + "<a href=/x>x</a>")
    assert page.nofollow is nofollow
    assert "http://example.org/x" in page.links.urls


# --- encodings --------------------------------------------------------------------------------------------


def test_paths_are_in_utf_8_and_queries_in_the_encoding_of_the_page() -> None:
    html = '<a href="/é?q=é">ж é</a>'
    assert urls(html) == ["http://example.org/%C3%A9?q=%C3%A9"]
    latin = urls('<a href="/é?q=é">'.encode("latin-1"), content_type="text/html; charset=iso-8859-1")
    assert latin == ["http://example.org/%C3%A9?q=%E9"]
    page = extract(b"<meta charset=windows-1251>" + '<a href="?q=я">я</a>'.encode("cp1251"), URL, "text/html")
    assert page.links.urls == ["http://example.org/dir/page.html?q=%FF"]
    assert page.links.link(0).anchor == "я"
    wide = urls("<a href='?q=é'>".encode("utf-16"), content_type="text/html")
    assert wide == ["http://example.org/dir/page.html?q=%C3%A9"]


# --- bytes of any kind ------------------------------------------------------------------------------------


@given(st.binary(max_size=300), st.text(max_size=30), st.text(max_size=30))
def test_nothing_makes_it_fail(body: bytes, url: str, content_type: str) -> None:
    for html in (body, b"<a href=" + body + b">", b"<a href='" + body + b"' id='" + body + b"'>x</a>"):
        for where in (url, URL):
            page = LinkExtractor(Rules("http://example.org/")).extract(html, where, content_type)
            for index in range(len(page.links.urls)):
                assert isinstance(page.links.link(index), Link)


@pytest.mark.parametrize(
    "html",
    [
        b"\x00<a\x00 href=/no>\x00<a href='/y\x00es'>\x00",
        b"",
        b"\xff\xfe",
        "<a href='/\ud800'>".encode("utf-8", "surrogatepass"),
        b"<a href=/" + b"x" * 3_000_000 + b">",
        b"<a href=/x " + b"class='" + b"c " * 1_000_000 + b"'>x</a>",
        b"<" * 100_000,
        b"<a href='" * 50_000,
        b"&#xD800;<a href='&#xD800;'>",
    ],
)
def test_odd_bytes_give_links_or_none(html: bytes) -> None:
    page = extract(html)
    for index in range(len(page.links.urls)):
        page.links.link(index)
    assert not page.truncated


# --- size -------------------------------------------------------------------------------------------------


def test_a_page_with_30_000_links_gives_them_all() -> None:
    menu = "<ul class=menu>" + "<li><a href=/about>About</a></li>" * 3 + "</ul>"
    html = menu + "".join(
        f"<tr><td><a class=d href=/data/{n}.csv>Table {n}</a></td></tr>\n" for n in range(30_000)
    )
    links = extract("<table>" + html + "</table>").links
    assert len(links.urls) == 30_003
    assert links.urls[-1] == "http://example.org/data/29999.csv"
    assert len(set(links.urls)) == 30_001
    last = links.link(30_002)
    assert last == Link(
        links.urls[-1], ("html", "body", "table", "tbody", "tr", "td", "a.d"), "Table 29999", "Table 29999"
    )


def test_the_work_on_a_page_grows_with_its_links_and_not_faster() -> None:
    def calls(rows: int) -> int:
        html = "".join(f"<tr><td><a class=d href=/data/{n}.csv>Table {n}</a></td></tr>" for n in range(rows))

        def read() -> None:
            links = extract("<table>" + html + "</table>").links
            for index in range(0, rows, 10):
                links.link(index)

        return count_calls(read)

    assert calls(16_000) < 4.4 * calls(4_000)


def test_of_50_mb_the_beginning_is_read() -> None:
    paragraph = b"<p class=text>" + b"Lorem ipsum dolor sit amet, " * 40 + b"<a href=/x/%08d>more</a></p>\n"
    body = b"".join(paragraph % number for number in range(50_000_000 // len(paragraph) + 1))
    assert len(body) > 50_000_000
    page = extract(body)
    assert page.truncated
    assert len(page.links.urls) == pytest.approx(MAX_PAGE_BYTES / len(paragraph % 0), abs=1)
    assert page.links.urls == [resolve(URL, f"/x/{n:08}") for n in range(len(page.links.urls))]
    assert not extract(body[:MAX_PAGE_BYTES]).truncated


def test_links_beyond_the_limit_are_left_out_and_the_page_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links_module, "MAX_LINKS", 3)
    page = LinkExtractor().extract(b"<a href=/1><a href=/1><a href=/2>", URL)
    assert (len(page.links.urls), page.truncated) == (3, False)
    page = LinkExtractor().extract(b"<a href=/1><a href=/1><a href=/2><a name=x><a href=/3>", URL)
    assert (page.links.urls[-1], page.truncated) == ("http://example.org/2", True)


def test_urls_are_bounded_together_those_that_the_rules_forbid_included(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(links_module, "MAX_CHARS_OF_URLS", 5_000)
    html = f'<base href="/{"x" * 900}/">'.encode() + b"<a href=a>" * 100
    page = LinkExtractor().extract(html, URL)
    assert (len(page.links.urls), page.truncated) == (6, True)
    page = LinkExtractor(Rules("http://elsewhere.test/")).extract(html, URL)
    assert len(page.refused) <= 6
    assert page.truncated


def test_texts_end_where_they_would_cost_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_text, "_MAX_TEXT_WORK", 1_000)
    found = LinkExtractor().extract(b"<p><a href=/1>one</a><p><a href=/2>two</a>", URL).links
    assert [found.link(index).anchor for index in (0, 1)] == ["one", "two"]
    assert {found.link(index).anchor for index in [0, 1] * 9} == {"one", "two", ""}
