"""``coati explain`` and ``coati report``, over runs that know every kind of URL."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from coati.cli.explain import explain
from coati.cli.main import COMMANDS
from coati.cli.report import report
from coati.errors import UsageError
from coati.reporting import Verdict, explain_url
from coati.testing import Response, Site
from tests.driving import ask
from tests.reporting.made_runs import MadeRun

START = "http://a.test/"

HOME = """
<ul class=menu><li><a href=/moved>Moved</a><li><a href=/gone>Gone</a><li><a href=/page>A page</a></ul>
<ul class=files><li>The table: <a href=/table.csv>Table</a><li><a href=/copy.csv>Copy</a></ul>
<a href=http://else.test/x>Elsewhere</a><a href=/film.mp4>Film</a><a href=/style>Style</a>
"""
PAGE = "<ul class=more>" + "".join(f"<li><a href=/more/{n}>More {n}</a>" for n in range(9)) + "</ul>"

SITE = Site(
    START,
    {
        START: Response.page(HOME),
        f"{START}page": Response.page(PAGE),
        f"{START}moved": Response.redirect("/moved/again"),
        f"{START}moved/again": Response.redirect("/table.csv"),
        f"{START}table.csv": Response.file("text/csv", b"a,b\n1,2\n"),
        f"{START}copy.csv": Response.file("text/csv", b"a,b\n1,2\n"),
        f"{START}style": Response.file("text/css", b"p {}"),
        **{f"{START}more/{n}": Response.page(f"<a href=/more/{n}/deeper>Deeper</a>") for n in range(3)},
    },
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = MadeRun(tmp_path_factory.mktemp("runs") / "run", SITE, "bfs")
    run.steps(10)
    request = ask(run.strategy, run.now)
    assert request is not None
    run.store.chosen(request, run.now)
    return run.finish("interrupted")


def told(folder: Path, url: str) -> dict[str, Any]:
    done = CliRunner().invoke(
        explain, [url, "--run", str(folder), "--format", "json"], catch_exceptions=False
    )
    assert done.exit_code == 0
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_a_target_says_where_it_was_met_and_where_it_is_kept(folder: Path) -> None:
    answer = told(folder, f"{START}table.csv")
    assert answer["verdict"] == "target"
    assert answer["found"]["found_on"] == START
    assert answer["found"]["anchor"] == "Table"
    assert answer["found"]["context"] == "The table: Table"
    assert answer["found"]["tag_path"].endswith("ul.files > li > a")
    assert answer["file"]["file"] == "files/table.csv"
    assert (folder / answer["file"]["file"]).read_bytes() == b"a,b\n1,2\n"
    assert len(answer["file"]["sha256"]) == 64
    assert answer["file"]["same_as"] == [f"{START}copy.csv"]


def test_a_page_says_what_it_held(folder: Path) -> None:
    answer = told(folder, "/page")
    assert answer["verdict"] == "page"
    (asked,) = answer["requests"]
    assert asked["links"] == 9
    assert asked["status"] == 200
    assert asked["requests_before"] >= 1


def test_a_redirect_says_where_it_leads(folder: Path) -> None:
    answer = told(folder, "/moved")
    assert answer["verdict"] == "redirect"
    assert answer["leads_to"] == [f"{START}moved/again", f"{START}table.csv"]
    found = told(folder, "/moved/again")["found"]
    assert found["redirected_from"] == f"{START}moved"
    # Where the link stands that began it.
    assert (found["found_on"], found["anchor"]) == (START, "Moved")


def test_a_file_behind_redirects_names_the_page_that_it_was_found_on(tmp_path: Path) -> None:
    pages = {
        START: Response.page("<a href=/1>The table</a><a href=/circle>Nowhere</a>"),
        f"{START}1": Response.redirect("/2"),
        f"{START}2": Response.redirect("/3.csv"),
        f"{START}3.csv": Response.file("text/csv", b"3\n"),
        f"{START}circle": Response.redirect("/round"),
        f"{START}round": Response.redirect("/about"),
        f"{START}about": Response.redirect("/round"),
    }
    run = MadeRun(tmp_path / "run", Site(START, pages), "bfs")
    run.steps()
    folder = run.finish()
    found = told(folder, "/3.csv")["found"]
    assert (found["redirected_from"], found["found_on"], found["anchor"]) == (f"{START}2", START, "The table")
    said = CliRunner().invoke(explain, ["/3.csv", "--run", str(folder)]).stdout
    assert (
        f"found by:     a redirect from {START}2\n  found on:     {START}\n  link text:    The table" in said
    )
    assert told(folder, "/round")["found"]["redirected_from"]
    # Nothing leads to itself.
    assert told(folder, "/round")["leads_to"] == [f"{START}about"]
    assert told(folder, "/circle")["leads_to"] == [f"{START}round", f"{START}about"]


@pytest.mark.parametrize(
    ("url", "verdict"),
    [
        ("/gone", Verdict.FAILURE),
        ("/style", Verdict.OTHER),
        ("/more/2", Verdict.IN_FLIGHT),
        ("/more/8", Verdict.WAITING),
        ("http://else.test/x", Verdict.SKIPPED),
        ("/film.mp4", Verdict.SKIPPED),
        ("/pag", Verdict.UNKNOWN),
    ],
)
def test_every_fate_has_a_verdict(folder: Path, url: str, verdict: Verdict) -> None:
    assert explain_url(folder, url).verdict is verdict


def test_a_failure_says_why(folder: Path) -> None:
    assert "404" in told(folder, "/gone")["because"]


def test_what_a_rule_forbids_names_the_rule_and_the_page(folder: Path) -> None:
    answer = told(folder, "http://else.test/x")
    assert answer["skipped"]["reason"] == "out of scope"
    assert answer["skipped"]["found_on"] == START
    assert "another site" in answer["skipped"]["meaning"]


def test_a_waiting_link_says_what_its_like_have_brought(folder: Path) -> None:
    answer = told(folder, "/more/8")
    assert answer["found"]["found_on"] == f"{START}page"
    assert answer["siblings"]["followed"] == 3
    assert answer["siblings"]["waiting"] == 6
    assert answer["because"] == "It is known but was not requested: its turn had not come."
    assert answer["strategy"] == "bfs"


def test_a_group_counts_the_files_on_its_pages_though_other_links_of_them_still_wait(tmp_path: Path) -> None:
    """A page's reward is known when its last link was followed; its files are known before."""
    topics = [f"{START}topics/{name}" for name in "abcd"]
    site = {START: Response.page("".join(f"<p><a href={url}>Topic</a></p>" for url in topics))}
    for url in topics:
        site[url] = Response.page(
            f"<ul><li><a href={url}.csv>Table</a></ul><a href={url}/imprint>Imprint</a>"
        )
        site[f"{url}.csv"] = Response.file("text/csv", b"a,b\n1,2\n")
    run = MadeRun(tmp_path / "run", Site(START, site), "scent")
    run.steps(9)
    folder = run.finish("interrupted")
    (asked,) = told(folder, "/topics/a")["requests"]
    files = sum(told(folder, f"/topics/{name}.csv")["verdict"] == "target" for name in "abcd")
    assert files >= 3
    assert (asked["group"]["followed"], asked["group"]["led_to"]) == (4, files)


