"""What the cheap detector of structured data says of pages, and that extruct says the same."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from coati.markup.extraction import extract_statements
from coati.web.markup.detector import SYNTAXES, has_signs, markup_of
from coati.web.markup.json_ld import MAX_SCRIPT_CHARS
from tests.web.markup_pages import HARD_PAGES, PAGES, MarkedPage


def statements(html: str | bytes) -> object:
    return markup_of(html if isinstance(html, bytes) else html.encode(), "text/html")["statements"]


@pytest.mark.parametrize("page", [*PAGES, *HARD_PAGES], ids=lambda page: page.name)
def test_statements_and_types_are_counted(page: MarkedPage) -> None:
    label = markup_of(page.html.encode(), "text/html; charset=utf-8")
    assert label["statements"] == dict(page.statements)
    assert label["types"] == list(page.types)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_extruct_counts_the_same(page: MarkedPage) -> None:
    full = extract_statements(page.html.encode(), "https://page.test/", "text/html; charset=utf-8")
    assert Counter(statement.syntax for statement in full.statements) == dict(page.statements)


@pytest.mark.parametrize("page", [*PAGES, *HARD_PAGES], ids=lambda page: page.name)
def test_what_a_page_holds_shows_in_its_bytes(page: MarkedPage) -> None:
    assert has_signs(page.html.encode()) >= page.statements.keys()


def test_a_script_that_cannot_be_read_is_reported() -> None:
    assert [markup_of(page.html.encode())["broken"] for page in HARD_PAGES] == [1, 0, 1]


def test_a_script_of_ten_megabytes_is_judged_by_its_beginning() -> None:
    items = [{"@type": "Product", "name": f"number {number}"} for number in range(220_000)]
    script = json.dumps({"@context": "https://schema.org", "@graph": items})
    assert len(script) > 10_000_000
    label = markup_of(f'<script type="application/ld+json">{script}</script>'.encode())
    assert label["types"] == ["Product"]
    found = label["statements"]
    assert isinstance(found, dict)
    assert 5 < found["json-ld"] <= MAX_SCRIPT_CHARS


@pytest.mark.parametrize("opening", ['{"a":', "["])
def test_deep_nesting_harms_nobody(opening: str) -> None:
    page = f'<script type="application/ld+json">{opening * 100_000}</script><p itemscope itemtype="a:b">'
    label = markup_of(page.encode())
    assert label["broken"] == 1
    assert label["statements"] == {"microdata": 1}


def test_a_deep_script_that_can_be_read_is_counted() -> None:
    script = '{"name":' * 300 + '"x"' + "}" * 300
    assert statements(f'<script type="application/ld+json">{script}</script>') == {"json-ld": 300}


def test_a_heavy_page_is_counted_as_well() -> None:
    item = '<div itemscope itemtype="http://schema.org/Thing"><b itemprop="name">x</b></div>'
    script = '<script type="application/ld+json">{"@type": "Thing"}</script>'
    page = script + item * 3 + "<p><i></i>" * 20_000
    assert statements(page) == {"microdata": 6, "json-ld": 1}


def test_nested_items_without_end_are_bounded() -> None:
    page = '<div itemscope itemprop="x">' * 5_000 + "x"
    found = statements(page)
    assert isinstance(found, dict)
    assert 500 < found["microdata"] < 5_000


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe\x00ld+json", b'<script type="application/ld+json">\x00{', b"<" * 1000]
)
def test_no_bytes_raise(body: bytes) -> None:
    markup_of(body + b" itemscope property= vcard", "text/html; charset=nonsense")


def test_a_context_is_a_name_and_no_address_to_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("somebody asked the network")

    monkeypatch.setattr("socket.socket.connect", refuse)
    script = json.dumps({"@context": "https://contexts.test/own.jsonld", "@type": "Thing", "name": "x"})
    page = f'<script type="application/ld+json">{script}</script>'.encode()
    assert markup_of(page) == {"statements": {"json-ld": 2}, "types": [], "broken": 0}
    full = extract_statements(page, "https://page.test/")
    assert [statement.predicate for statement in full.statements][
        1
    ] == "https://contexts.test/own.jsonld#name"
    assert not full.failed


def test_syntaxes_without_a_statement_are_left_out() -> None:
    label = markup_of(b'<p itemscope itemtype="a:b" property="og:x">')
    assert label["statements"] == {"microdata": 1}
    assert set(SYNTAXES) >= {"microdata"}
