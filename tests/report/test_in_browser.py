"""The report in a real browser: it shows, asks nobody for anything, and stays dead where it must."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.image import imread

from coati.report import write_report
from coati.testing import Response, Site, sample_site
from tests.report.browser import dom_of, picture_of
from tests.report.made_runs import MadeRun

pytestmark = pytest.mark.browser

DARK = "--blink-settings=preferredColorScheme=0"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = MadeRun(tmp_path_factory.mktemp("runs") / "run", sample_site())
    run.steps(120)
    return write_report(run.finish("budget of requests reached"))


def test_it_shows_what_was_found_and_asks_nobody(report: Path) -> None:
    shown = dom_of(report)
    assert shown.wanted == []
    assert "files from quillmark.test" in shown.printed
    assert "90 % after" in shown.printed
    # Our own script is allowed to run: it makes the columns sortable.
    assert '<button type="button">Size</button>' in shown.printed


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
