"""In a notebook: one bar in its place, drawn again as it goes; results that display themselves."""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import coati
from coati.budget import Budget
from coati.discovering.searching import SearchProgress
from coati.jobs.notebook import Bar, in_notebook, is_shown
from coati.jobs.notebook_tables import pairs_table
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


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


html_of = operator.methodcaller("_repr_html_")


@pytest.mark.usefixtures("in_folder")
def test_lists_are_lists_and_show_themselves_as_tables() -> None:
    with serve(site_of) as server:
        run = coati.crawl(server.url, out="run", archive="held", delay=0)
    coati.index_archives("held", "index")
    files, runs, rows = run.files(), coati.find_runs("."), run.run.query("SELECT url FROM requests LIMIT 2")
    assert (files, runs, rows) == ([*files], [*runs], [*rows])
    assert "<strong>5 files in run/files</strong><table>" in html_of(files)
    assert ">found on</th>" in html_of(files)
    assert "<strong>1 run below .</strong><table>" in html_of(runs)
    assert "<strong>2 rows</strong><table>" in html_of(rows)
    for choices in (coati.list_strategies(), coati.list_types(), coati.list_engines()):
        assert isinstance(choices, list)
        assert "<table>" in html_of(choices)
    hits = coati.SearchIndex("index").search("data")
    assert hits.hits[0].url in html_of(hits)
    assert "lower quartile" in html_of(coati.replay("held", "random", seeds=4).spread("random", "requests"))


@pytest.mark.usefixtures("in_folder")
def test_a_long_result_has_one_line_in_a_terminal() -> None:
    with serve(site_of) as server:
        run = coati.crawl(server.url, out="run", archive="held", delay=0)
        results: list[object] = [
            coati.preview(server.url, out="other", delay=0),
            coati.inspect(server.url, delay=0),
        ]
    results += [run.summary, run.run.details(), run.files()[0], run.run.explain("/0.csv")]
    results += [coati.describe_archive("held"), coati.sample(run, 2, guess=False)]
    for result in results:
        assert repr(result).startswith(f"<{type(result).__name__} ") or "RunDetails" in repr(result)
        assert len(repr(result)) < 120
        assert "\n" not in repr(result)


@pytest.mark.usefixtures("in_folder")
def test_a_summary_says_how_and_why_and_links_to_the_report() -> None:
    with serve(site_of) as server:
        run = coati.crawl(server.url, out="run", delay=0, strategy="bfs")
    for shown in (run.run._repr_html_(), run.summary._repr_html_()):
        assert '<td style="text-align: left">bfs</td>' in shown
        assert "nothing was left to request" in shown
        assert '<a href="run/report.html">run/report.html</a>' in shown
    assert '<a href="run/report.html">' in run._repr_html_()
    assert coati.verify("run")._repr_html_() == "<p>1 file in run, none is damaged</p>"


@pytest.mark.usefixtures("in_folder")
def test_advice_in_a_notebook_is_for_its_calls() -> None:
    with serve(site_of) as server:
        run = coati.crawl(server.url, out="run", delay=0, max_requests=2)
    assert "To continue, make the same call with a larger max_requests." in run._repr_html_()
    assert "--max-requests" in run.next_step
    with pytest.raises(coati.CoatiError, match="give a start URL, or the folder of a run to resume"):
        coati.crawl()


def test_a_page_that_a_notebook_cannot_open_is_no_link(tmp_path: Path) -> None:
    assert "<a " not in pairs_table("A run", [("report", tmp_path / "report.html")])
