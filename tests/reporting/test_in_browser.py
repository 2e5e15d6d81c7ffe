"""The report in a real browser: it shows, asks nobody for anything, and stays dead where it must."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.image import imread

from coati.reporting import write_report
from coati.testing import Response, Site, sample_site
from tests.reporting.browser import dom_of, picture_of
from tests.reporting.made_runs import MadeRun, fill_run

pytestmark = pytest.mark.browser

DARK = "--blink-settings=preferredColorScheme=0"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = MadeRun(tmp_path_factory.mktemp("runs") / "run", sample_site())
    run.steps(120)
    return write_report(run.finish("the limit of requests was reached"))


def test_it_shows_what_was_found_and_asks_nobody(report: Path) -> None:
    shown = dom_of(report)
    assert shown.wanted == []
    assert "files from quillmark.test" in shown.printed
    assert "90 % after" in shown.printed
    # Our own script is allowed to run: it makes the columns sortable.
    assert '<button type="button">Size</button>' in shown.printed


def listed(page: str) -> list[str]:
    """Return the names of the files that the list shows."""
    (table,) = re.findall(r'<table[^>]* class="files">(.*?)</table>', page, flags=re.DOTALL)
    return re.findall(r'<a class="file" href="files/([^"]*)"', table)


def test_a_file_is_named_once(report: Path) -> None:
    source = report.read_text(encoding="utf-8")
    # With scripts the browser writes the list, without them the report has it.
    for page in (dom_of(report).printed, source.partition('id="file-list"')[0]):
        (table,) = re.findall(r'<table[^>]* class="files">(.*?)</table>', page, flags=re.DOTALL)
        named = [row for row in table.replace("<wbr>", "").split("<tr") if ".csv)</a>" in row]
        assert named
        assert not [row for row in named if ".csv · " in row]


def test_the_list_of_ten_thousand_files_can_be_searched_and_filtered(tmp_path: Path) -> None:
    report = write_report(fill_run(tmp_path / "run", requests=36_000))
    first = dom_of(report).printed
    assert listed(first) == [f"{3 * number}.csv" for number in range(50)]
    assert "10,000 of 10,000 files, 10.0 MB" in first
    assert "Show 50 more of 9,950" in first
    found = dom_of(report, query="?find=29997&type=CSV").printed
    assert listed(found) == ["29997.csv"]
    assert "1 of 10,000 files" in found
    assert "Show 50 more" not in found


# Writes into the page what only a browser can tell: what is too wide, blank, cut, or broken within a word.
MEASURE = """
const boxes = [...document.querySelectorAll(".scroll")];
const wide = Math.max(
  document.documentElement.scrollWidth - innerWidth, ...boxes.map((box) => box.scrollWidth - box.clientWidth)
);
const seen = (node) => node.getClientRects().length > 0;
const blank = [...document.querySelectorAll("td")].filter((td) => seen(td) && !td.textContent.trim()).length;
const broken = [];
let words = 0;
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let text; (text = texts.nextNode()); ) {
  if (text.parentElement.closest("svg, script, option")) continue;
  for (const word of text.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
    words += 1;
    const range = document.createRange();
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
    if (lines.size > 1) broken.push(word[0]);
  }
}
const cut = [...document.querySelectorAll("svg.chart text")].filter((text) => {
  const { x, width } = text.getBBox();
  return x < 0 || x + width > text.ownerSVGElement.viewBox.baseVal.width;
}).map((text) => text.textContent);
document.body.append(`MEASURED ${JSON.stringify({ wide, blank, broken, cut, words })} END`);
"""


def measured(report: Path, width: int, into: Path) -> dict[str, Any]:
    """Measure the report in a window of this width."""
    source = re.sub(
        r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", report.read_text(encoding="utf-8")
    )
    page = into / "report.html"
    page.write_text(source.replace("</body>", f"<script>{MEASURE}</script></body>"), encoding="utf-8")
    printed = dom_of(page, f"--window-size={width},900").printed
    found: dict[str, Any] = json.loads(printed.rpartition("MEASURED ")[2].partition(" END")[0])
    return found


@pytest.mark.parametrize("width", [500, 1200])
def test_a_long_name_pushes_no_column_out_of_sight(tmp_path: Path, width: int) -> None:
    start = "http://a.test/"
    folder, name = "f" * 150, "x" * 150
    pages = {
        start: Response.page(f"<a href=/{folder}>A page</a>"),
        start + folder: Response.page(f"<a href=/{name}.csv>{name}</a>"),
        f"{start}{name}.csv": Response.file("text/csv", b"1\n"),
    }
    run = MadeRun(tmp_path / "run", Site(start, pages), "bfs")
    run.steps()
    assert measured(write_report(run.finish()), width, tmp_path)["wide"] == 0


def test_on_a_large_screen_no_word_is_broken(report: Path, tmp_path: Path) -> None:
    assert measured(report, 1200, tmp_path)["broken"] == []


def test_on_a_phone_no_column_is_blank_and_no_word_broken_or_cut(report: Path, tmp_path: Path) -> None:
    found = measured(report, 500, tmp_path)
    assert found.pop("words") > 300
    assert found == {"wide": 0, "blank": 0, "broken": [], "cut": []}


def test_a_page_that_asks_for_something_would_be_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><img src=http://pictures.test/a.png>", encoding="utf-8")
    assert dom_of(page).wanted == ["http://pictures.test/a.png"]


@pytest.mark.parametrize(
    ("flags", "width", "bright"),
    [((), 1200, True), ((DARK,), 1200, False), ((), 420, True)],
    ids=["light", "dark", "narrow"],
)
def test_it_can_be_seen(
    report: Path, tmp_path: Path, flags: tuple[str, ...], width: int, *, bright: bool
) -> None:
    picture = imread(picture_of(report, tmp_path / "report.png", width, 1400, *flags))
    grey = picture[:, :, :3].mean(axis=2)
    assert grey.shape[0] == 1400
    # Most of a page is background; text and charts stand out from it all over.
    assert (grey.mean() > 0.5) == bright
    parts = [grey[top : top + 350] for top in range(0, 1400, 350)]
    assert all(part.std() > 0.02 for part in parts)


def test_what_a_site_wrote_does_not_run(tmp_path: Path) -> None:
    attack = "<img src=x onerror=document.documentElement.dataset.hacked=1>"
    escaped = attack.replace("<", "&lt;")
    site = Site(
        "http://a.test/",
        {
            "http://a.test/": Response.page(f"<a href='/a.csv'>{escaped}</a><a href='/b'>{escaped}</a>"),
            "http://a.test/a.csv": Response.file("text/csv", b"1\n", name=attack.replace('"', "")),
        },
    )
    run = MadeRun(tmp_path / "run", site)
    run.steps()
    shown = dom_of(write_report(run.finish()))
    assert shown.wanted == []
    assert "data-hacked" not in shown.printed
    assert "1 file from a.test" in shown.printed
