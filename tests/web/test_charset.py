from __future__ import annotations

import codecs
import encodings
import pkgutil
from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.web.charset import decode_page
from tests.counted_calls import count_calls

CAFE = "café – 日本"


def meta(label: str) -> str:
    return f"<!doctype html><meta charset={label}>"


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        # Nothing is declared: UTF-8 where it can be read as such, else what most old pages are in.
        ("é".encode(), "text/html", "é"),
        (b"caf\xe9", "text/html", "café"),
        (b"caf\xe9 \x80", "", "café €"),
        # The header.
        (b"caf\xe9", "text/html; charset=ISO-8859-1", "café"),
        (b"\x80", "text/html; charset=iso-8859-1", "€"),
        (b"\x80", "text/html; charset=us-ascii", "€"),
        ("я".encode("cp1251"), 'text/html; charset="windows-1251"', "я"),
        ("я".encode("koi8-r"), "text/html;charset = 'koi8-r' ; x=y", "я"),
        ("日".encode("cp932"), "text/html; charset=Shift_JIS", "日"),
        ("汉".encode("gb18030"), "text/html; charset=gb2312", "汉"),
        ("가".encode("cp949"), "text/html; charset=ks_c_5601-1987", "가"),
        ("é".encode("utf-16-le"), "text/html; charset=utf-16", "é"),
        ("é".encode("utf-16-be"), "text/html; charset=utf-16be", "é"),
        ("é".encode(), "text/html; xcharset=koi8-r", "é"),
        (b"caf\xe9", "text/html; charset=x-user-defined", "café"),
        # A byte-order mark wins over everything.
        (codecs.BOM_UTF8 + "é".encode(), "text/html; charset=latin1", "é"),
        (codecs.BOM_UTF16_LE + "é".encode("utf-16-le"), "text/html; charset=utf-8", "é"),
        (codecs.BOM_UTF16_BE + "é".encode("utf-16-be"), "text/html", "é"),
        # Damage is replaced, never raised.
        (b"a\xffb", "text/html; charset=utf-8", "a\ufffdb"),
        (b"a\x00b\x00c", "text/html; charset=utf-16le", "ab\ufffd"),
        (b"", "text/html; charset=utf-8", ""),
        # The end of a page that was cut off is not a reason to read it as something else.
        ("日本".encode()[:-1], "text/html", "日"),
    ],
)
def test_the_encoding_is_the_one_that_a_browser_takes(body: bytes, content_type: str, text: str) -> None:
    assert decode_page(body, content_type).text == text


@pytest.mark.parametrize(
    ("head", "codec"),
    [
        (b"<meta charset=koi8-r>", "koi8-r"),
        (b"<META CHARSET='KOI8-R'/>", "koi8-r"),
        (b'<meta name=x content=">"><meta charset="koi8-r">', "koi8-r"),
        (b"<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>", "koi8-r"),
        (b'<meta content="text/html; charset=koi8-r" http-equiv="content-type">', "koi8-r"),
        (b"x" * 9000 + b"<meta charset=koi8-r>", "koi8-r"),
        (b"<meta charset=nonsense><meta charset=koi8-r>", "koi8-r"),
        (b"<meta charset=koi8-r><meta charset=cp1251>", "koi8-r"),
        # Whoever could read this far does not read UTF-16.
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=x-user-defined>", "cp1252"),
        # These declare nothing.
        (b"<!-- <meta charset=koi8-r> -->", "utf-8"),
        (b"<meta name=description content='charset=koi8-r'>", "utf-8"),
        (b"<metadata charset=koi8-r>", "utf-8"),
        (b"<script charset=koi8-r>", "utf-8"),
        (b"<meta name=a>charset=koi8-r", "utf-8"),
        (b"<meta charset=>", "utf-8"),
        (b"<meta charset", "utf-8"),
        (b"x" * 20_000 + b"<meta charset=koi8-r>", "utf-8"),
    ],
)
def test_a_declaration_in_the_page_counts_where_the_header_has_none(head: bytes, codec: str) -> None:
    assert decode_page(head, "text/html").codec == codec
    assert decode_page(head, "text/html; charset=cp1253").codec == "cp1253"
    assert decode_page(head, "text/html; charset=nonsense").codec == codec


def test_no_label_makes_it_fail_or_reads_what_no_browser_reads() -> None:
    body = bytes(range(256)) + b"+AGEAYQ-\\ud800 &#1;" + b"<p>"
    names = {
        *aliases,
        *aliases.values(),
        *(module.name for module in pkgutil.iter_modules(encodings.__path__)),
    }
    assert {"undefined", "idna", "unicode_escape", "utf_7", "zlib_codec", "rot_13", "utf_32"} <= names
    for name in names:
        text = decode_page(body, f"text/html; charset={name}").text
        text.encode()
        assert "\ud800" not in text
    for name in (
        "undefined",
        "idna",
        "punycode",
        "unicode_escape",
        "utf-7",
        "zlib",
        "rot13",
        "utf-32",
        "hex",
    ):
        assert decode_page(b"+AGE-", f"text/html; charset={name}").text == "+AGE-"


@given(st.binary(max_size=200), st.text(max_size=40))
def test_nothing_makes_it_fail(body: bytes, label: str) -> None:
    for text in (
        decode_page(body, f"text/html; charset={label}").text,
        decode_page(b"<meta charset=" + label.encode("utf-8", "replace") + b">" + body).text,
    ):
        text.encode()


@given(st.sampled_from(["utf-8", "utf-16le", "utf-16be", "gb18030"]), st.text())
def test_text_comes_back_from_the_encodings_that_have_all_of_it(label: str, text: str) -> None:
    clean = text.encode("utf-8", "replace").decode().lstrip("\ufeff")
    body = clean.encode({"utf-16le": "utf-16-le", "utf-16be": "utf-16-be"}.get(label, label))
    if not body.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        assert decode_page(body, f"text/html; charset={label}").text == clean


def test_only_the_first_declarations_of_a_page_are_read() -> None:
    def calls(declarations: int) -> int:
        body = b"<meta charset=x " * declarations + b"charset=" * declarations
        assert decode_page(body).codec == "utf-8"
        return count_calls(lambda: decode_page(body))

    assert calls(4000) == calls(2000)
