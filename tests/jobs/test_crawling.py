"""A crawl as a function: what it returns, whom it tells, how it is stopped and resumed."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import coati
from coati.errors import UsageError
from coati.jobs.crawling import crawl_place
from coati.testing import Response, Site, serve

PAGES = 12
FILES = {f"/d{number}.csv": b"a,b\n%d,2\n" % number for number in range(PAGES)}


def site_of(base: str) -> Site:
    links = "".join(f"<p><a href=/p{number}>page</a>" for number in range(PAGES))
    pages = {f"{base}/p{n}": Response.page(f"<a href=/d{n}.csv>data</a>") for n in range(PAGES)}
    files = {base + path: Response.file("text/csv", body) for path, body in FILES.items()}
    return Site(f"{base}/", {f"{base}/": Response.page(links), **pages, **files})


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.chdir(tmp_path)
    with serve(site_of) as server:
        yield server.url


def test_it_returns_what_was_found_and_tells_how_it_went(start: str) -> None:
    told: list[coati.Progress] = []
    events: list[coati.Event] = []
    run = coati.crawl(start, out="run", delay=0, on_progress=told.append, on_event=events.append)
    assert (run.stop, run.exit_code, run.resumed) == (coati.StopReason.FINISHED, 0, False)
    assert (run.summary.targets, told[-1].targets) == (PAGES, PAGES)
    assert {file.path.read_bytes() for file in run.files()} == set(FILES.values())
    assert coati.EventKind.OBSERVED in {event.what for event in events}
    assert run.report == Path("run/report.html")
    assert json.loads(json.dumps(run.as_json()))["targets"] == PAGES
    assert "12" in run._repr_html_()
    assert repr(run) == "<CrawlRun 'run': 12 targets from 25 requests; nothing was left to request>"


def test_the_same_folder_resumes(start: str) -> None:
    first = coati.crawl(start, out=Path("run"), delay="0s", max_requests=5)
    assert first.stop is coati.StopReason.BUDGET_REQUESTS
    second = coati.crawl("run", max_requests=None)
    assert (second.resumed, second.stop) == (True, coati.StopReason.FINISHED)
    assert (second.summary.sessions, second.summary.targets) == (2, PAGES)


def test_a_signal_from_outside_stops_it_and_all_is_saved(start: str) -> None:
    stop = coati.StopSignal()

    def third(event: coati.Event) -> None:
        if event.what is coati.EventKind.OBSERVED and event.data["id"] == 3:
            stop.set()

    run = coati.crawl(start, out="run", delay=0, stop=stop, on_event=third)
    assert run.stop is coati.StopReason.INTERRUPTED
    assert 0 < run.summary.requests < PAGES
    assert coati.crawl("run").summary.targets == PAGES


def test_it_works_where_a_loop_runs_already_as_in_a_notebook(start: str) -> None:
    async def cell() -> coati.CrawlRun:
        return coati.crawl(start, out="run", delay=0)

    assert asyncio.run(cell()).summary.targets == PAGES


def test_an_inspection_and_a_repair_work_there_too(start: str) -> None:
    coati.crawl(start, out="run", delay=0)
    damaged = coati.open_run("run").files()[0].path
    whole = damaged.read_bytes()
    damaged.write_bytes(b"")

    async def cell() -> tuple[coati.Inspection, coati.Verification]:
        found = coati.inspect(start, delay=0, limits={"allow_private": True})
        return found, coati.verify("run", repair=True)

    found, verified = asyncio.run(cell())
    assert (found.links, found.exit_code) == (PAGES, 0)
    assert f"coati.crawl(&quot;{start}&quot;)" in found._repr_html_()
    assert (verified.whole, damaged.read_bytes()) == (True, whole)


def test_an_inspection_that_failed_says_so(start: str) -> None:
    found = coati.inspect(f"{start}nowhere", delay=0, limits={"allow_private": True})
    assert "could not be inspected" in found._repr_html_()
    assert "software" not in found._repr_html_()


def test_an_unknown_setting_and_a_wrong_value_are_told(start: str) -> None:
    with pytest.raises(coati.CoatiError, match="max_request"):
        coati.crawl(start, max_request=3)  # type: ignore[call-arg]
    with pytest.raises(coati.CoatiError, match="max_time"):
        coati.crawl(start, max_time="soon")


def test_a_dry_run_is_a_preview_and_crawls_nothing(start: str) -> None:
    # Not an option by type; a user of the command line tries it.
    with pytest.raises(coati.CoatiError, match=r"coati\.preview"):
        coati.crawl(start, out="run", delay=0, dry_run=True)  # type: ignore[call-arg]
    assert not Path("run").exists()


def test_a_callback_that_always_raises_ends_the_crawl_with_its_error_alone(
    start: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(event: coati.Event) -> None:
        raise LookupError(event.what)

    with pytest.raises(LookupError):
        coati.crawl(start, out="run", delay=0, on_event=fail)
    # The event loop logs what was raised a second time.
    assert not [record for record in caplog.records if record.name == "asyncio"]


def test_a_preview_writes_nothing(start: str, tmp_path: Path) -> None:
    found = coati.preview(start)
    assert isinstance(found, coati.Preview)
    assert (found.links, found.admitted, found.exit_code) == (PAGES, PAGES, 0)
    assert list(tmp_path.iterdir()) == []
    assert "would be crawled" in found._repr_html_()


def test_a_run_is_opened_asked_explained_and_verified(start: str) -> None:
    coati.crawl(start, out="runs/one", delay=0)
    run = coati.open_run("runs/one")
    assert run.query("SELECT count(*) AS n FROM targets") == [{"n": PAGES}]
    with pytest.raises(coati.CoatiError, match="no such column: missing_column"):
        run.query("SELECT missing_column FROM targets")
    assert run.settings["urls"] == [start]
    assert run.explain("/d1.csv").verdict.value == "target"
    assert coati.explain("/d1.csv", "runs/one") == run.explain("/d1.csv")
    assert coati.report("runs/one") == run.report()
    run.files()[0].path.unlink()
    told: list[tuple[int, int]] = []
    broken = run.verify(on_progress=lambda done, total: told.append((done, total)))
    assert (broken.whole, len(broken.damaged), told[-1]) == (False, 1, (PAGES, PAGES))
    assert coati.verify("runs/one", repair=True).whole
    assert [found.folder for found in coati.find_runs("runs")] == ["runs/one"]
    assert all("<table>" in each._repr_html_() for each in (run, broken, run.summary))
    shown = run.explain("/d1.csv")._repr_html_()
    assert "d1.csv" in shown
    # As the command says it: where it was found, when it was chosen, by which score and with what result.
    for name in ("found on", "chosen", "by", "response", "score then", "file"):
        assert f"<tr><th>{name}</th><td>" in shown
    assert str(run.explain("/d1.csv")).endswith(
        "/d1.csv: target. It was fetched and is a file of the wanted types."
    )


def test_a_run_is_no_archive_and_a_report_needs_a_folder(start: str) -> None:
    coati.crawl(start, out="run", delay=0)
    with pytest.raises(coati.CoatiError, match=r"run is the folder of a run.*--archive.*run/warc"):
        coati.import_archive("run", "held")
    assert not Path("held").exists()
    assert coati.import_archive("run/warc", "held").layout == "warc"
    with pytest.raises(coati.CoatiError, match="there is no folder other to write the report to"):
        coati.report("run", "other/report.html")
    assert coati.report("run", "report.html") == Path("report.html")


def test_code_that_changed_since_it_was_imported_crawls_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "crawls_mine.py"
    code = "from coati.strategies.baselines import {0}\nbuild = lambda urls, seed: {0}(urls)\n"
    file.write_text(code.format("breadth_first"))
    url, out = "http://127.0.0.1:9/", str(tmp_path / "out")
    place = crawl_place(url, strategy="crawls_mine:build", out=out)
    assert place.settings.strategy == "crawls_mine:build"
    file.write_text(code.format("depth_first"))
    with pytest.raises(UsageError, match=r"crawls_mine\.py has changed since Python imported it"):
        crawl_place(url, strategy="crawls_mine:build", out=out)
    assert crawl_place(url, strategy="bfs", out=out).settings.strategy == "bfs"
    monkeypatch.delitem(sys.modules, "crawls_mine")
