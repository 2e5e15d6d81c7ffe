"""The report of runs of every kind: what it says, that it fits on a page, and that it stays quick."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from coati.budget import Limit
from coati.cli.main import run
from coati.model import Failure, Method, Outcome, Refused, Request
from coati.reporting import write_report
from coati.reporting.curve import MAX_POINTS
from coati.reporting.sections.files import MAX_FILES, MAX_ROWS
from coati.reporting.skip_meanings import MEANINGS
from coati.runs import REASONS, NoRunError, RunReader
from coati.runs.fetched import Fetched
from coati.stop_reasons import StopReason
from coati.testing import Response, Site, sample_site
from tests.counted_calls import count_calls
from tests.reporting.made_runs import MadeRun, fill_run

VOID = {"meta", "br", "hr", "wbr"}


class Checked(HTMLParser):
    """Reads a page strictly: every element is closed in order; keeps links, text and scripts."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self._open.append(tag)
        self.elements.append((tag, dict(attrs)))
        if tag == "a":
            self.links.append(dict(attrs).get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] not in (["script"], ["style"]):
            self.text += data + " "


def file_list(source: str) -> dict[str, Any]:
    (block,) = re.findall(r'<script id="file-list" type="application/json">([^<]*)</script>', source)
    held: dict[str, Any] = json.loads(block)
    return held