def test_a_collected_file_says_where_it_came_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {START: Response.page("<a href=/a/x.csv>1</a><a href=/b/x.csv>2</a><a href=/c>3</a>")}
    for number, name in enumerate("ab"):
        pages[f"{START}{name}/x.csv"] = Response.file("text/csv", f"{number}\n".encode())
    pages[f"{START}c"] = Response.file("text/csv", b"3\n", name="x-2.csv")
    run = MadeRun(tmp_path / "run", Site(START, pages), "bfs")
    run.steps()
    folder = run.finish()
    monkeypatch.chdir(tmp_path)
    for name in ("x-2.csv", "files/x-2.csv", "run/files/x-2.csv", "./run/../run/files/x-2.csv"):
        assert told(folder, name)["url"] == f"{START}b/x.csv"
    # What the site has under this path comes first.
    assert told(folder, "a/x.csv")["url"] == f"{START}a/x.csv"
    with pytest.raises(UsageError, match="or the name of a collected file"):
        explain_url(folder, "x-9.csv")


def test_an_unknown_url_says_which_known_ones_are_nearest(folder: Path) -> None:
    answer = told(folder, "https://a.test/more/33")
    assert answer["verdict"] == "never found"
    assert answer["nearest"][0] == f"{START}more/3"
    assert told(folder, "https://a.test/table.csv?x=1")["nearest"][0] == f"{START}table.csv"
    assert told(folder, "/more/33")["nearest"][0] == f"{START}more/3"


