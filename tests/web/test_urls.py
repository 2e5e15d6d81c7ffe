from __future__ import annotations

import ada_url
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coati.web.urls import (
    MAX_URL_CHARS,
    encode_query,
    extension_of,
    host_of,
    normalise,
    path_of,
    query_of,
    resolve,
)
from tests.web.nasty import references, urls

BASE = "http://example.org/dir/page.html?old=1"


@given(urls() | st.text())
@example("http://example.org/%2e%2e%2f..%2F")
@example("http://example.org/" + "|" * 2000)
def test_the_normal_form_is_its_own_normal_form(url: str) -> None:
    once = normalise(url)
    if once is None:
        return
    assert normalise(once) == once
    assert resolve(once, "") == once
    assert once.isascii()
    assert "#" not in once
    assert len(once) <= MAX_URL_CHARS


@given(urls(), references())
def test_what_is_resolved_is_in_normal_form(base_url: str, reference: str) -> None:
    base = normalise(base_url)
    resolved = resolve(base or BASE, reference)
    assert resolved is None or normalise(resolved) == resolved


@given(references())
def test_resolving_leads_where_the_standard_says_up_to_the_normal_form(reference: str) -> None:
    try:
        expected = ada_url.join_url(BASE, reference)
    except ValueError:
        expected = ""
    assert resolve(BASE, reference) == normalise(expected)


@given(urls())
def test_the_questions_have_answers_that_make_up_the_url(url: str) -> None:
    normal = normalise(url)
    if normal is None:
        return
    query = "?" + query_of(normal) if "?" in normal else ""
    assert normal.endswith(path_of(normal) + query)
    parts = ada_url.URL(normal)
    assert host_of(normal) == parts.hostname
    assert path_of(normal) == parts.pathname
    assert "/" not in extension_of(normal)
    assert extension_of(normal) == extension_of(normal).lower()


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("x.csv", "http://example.org/dir/x.csv"),
        ("./x", "http://example.org/dir/x"),
        ("../x", "http://example.org/x"),
        ("../../../x", "http://example.org/x"),
        ("/x/../y/.", "http://example.org/y/"),
        ("%2e%2e/x", "http://example.org/x"),
        (".%2E/x", "http://example.org/x"),
        ("%2e/x", "http://example.org/dir/x"),
        # An escaped slash is data, so the dots beside it are no segment.
        ("/a%2fb/..%2Fc", "http://example.org/a%2Fb/..%2Fc"),
        ("//other.test/x", "http://other.test/x"),
        ("\\\\other.test\\x", "http://other.test/x"),
        ("\\x\\y", "http://example.org/x/y"),
        ("http:\\\\other.test/x", "http://other.test/x"),
        ("http:x", "http://example.org/dir/x"),
        ("https:x", "https://x/"),
        ("?new=2", "http://example.org/dir/page.html?new=2"),
        ("", "http://example.org/dir/page.html?old=1"),
        ("#top", "http://example.org/dir/page.html?old=1"),
        ("x#top", "http://example.org/dir/x"),
        ("x?", "http://example.org/dir/x?"),
        (" \n x\t.c\nsv \r", "http://example.org/dir/x.csv"),
        ("\x00\x1fx", "http://example.org/dir/x"),
        ("/\u00a0x", "http://example.org/%C2%A0x"),
        ("/a b", "http://example.org/a%20b"),
        ("/%7Euser/%41", "http://example.org/~user/A"),
        ("/é", "http://example.org/%C3%A9"),
        ("/%c3%a9", "http://example.org/%C3%A9"),
        ("/%E9", "http://example.org/%E9"),
        ("/100%", "http://example.org/100%25"),
        ("/a|b[c]", "http://example.org/a%7Cb%5Bc%5D"),
        ("/x?a=%7e&b=[]|", "http://example.org/x?a=%7e&b=[]|"),
        ("http://user:pw@other.test/x", "http://other.test/x"),
        ("http://other.test:80/", "http://other.test/"),
        ("https://other.test:443", "https://other.test/"),
        ("http://other.test:8080/", "http://other.test:8080/"),
        ("HTTP://OTHER.Test/X", "http://other.test/X"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://日本.test/", "http://xn--wgv71a.test/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[::1]:80/x", "http://[::1]/x"),
    ],
)
def test_references_lead_where_a_browser_goes(reference: str, expected: str) -> None:
    assert resolve(BASE, reference) == expected


@pytest.mark.parametrize(
    "reference",
    [
        *(
            "javascript:void(0)",
            "JavaScript:x()",
            "java\nscript:x()",
            "\x01javascript:x",
            "mailto:a@example.org",
        ),
        *("tel:+1", "data:text/html,x", "ftp://example.org/x", "file:///etc/passwd", "about:blank", "blob:x"),
        *(
            "ws://example.org/",
            "http://",
            "//",
            "http:///",
            "http://[::1",
            "http://exa mple.org/",
            "http://a:99999/",
        ),
        *("http://%zz/", "http://\ud800/", "\ud800", "x" * (MAX_URL_CHARS + 1), "/" + "é" * 2000),
    ],
)
def test_what_is_not_a_url_is_none(reference: str) -> None:
    assert resolve(BASE, reference) is None


@pytest.mark.parametrize(
    "base", ["", "no address", "/relative", "mailto:x@example.org", "http://[/", "\ud800"]
)
def test_a_base_that_is_not_an_address_resolves_nothing_relative(base: str) -> None:
    assert resolve(base, "x.html") is None


@pytest.mark.parametrize(
    "text", ["", "example.org", "/x", "mailto:x@example.org", "\ud800", "\x00", "http://"]
)
def test_what_cannot_be_normalised_is_none(text: str) -> None:
    assert normalise(text) is None


@pytest.mark.parametrize(
    ("url", "extension"),
    [
        ("http://example.org/a.csv", "csv"),
        ("http://example.org/a.CSV?x=1.html", "csv"),
        ("http://example.org/a.tar.gz", "gz"),
        ("http://example.org/a.csv/", ""),
        ("http://example.org/v1.0/data", ""),
        ("http://example.org/", ""),
        ("http://example.org/.png", "png"),
        ("http://example.org/a.", ""),
        ("http://example.org/a.jfif-tbnl", "jfif-tbnl"),
        ("http://example.org/get?file=a.csv", ""),
    ],
)
def test_the_extension_is_that_of_the_last_path_segment(url: str, extension: str) -> None:
    assert extension_of(url) == extension


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://example.org/", "example.org"),
        ("http://example.org:8080/@x", "example.org"),
        ("http://[::1]:8080/", "[::1]"),
        ("http://example.org/x@y:z", "example.org"),
    ],
)
def test_the_host_is_without_port(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("reference", "codec", "expected"),
    [
        ("/é?q=é", "cp1252", "/é?q=%E9"),
        ("?q=я", "cp1251", "?q=%FF"),
        ("?q=日本", "cp932", "?q=%93%FA%96%7B"),
        ("?q=日", "cp1252", "?q=%26%2326085%3B"),
        ("/é", "cp1252", "/é"),
        ("?q=1", "cp1252", "?q=1"),
    ],
)
def test_a_query_is_written_in_the_encoding_of_its_page(reference: str, codec: str, expected: str) -> None:
    assert encode_query(reference, codec) == expected