def read(folder: Path) -> Checked:
    return Checked(write_report(folder).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = MadeRun(tmp_path_factory.mktemp("runs") / "sample", sample_site())
    run.steps(150)
    return run.finish("the limit of requests was reached")


def test_it_says_what_was_found_for_how_much_and_why_it_stopped(sample_run: Path) -> None:
    page = read(sample_run)
    with RunReader(sample_run) as run:
        totals = run.totals()
    assert f"{totals.targets} files from quillmark.test" in page.text
    assert f"in {totals.requests} requests" in page.text
    assert "1 March 2026, 09:05 UTC" in page.text
    assert "reached the limit of requests" in page.text
    assert "larger --max-requests" in page.text


def test_a_url_that_was_refused_counts_as_requested_once_it_was(tmp_path: Path) -> None:
    """A host that fails is given up, and asked again by --retry-failed."""
    links = "".join(f"<a href=/{number}.csv>x</a>" for number in range(4))
    start = "http://a.test/"
    run = MadeRun(tmp_path / "run", Site(start, {start: Response.page(links)}), "bfs")
    run.steps(1)
    outcomes: dict[str, list[Outcome]] = {
        "0.csv": [Refused("robots.txt"), Refused("robots.txt")],
        "1.csv": [Refused("host keeps failing"), Failure(500, 0, "status 500")],
        "2.csv": [Refused("robots.txt")],
    }
    number = 100
    for name, all_that_came in outcomes.items():
        for outcome in all_that_came:
            number += 1
            request = Request(number, Method.GET, start + name)
            run.store.chosen(request, run.now)
            run.store.record(Fetched(request, outcome, run.now, run.now))
    assert "2 of 5 URLs" in read(run.finish()).text


def test_it_marks_where_nine_tenths_were_in(sample_run: Path) -> None:
    page = read(sample_run)
    with RunReader(sample_run) as run:
        total = run.totals().targets
        wanted = next(point.requests for point in run.curve() if point.targets >= 0.9 * total)
    assert f"90 % after {wanted} requests" in page.text


def test_it_lists_every_file_with_its_source(sample_run: Path) -> None:
    page = read(sample_run)
    with RunReader(sample_run) as run:
        rows = run.connection.execute("SELECT file, url, found_on FROM targets").fetchall()
    assert rows
    for row in rows:
        assert f"files/{row['file']}" in page.links
        assert row["url"] in page.links
        assert row["found_on"] in page.links


def test_the_files_come_first_and_the_places_of_links_last(sample_run: Path) -> None:
    page = read(sample_run)
    sections = [each["id"] for tag, each in page.elements if tag == "section"]
    assert sections[:2] == ["files", "found"]
    assert sections[-1] == "groups"
    heads = [text for text in ("For example", "Group of links") if text in page.text]
    assert page.text.index(heads[0]) < page.text.index(heads[1])


def test_the_list_holds_each_file_for_the_script(sample_run: Path) -> None:
    held = file_list(write_report(sample_run).read_text(encoding="utf-8"))
    with RunReader(sample_run) as run:
        rows = run.connection.execute(
            "SELECT file, title, url, found_on, size_bytes FROM targets ORDER BY request"
        ).fetchall()
    whole = [
        (name, title, held["site"] + url, held["site"] + held["pages"][page], size)
        for name, title, url, page, _, size, _ in held["files"]
    ]
    assert whole == [tuple(row) for row in rows]


def test_a_file_of_a_vague_type_is_listed_by_its_extension(tmp_path: Path) -> None:
    start = "http://a.test/"
    types = {"a.csv": "text/csv", "b.CSV": "text/plain; charset=utf-8", "c.csv": "application/octet-stream"}
    types |= {"d.txt": "text/plain", "e": "application/octet-stream", "f.csv": "application/json"}
    pages = {start: Response.page("".join(f"<a href={name}>{name}</a>" for name in types))}
    pages |= {start + name: Response.file(type_, name.encode()) for name, type_ in types.items()}
    run = MadeRun(tmp_path / "run", Site(start, pages), "bfs")
    run.steps()
    source = write_report(run.finish()).read_text(encoding="utf-8")
    held = file_list(source)
    listed = {file[0]: held["types"][file[4]] for file in held["files"]}
    assert listed == {
        "a.csv": "CSV", "b.CSV": "CSV", "c.csv": "CSV", "d.txt": "plain text", "e": "unnamed binary",
        "f.csv": "JSON",
    }  # fmt: skip
    assert re.search(r"CSV</span></td><td[^>]*>3<", source)


def test_it_shows_the_groups_that_paid_with_examples(sample_run: Path) -> None:
    page = read(sample_run)
    with RunReader(sample_run) as run:
        best = run.connection.execute(
            "SELECT label, example_links FROM groups ORDER BY max(total_reward, targets) DESC LIMIT 1"
        ).fetchone()
    assert best["label"].rpartition(" > ")[2] in page.text
    assert json.loads(best["example_links"])[0]["url"] in page.links


def test_a_strategy_without_groups_shows_where_the_links_stood(tmp_path: Path) -> None:
    run = MadeRun(tmp_path / "run", sample_site(), "bfs")
    run.steps(250)
    page = read(run.finish())
    assert "does not learn from groups" in page.text
    assert "Pages with most files" in page.text


def test_it_needs_nothing_from_elsewhere_and_runs_no_script_but_its_own(sample_run: Path) -> None:
    source = write_report(sample_run).read_text(encoding="utf-8")
    page = Checked(source)
    for tag, attributes in page.elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form"}
        assert "src" not in attributes
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
    assert "@import" not in source
    assert "url(" not in source
    policy = next(each["content"] for tag, each in page.elements if each.get("http-equiv")) or ""
    assert "default-src 'none'" in policy
    for text in re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", source, flags=re.DOTALL):
        digest = hashlib.sha256(text.encode()).digest()
        assert b64encode(digest).decode() in policy


def nothing_asked(run: MadeRun) -> None:
    run.store.close()


def nothing_found(run: MadeRun) -> None:
    run.steps(1)
    run.finish("nothing was left to request")


def killed(run: MadeRun) -> None:
    run.steps(20)
    run.abandon()


def going(run: MadeRun) -> None:
    run.steps(20)


@pytest.mark.parametrize(
    ("treat", "words"),
    [
        (nothing_asked, "There was no response"),
        (nothing_found, "No file of the wanted types was found"),
        (killed, "It was killed"),
        (going, "The run is still running"),
    ],
)
def test_every_stage_of_a_run_has_a_report(
    tmp_path: Path, treat: Callable[[MadeRun], None], words: str
) -> None:
    run = MadeRun(tmp_path / "run", sample_site())
    treat(run)
    try:
        assert words in read(tmp_path / "run").text
    finally:
        run.store.close()


def test_numbers_agree_with_their_nouns_and_nothing_is_drawn_of_nothing(tmp_path: Path) -> None:
    run = MadeRun(tmp_path / "run", sample_site())
    nothing_found(run)
    page = read(tmp_path / "run")
    assert "1 request made" in " ".join(page.text.split())
    assert "Files found against requests made" not in page.text


def test_a_killed_run_that_went_on_says_so(tmp_path: Path) -> None:
    run = MadeRun(tmp_path / "run", sample_site())
    run.steps(20)
    run.abandon()
    again = run.reopened()
    again.steps(20)
    page = read(again.finish("interrupted"))
    assert "killed" in page.text
    assert "It was interrupted" in page.text


def test_without_a_run_there_is_no_report(tmp_path: Path) -> None:
    with pytest.raises(NoRunError):
        write_report(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_report_elsewhere_leaves_the_run_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = MadeRun(tmp_path / "run", sample_site())
    made.steps(3)
    folder = made.finish()
    # No report can be written in the folder of the run.
    (folder / "report.html.new").mkdir()
    before = sorted(folder.rglob("*"))
    assert run(["report", str(folder)]) == 5
    assert "or write the report elsewhere, with --out FILE" in capsys.readouterr().err
    out = tmp_path / "elsewhere.html"
    assert run(["report", str(folder), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert "work in the folder of the run" in out.read_text(encoding="utf-8")
    assert sorted(folder.rglob("*")) == before


def test_a_run_of_a_hundred_thousand_requests_is_quick_and_small(tmp_path: Path) -> None:
    folder = fill_run(tmp_path / "run", requests=100_000)
    calls = count_calls(lambda: write_report(folder))
    # The database counts, and what is drawn and listed is bounded: little is done for each request.
    assert calls < 20 * 100_000
    source = (folder / "report.html").read_text(encoding="utf-8")
    assert len(source) < 1_500_000
    paths = re.findall(r'<path class="line found" d="([^"]*)"', source)
    assert paths
    assert all(path.count("H") <= MAX_POINTS + 2 for path in paths)
    page = Checked(source)
    assert f"The first {MAX_FILES:,} of 33,334 files" in page.text
    assert sum(link.startswith("files/") for link in page.links) == MAX_ROWS + 1
    assert len(file_list(source)["files"]) == MAX_FILES


def test_settings_are_listed_and_secrets_are_not(tmp_path: Path) -> None:
    settings = {
        "types": "data",
        "cookies": "session=verysecret",
        "header": ["X-Key: verysecret"],
        "delay": 1.5,
    }
    run = MadeRun(tmp_path / "run", Site("http://a.test/", {}), settings=settings)
    run.steps()
    source = write_report(run.finish()).read_text(encoding="utf-8")
    assert "verysecret" not in source
    assert "1.5" in source


def test_errors_and_what_was_left_alone_stand_with_their_reasons(tmp_path: Path) -> None:
    links = "<a href=gone>Gone</a><a href=http://else.test/>Elsewhere</a><a href=film.mp4>Film</a>"
    run = MadeRun(tmp_path / "run", Site("http://a.test/", {"http://a.test/": Response.page(links)}), "bfs")
    run.steps()
    page = read(run.finish())
    assert "404: Not Found" in page.text
    assert "http://a.test/gone" in page.links
    assert "on another site" in page.text
    assert "http://else.test/" in page.links
    assert "an image, video or audio file" in page.text


def test_every_reason_to_stop_or_to_skip_is_put_into_words() -> None:
    assert set(MEANINGS) == set(REASONS)
    assert all(reason.text.brief for reason in StopReason)
    assert all(StopReason.of_limit(limit).text.next_step for limit in Limit)