def test_an_unknown_url_that_the_rules_forbid_names_the_rule(folder: Path) -> None:
    answer = told(folder, "http://third.test/y")
    assert answer["verdict"] == "never found"
    assert answer["skipped"]["reason"] == "out of scope"


def test_the_group_and_the_score_that_chose_it_are_named(tmp_path: Path) -> None:
    run = MadeRun(tmp_path / "run", SITE, "sb-classifier")
    run.steps(40)
    finished = run.finish()
    chosen = [
        each
        for n in range(3)
        for each in explain_url(finished, f"/more/{n}").requests
        if each.arm is not None
    ]
    assert chosen
    assert all(each.score is not None and each.group is not None for each in chosen)
    assert all(each.group is not None and each.group.name.endswith("a") for each in chosen)


def test_it_reads_as_text_and_no_text_of_the_web_drives_the_terminal(tmp_path: Path) -> None:
    site = Site(
        START,
        {
            START: Response.page("<a href=/a.csv>\x1b[2J\x1b]0;evil\x07 Table\n\nof" + "x" * 9999 + "</a>"),
            f"{START}a.csv": Response.file("text/csv", b"1\n"),
        },
    )
    run = MadeRun(tmp_path / "run", site)
    run.steps()
    done = CliRunner().invoke(explain, ["/a.csv", "--run", str(run.finish())], catch_exceptions=False)
    assert done.stdout.startswith(f"{START}a.csv: target\n")
    assert "\x1b" not in done.stdout
    assert "link text:" in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 600


