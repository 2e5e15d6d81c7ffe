"""What `benchmarks.markup_agreement` may leave to extruct unread: only what it finds nothing on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("extruct")

from benchmarks.markup_agreement import main
from benchmarks.markup_possible import possible_syntaxes
from coati.markup.extraction import extract_statements
from coati.testing.site import Response, Site
from tests.experiments.made_sites import write_archive
from tests.web.markup_pages import PAGES

ODD = [
    '<p class="&#118;card"><b class="fn">Ann</b>',
    "<p class='x\nh-card'>Ann",
    "<p class=h-full><span class='h-x-card'>Ann",
    "<p><a REL='License' href=x>L",
    '<html xmlns:og="http://other.test/"><meta property="og:title" content="x">',
    '<html prefix="og: http://other.test/"><meta property="og:title" content="x">',
    '<head prefix="x: http://other.test/ fb: http://other.test/"><meta property="fb:title" content="x">',
    '<meta property="Product:price" content="x">',
    '<p property="&#100;c:title">x',
    '<p vocab="http://other.test/"><b property="name">x',
    '<p typeof="schema:Thing">x',
    "<div property='http://other.test/name'>x",
    "<link rel='schema.dc dc:license' href='x'>",
    "<link rev=describedby href='x'>",
    "<p ITEMSCOPE><b itemprop=name>x",
    '<?xml version="1.0" encoding="utf-8"?><p class="vcard"><b class="fn">Ann',
    "",
]


@pytest.mark.parametrize("html", [page.html for page in PAGES] + ODD)
def test_what_extruct_finds_is_possible(html: str) -> None:
    found = extract_statements(html.encode(), "https://pages.test/", "text/html; charset=utf-8")
    assert {statement.syntax for statement in found.statements} <= possible_syntaxes(html.encode())


@pytest.mark.parametrize(
    "html",
    [
        '<p class="geography hcard h-full h-screen h-12 H-card"><a rel="nofollow" role="button" href="x">x',
        '<link rel="stylesheet" href="x"><a rel="tag" href="y">y',
        "<p>itemscope vcard property typeof vocab ld+json",
    ],
)
def test_what_holds_nothing_is_not_read(html: str) -> None:
    assert possible_syntaxes(html.encode()) == set()


def test_cards_are_open_graph_alone() -> None:
    html = '<head prefix="og: http://ogp.me/ns#"><meta property="og:title" content="x">'
    assert possible_syntaxes(html.encode()) == {"opengraph"}


def test_a_comparison_continues_where_it_was_cut_off(tmp_path: Path) -> None:
    pages = {f"https://pages.test/{number}": Response.page(PAGES[number].html) for number in range(4)}
    folder = write_archive(Site("https://pages.test/0", pages), tmp_path / "site")
    record = tmp_path / "record.jsonl"
    arguments = [str(folder), "--record", str(record), "--format", "json", "--every", "1"]
    whole = CliRunner().invoke(main, arguments)
    assert whole.exit_code == 0, whole.output
    lines = record.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4
    record.write_text("\n".join([*lines[:2], lines[2][:30]]) + "\n", encoding="utf-8")
    again = CliRunner().invoke(main, arguments)
    assert len(record.read_text(encoding="utf-8").splitlines()) == 5

    def table(printed: str) -> list[dict[str, object]]:
        rows = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
        return [row for row in rows if row["benchmark"] == "Pages of the archives"]

    assert table(again.stdout) == table(whole.stdout)
    assert all(row["differ"] == 0 and row["pages"] == 4 for row in table(whole.stdout))
