"""In a notebook: one bar in its place, drawn again as it goes; results that display themselves."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import coati
from coati.budget import Budget
from coati.discovering.searching import SearchProgress
from coati.jobs.notebook import Bar, in_notebook, is_shown
from coati.jobs.search_progress import SearchView, search_progress_shown
from coati.testing import Response, Site, serve


class ZMQInteractiveShell:
    """What notebooks run; they are known by its name."""


class Display:
    """Stands in for IPython's: keeps what a cell would show."""

    def __init__(self) -> None:
        self.shown: list[Bar] = []

    def display(self, bar: Bar, *, display_id: bool) -> Display:
        assert display_id
        self.shown.append(bar)
        return self

    def update(self, bar: Bar) -> None:
        self.shown.append(bar)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Display:
    shell, made = ZMQInteractiveShell(), Display()
    package, module = ModuleType("IPython"), ModuleType("IPython.display")
    module.display = made.display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr(builtins, "get_ipython", lambda: shell, raising=False)
    return made


def site_of(base: str) -> Site:
    links = "".join(f"<a href=/{number}.csv>data</a>" for number in range(5))
    files = {f"{base}/{number}.csv": Response.file("text/csv", b"a\n1\n") for number in range(5)}
    return Site(f"{base}/", {f"{base}/": Response.page(links), **files})


@pytest.mark.usefixtures("notebook")
def test_a_notebook_is_known_and_wants_progress() -> None:
    assert in_notebook()
    assert is_shown(None)
    assert not is_shown(show_progress=False)


def test_elsewhere_nothing_is_shown_unless_asked_for() -> None:
    assert not is_shown(None)
    assert is_shown(show_progress=True)


def test_a_crawl_draws_one_bar_and_leaves_a_table(
    notebook: Display, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path_factory.mktemp("crawl") / "run"
    with serve(site_of) as server:
        run = coati.crawl(server.url, out=out, delay=0, max_requests=4)
    first, *drawn, last = notebook.shown
    assert (first.line, last.line) == ("Starting …", "")
    assert drawn[-1].share == 1.0
    assert "4 requests" in drawn[-1].line
    assert '<progress max="1" value="1.00"></progress> 4 requests' in drawn[-1]._repr_html_()
    assert repr(drawn[-1]) == drawn[-1].line
    assert "<table>" in run._repr_html_()
    assert capsys.readouterr() == ("", "")


def test_a_search_draws_one_too(notebook: Display) -> None:
    with search_progress_shown(SearchView(Budget(max_requests=10)), quiet=False) as tell:
        tell(SearchProgress(coati.Progress(requests=5), 3, 2, 1))
    bar = notebook.shown[1]
    assert (bar.share, bar.line) == (
        0.5,
        "5 of 10 requests: 3 pages analysed, 2 sites checked, 1 repository verified",
    )


def test_jobs_without_requests_draw_bars_too(notebook: Display, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text("<a href=a.csv>data</a>")
    (folder / "a.csv").write_text("a,b\n1,2\n")
    told: list[tuple[int, int]] = []
    archive, run = tmp_path / "held", tmp_path / "run"
    experiment = tmp_path / "small.toml"
    experiment.write_text(
        'table = "small"\ntitle = "Small"\nmeasures = ["auc"]\nseeds = 1\n'
        'strategies = ["bfs"]\nsites = ["held"]\n'
    )
    with serve(site_of) as server:
        coati.crawl(server.url, out=run, delay=0, show_progress=False)
    jobs: dict[str, Callable[[], object]] = {
        "Importing site: 2 of 2": lambda: coati.import_archive(folder, archive, start_url="http://a.test/"),
        "Reading links: 2 of 2": lambda: coati.describe_archive(archive),
        "Verifying: 3 of 3": lambda: coati.verify_archive(archive),
        "Exporting: 3 of 3": lambda: coati.export_archive(archive, tmp_path / "a.wacz", "wacz"),
        "Merging: 1 of 1": lambda: coati.merge(run, tmp_path / "all.sqlite"),
        "Verifying: 1 of 1": lambda: coati.verify(run, on_progress=lambda *how: told.append(how)),
        "Looking into files: 5 of 5": lambda: coati.sample(run),
        "1 pages indexed": lambda: coati.index_archives(archive, tmp_path / "index"),
        "runs: 3 of 3": lambda: coati.experiment(
            experiment, archives=tmp_path, out=tmp_path / "out", jobs=0, parquet=False
        ),
    }
    for line, job in jobs.items():
        notebook.shown.clear()
        job()
        assert line in [bar.line for bar in notebook.shown]
        assert (notebook.shown[0].line, notebook.shown[-1].line) == ("Starting …", "")
    assert told == [(1, 1)]


def test_who_wants_none_gets_none(notebook: Display, tmp_path_factory: pytest.TempPathFactory) -> None:
    with serve(site_of) as server:
        coati.crawl(server.url, out=tmp_path_factory.mktemp("x") / "run", delay=0, show_progress=False)
    assert notebook.shown == []


def test_what_pages_say_stays_text() -> None:
    assert Bar("<b>x</b>")._repr_html_() == "&lt;b&gt;x&lt;/b&gt;"