def test_explaining_changes_nothing(folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    told(folder, "/more/8")
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


@pytest.mark.parametrize("url", ["mailto:someone@a.test", "http://", "https://[::1", "garbage", ""])
def test_what_is_no_url_is_refused(folder: Path, url: str) -> None:
    with pytest.raises(UsageError, match="not a web URL"):
        explain_url(folder, url)


def test_report_writes_the_page_and_says_where(folder: Path) -> None:
    done = CliRunner().invoke(report, [str(folder)], catch_exceptions=False)
    assert done.stdout.strip() == str(folder / "report.html")
    assert "from a.test" in (folder / "report.html").read_text(encoding="utf-8")
    as_json = CliRunner().invoke(report, [str(folder), "--format", "json"], catch_exceptions=False)
    assert json.loads(as_json.stdout) == {"report": str(folder / "report.html")}


def test_both_are_commands_of_coati() -> None:
    assert {"explain", "report"} <= set(COMMANDS)


@pytest.fixture(scope="module")
def scented(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = MadeRun(tmp_path_factory.mktemp("runs") / "scented", SITE, "scent")
    run.steps(9)
    return run.finish("interrupted")


def as_text(folder: Path, url: str) -> str:
    return CliRunner().invoke(explain, [url, "--run", str(folder)], catch_exceptions=False).stdout


def in_words(folder: Path, url: str) -> list[str]:
    lines = as_text(folder, url).splitlines()
    first = next(at for at, line in enumerate(lines) if line.strip().startswith("score "))
    return [line.strip() for line in lines[first:]]


def test_scent_gives_its_reasons_for_a_link_that_waits(scented: Path) -> None:
    answer = told(scented, "/more/8")
    assert answer["verdict"] == "waiting"
    reasons = answer["reasons"]
    assert len(reasons) == 5
    assert any(
        "(ul.more > li > a) led to about 0.0 files per page in 1 visit" in each["words"] for each in reasons
    )
    strengths = [abs(each["contribution"]) for each in reasons]
    assert strengths == sorted(strengths, reverse=True)
    lines = in_words(scented, "/more/8")
    assert lines[0] == f"score now:    {answer['score']:.3f}. Change of the score by each reason:"
    assert answer["because"].endswith("scent expected more from other links.")
    assert [line.endswith(each["words"]) for line, each in zip(lines[1:], reasons, strict=True)] == [True] * 5


def test_scent_gives_the_reasons_that_it_had_when_it_chose(scented: Path) -> None:
    answer = told(scented, "/table.csv")
    assert answer["verdict"] == "target"
    strongest = answer["reasons"][0]
    assert strongest["words"] == "its file name (.csv) makes a file more likely"
    assert strongest["contribution"] > 0.1
    assert in_words(scented, "/table.csv")[0].startswith("score then:")


def test_scent_explains_what_a_redirect_leads_to_by_the_link_that_was_chosen(scented: Path) -> None:
    chosen, led_to = told(scented, "/moved"), told(scented, "/moved/again")
    assert led_to["found"]["redirected_from"] == f"{START}moved"
    assert (led_to["score"], led_to["reasons"]) == (chosen["score"], chosen["reasons"])
    assert f"the redirect from {START}moved, which is followed at once" in as_text(scented, "/moved/again")


def test_scent_explains_what_is_requested_after_an_outage_by_its_first_choice(tmp_path: Path) -> None:
    run = MadeRun(tmp_path / "run", SITE, "scent")
    run.out_of_reach = {f"{START}page"}
    run.steps()
    answer = told(folder := run.finish(), "/page")
    first, again = answer["requests"]
    assert (first["kind"], again["kind"]) == ("deferred", "page")
    assert answer["score"] == pytest.approx(first["score"], abs=1e-4)
    assert "cause" not in first
    assert again["cause"].startswith("an earlier choice")
    assert again["cause"] in as_text(folder, "/page")


def test_what_the_sweep_chose_was_not_decided_by_the_score(tmp_path: Path) -> None:
    pages = [f"{START}{letter}/{other}/page.html" for letter in "abcdefghij" for other in "uvwxyz"]
    links = "".join(f"<nav><a href={url}>{url.split('/')[3]}</a></nav>" for url in pages)
    site = {START: Response.page(links), **dict.fromkeys(pages, Response.page("<p>Nothing"))}
    run = MadeRun(tmp_path / "run", Site(START, site), "scent")
    run.steps()
    with closing(sqlite3.connect((folder := run.finish()) / "run.sqlite")) as connection:
        rows = connection.execute("SELECT url, label FROM requests JOIN groups USING (arm)").fetchall()
    swept, scored = (
        next(url for url, label in rows if ("(sweep)" in label) is each) for each in (True, False)
    )
    answer, lines = told(folder, swept), as_text(folder, swept)
    assert answer["score_decided"] is False
    cause = "the sweep: folders that were not visited yet, since all links promise little; not the score"
    assert answer["requests"][0]["cause"] == cause
    assert re.search(rf"by: +{cause}\n +\d+ requests in this run", lines)
    assert "with score" not in lines
    assert f"score then:   {answer['score']:.3f}, which did not decide. Change of the score" in lines
    answer, lines = told(folder, scored), as_text(folder, scored)
    assert answer["score_decided"] is True
    assert f"score then:   {answer['score']:.3f}. Change of the score" in lines


def test_a_start_url_is_called_one(scented: Path) -> None:
    assert told(scented, START)["found"]["is_start"]
    assert "found by:     it is a start URL" in as_text(scented, START)
    assert "found by" not in as_text(scented, "/page")
