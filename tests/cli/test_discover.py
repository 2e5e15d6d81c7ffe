"""``coati discover`` and ``coati search``, as a user meets them."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from coati.testing.server import serve
from coati.testing.site import Response, Site
from tests.cli.commands import Coati, coati
from tests.discovering.made_web import lines_of, made_web
from tests.strategies.discovery.small_web import FEW_FILES, REPOSITORIES

__all__ = ["coati"]

ALL = {f"repo{number}.test" for number in range(len(REPOSITORIES))}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    return made_web(tmp_path_factory.mktemp("web"))


def how(web: tuple[Path, Path, Path], *more: object) -> list[object]:
    archive, index, model = web
    options = ["--search", f"local={index}", "--archive", archive, "--offline", "--start-model", model]
    return ["discover", "rain", *options, "--strategy", "dsdd", "--quiet", *more]


def test_finds_the_repositories_of_an_archive(coati: Coati, web: tuple[Path, Path, Path]) -> None:
    said = coati(*how(web, "--out", "rain", "--format", "json"))
    assert said.code == 0
    *found, summary = lines_of(said.out)
    assert {repository["site"] for repository in found} == ALL
    assert summary["repositories"] == len(ALL)
    assert [repository["rank"] for repository in found] == list(range(1, len(ALL) + 1))
    first = found[0]
    assert first["formats"] == {"csv": 12}
    assert str(first["trail"][0]).startswith("search://local/?")  # type: ignore[index]
    lines = lines_of(Path("rain/repositories.jsonl").read_text(encoding="utf-8"))
    assert {line["url"] for line in lines} <= {url for base in REPOSITORIES for url in _pages(base)}
    with Path("rain/repositories.csv").open(encoding="utf-8") as file:
        states = {row["site"]: row["state"] for row in csv.DictReader(file)}
    assert states["fewfiles.test"] == "rejected"
    with sqlite3.connect("rain/run.sqlite") as database:
        (pages,) = database.execute("SELECT count(*) FROM dataset_pages").fetchone()
    assert pages == summary["dataset_pages"]
    assert pages > 0


def _pages(base: str) -> list[str]:
    return [base, *(f"{base}topic{n}" for n in range(3)), *(f"{base}topic{n}/more" for n in range(3))]


def test_the_report_shows_them_and_how_they_were_reached(coati: Coati, web: tuple[Path, Path, Path]) -> None:
    coati(*how(web, "--out", "rain"))
    page = Path("rain/report.html").read_text(encoding="utf-8")
    assert "6 repositories on “rain”" in page
    for text in (
        "How each was reached",
        "Which action found most",
        "Pages with data",
        "Checked, and not verified",
    ):
        assert text in page
    assert "6 repositories were verified in" in page
    # Also the only action has its name beside the line.
    assert ">keyword search<" in page.partition("Which action found most")[2].partition("<svg")[0]
    assert "coati harvest --from FOLDER" in page
    assert ">queries<" in page
    assert "start URLs" not in page
    # What a crawl for files would say means nothing here.
    for text in ("The files", "No file", "files found", "Were these the right types?", "of the known URLs"):
        assert text not in page
    for text in ("sites checked", "repositories.csv</a>", "dataset_pages.csv</a>"):
        assert text in page
    assert "files.csv" not in page


def test_explain_says_why(coati: Coati, web: tuple[Path, Path, Path]) -> None:
    coati(*how(web, "--out", "rain"))
    accepted = coati("explain", REPOSITORIES[0], "--run", "rain").out
    assert "repo0.test is verified: 12 different data files" in accepted
    assert "the word “" in accepted
    assert "looks like:   a repository's page" in accepted
    assert "target" not in accepted
    with sqlite3.connect("rain/run.sqlite") as database:
        standings = database.execute(
            "SELECT count(*), sum(reward > 0) FROM requests WHERE kind <> 'deferred' GROUP BY arm"
        ).fetchall()
    assert any(
        f"{requests} requests in this run: {good} looked like a repository's page" in accepted
        for requests, good in standings
        if good
    )
    rejected = coati("explain", "fewfiles.test", "--run", "rain").out
    assert rejected.startswith("fewfiles.test is rejected: too few data files: 9")
    assert "the word “" in rejected
    refused = coati("explain", "plain0.test", "--run", "rain").out
    assert refused.startswith("plain0.test is not checked: one page of it was looked at")
    unmet = coati("explain", "nobody.test", "--run", "rain").out
    assert unmet.startswith("nobody.test is not checked: no page of it was looked at")
    assert json.loads(coati("explain", "nobody.test", "--run", "rain", "--format", "json").out)["site"]


def test_a_search_that_verifies_nothing_says_where_to_look(
    coati: Coati, web: tuple[Path, Path, Path]
) -> None:
    said = coati(*how(web, "--out", "rain", "--reject", FEW_FILES, "--max-requests", 1))
    assert "0 repositories verified of 1 site checked" in said.out
    assert "no site was verified: `coati explain fewfiles.test --run rain` says why not" in said.err


def test_our_own_strategy_is_the_default(coati: Coati, web: tuple[Path, Path, Path]) -> None:
    archive, index, model = web
    options = ["--search", f"local={index}", "--archive", archive, "--offline", "--start-model", model]
    said = coati("discover", "rain", *options, "--quiet", "--out", "rain", "--format", "json")
    *found, summary = lines_of(said.out)
    assert summary["strategy"] == "prospect"
    assert {repository["site"] for repository in found} == ALL
    again = lines_of(coati("discover", "rain", "--quiet", "--format", "json").out)
    assert again[-1]["strategy"] == "prospect"


def test_repositories_that_do_not_speak_of_the_topic_are_named_so(
    coati: Coati, web: tuple[Path, Path, Path]
) -> None:
    archive, index, model = web
    options = ["--search", f"local={index}", "--archive", archive, "--offline", "--start-model", model]
    said = coati("discover", "dataset", "volcano", *options, "--quiet", "--out", "later")
    assert "6 repositories verified" in said.out
    assert "none of these repositories speaks much of the topic" in said.err
    said = coati(
        "discover", "dataset", "volcano", *options, "--quiet", "--out", "never", "--off-topic", "never"
    )
    assert "0 repositories verified" in said.out
    told = coati("explain", "repo0.test", "--run", "never").out
    assert "repo0.test is not checked: it looks like a repository, but not on the topic" in told


def test_table_for_people(coati: Coati, web: tuple[Path, Path, Path]) -> None:
    said = coati(*how(web, "--out", "rain"))
    assert "6 repositories verified of" in said.out
    assert "coati harvest --from rain" in said.err


def test_a_budget_and_then_more_of_it(coati: Coati, web: tuple[Path, Path, Path]) -> None:
    whole = lines_of(coati(*how(web, "--out", "whole", "--format", "json", "--concurrency", 1)).out)
    coati(*how(web, "--out", "rain", "--max-requests", 30, "--concurrency", 1))
    said = coati("discover", "rain", "--max-requests", 5000, "--format", "json", "--quiet")
    *found, summary = lines_of(said.out)
    assert summary["resumed"] is True
    assert summary["requests"] == whole[-1]["requests"]
    assert [line["site"] for line in found] == [line["site"] for line in whole[:-1]]


def test_a_quota_of_queries_and_then_more_of_it(coati: Coati, web: tuple[Path, Path, Path]) -> None:
    said = coati(*how(web, "--out", "rain", "--max-queries", 1))
    assert said.code == 0
    assert "continue with a larger --max-queries" in said.err
    assert "Stopped: nothing was left to request, and no engine takes more queries." in said.out
    assert _queries("rain") == 1
    report = Path("rain/report.html").read_text(encoding="utf-8")
    assert "It sent its search engines as many queries as it may" in report
    assert "run the same command with a larger --max-queries" in report
    assert "All known URLs" not in report
    more = coati("discover", "rain", "--max-queries", 100, "--quiet", "--format", "json")
    assert lines_of(more.out)[-1]["repositories"] == len(ALL)
    assert _queries("rain") > 1
    report = Path("rain/report.html").read_text(encoding="utf-8")
    assert "It sent its search engines as many queries as it may" not in report
    assert "Every query and every page that it wanted to check was requested." in report


def _queries(folder: str) -> int:
    with sqlite3.connect(f"{folder}/run.sqlite") as database:
        (count,) = database.execute("SELECT count(*) FROM requests WHERE host LIKE 'search:%'").fetchone()
    return int(count)


def test_the_user_accepts_and_rejects(coati: Coati, web: tuple[Path, Path, Path]) -> None:
    coati(*how(web, "--out", "rain"))
    said = coati(
        "discover", "rain", "--accept", FEW_FILES, "--reject", REPOSITORIES[0], "--quiet", "--format", "json"
    )
    *found, _ = lines_of(said.out)
    sites = {str(line["site"]): line["by_user"] for line in found}
    assert sites["fewfiles.test"] is True
    assert "repo0.test" not in sites
    again = lines_of(coati("discover", "rain", "--quiet", "--format", "json").out)
    assert {line["site"] for line in again[:-1]} == set(sites)


# The command, which does nothing more once twenty requests are in its log: it can only be killed then.
TWENTY_REQUESTS = """
import signal, sys
from itertools import count
from coati.cli.main import run
from coati.runs.store import RunStore

def record_some(store, fetched):
    recorded = record(store, fetched)
    if next(numbers) == 20:
        print("twenty are recorded", flush=True)
        signal.pause()
    return recorded

numbers = count(1)
record, RunStore.record = RunStore.record, record_some
run(sys.argv[1:])
"""


def test_a_kill_loses_nothing(coati: Coati, web: tuple[Path, Path, Path], tmp_path: Path) -> None:
    expected = lines_of(coati(*how(web, "--out", "whole", "--format", "json", "--concurrency", 1)).out)
    command = [sys.executable, "-c", TWENTY_REQUESTS, *how(web, "--out", "rain", "--concurrency", 1)]
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "twenty are recorded\n"
        killed.kill()
    found = lines_of(coati("discover", "rain", "--quiet", "--format", "json").out)
    assert [line["site"] for line in found[:-1]] == [line["site"] for line in expected[:-1]]
    assert found[-1]["requests"] == expected[-1]["requests"]


def test_searxng_over_http(coati: Coati) -> None:
    def engine(base: str) -> Site:
        return Site(base + "/", {f"{base}/search?q=rain&format=json&language=en&pageno=1": _answer(base)})

    def _answer(base: str) -> Response:
        hits = [{"url": f"{base}/portal", "title": "Portal", "content": "data"}]
        return Response.file("application/json", json.dumps({"results": hits}).encode())

    with serve(engine) as server:
        said = coati(
            "discover",
            "rain",
            "--search",
            f"searxng={server.url}",
            "--quiet",
            "--format",
            "json",
            "--delay",
            0,
        )
    assert said.code == 0
    assert lines_of(said.out)[-1]["sites_checked"] == 0
    with sqlite3.connect("rain/run.sqlite") as database:
        asked = [url for (url,) in database.execute("SELECT url FROM requests ORDER BY id")]
    assert asked[:2] == ["search://searxng/?q=rain", f"{server.url}portal"]
    assert "pages that link to a repository" in said.err


@pytest.mark.parametrize(
    ("answer", "code", "stopped", "hint"),
    [
        (Response.page("<p>no JSON here"), 3, "gave no usable response", "must allow the format json"),
        (Response.file("application/json", bytes(range(256))), 3, "gave no usable response", "--search"),
        (Response.page("<p>no", status=403), 4, "refuses us", "must allow the format json"),
        (Response.redirect("/elsewhere"), 3, "gave no usable response", "--search"),
    ],
    ids=["html", "garbage", "forbidden", "redirect"],
)
def test_an_engine_that_is_of_no_use(
    coati: Coati, answer: Response, code: int, stopped: str, hint: str
) -> None:
    def engine(base: str) -> Site:
        return Site(base + "/", {f"{base}/search?q=rain&format=json&language=en&pageno=1": answer})

    with serve(engine) as server:
        said = coati("discover", "rain", "--search", f"searxng={server.url}", "--quiet", "--out", "rain")
    assert said.code == code
    assert f"Stopped: the search engine {stopped}." in said.out
    assert hint in said.err
    assert "looked like" not in said.err
    assert "The search engine" in Path("rain/report.html").read_text(encoding="utf-8")


def test_an_engine_of_ones_own(coati: Coati, web: tuple[Path, Path, Path]) -> None:
    Path("my_engine.py").write_text(
        "from pathlib import Path\nfrom coati.search.local_index import LocalIndex\n"
        "class Mine(LocalIndex):\n    name = 'mine'\n"
        f"    def __init__(self): super().__init__(Path({str(web[1])!r}))\n",
        encoding="utf-8",
    )
    archive, _, model = web
    said = coati(
        "discover", "rain", "--search", "my_engine:Mine", "--archive", archive, "--offline", "--start-model",
        model, "--quiet", "--format", "json",
    )  # fmt: skip
    assert lines_of(said.out)[-1]["repositories"] == len(ALL)


def test_no_results(coati: Coati) -> None:
    nothing = Response.file("application/json", b'{"results": []}')
    addresses = ("q=rain", "q=rain+data+dataset")

    def engine(base: str) -> Site:
        pages = (f"{base}/search?{query}&format=json&language=en&pageno=1" for query in addresses)
        return Site(base + "/", dict.fromkeys(pages, nothing))

    with serve(engine) as server:
        said = coati("discover", "rain", "--search", f"searxng={server.url}", "--quiet")
    assert said.code == 0
    assert "0 repositories verified of 0 sites" in said.out
    assert "try other words" in said.err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["discover"], "nothing to search for"),
        (["discover", "rain"], "coati search index ARCHIVE... --out index/"),
        (["discover", "rain", "--search", "nobody"], "unknown search engine 'nobody'"),
        (["discover", "rain", "--search", "local"], "write local=INDEX"),
        (["discover", "rain", "--search", "local=nowhere"], "there is no search index in nowhere"),
        (["discover", "rain", "--search", "searxng=x"], "not the URL of a server"),
        (["discover", "rain", "--search", "nothing:There"], "cannot be imported"),
        (["search", "index", "nowhere", "--out", "index"], "there is no archive in nowhere"),
        (["search", "query", "nowhere", "rain"], "there is no search index in nowhere"),
        (["crawl", "http://a.test/", "--strategy", "dsdd"], "use `coati discover`"),
    ],
)
def test_bad_input(coati: Coati, arguments: list[str], complaint: str) -> None:
    said = coati(*arguments)
    assert said.code == 2
    assert complaint in said.err
    assert len(said.err.splitlines()) == 1


def test_an_index_of_another_version(coati: Coati, web: tuple[Path, Path, Path]) -> None:
    shutil.copytree(web[1], "index")
    with sqlite3.connect("index/index.sqlite") as database:
        database.execute("PRAGMA user_version = 7")
    said = coati("discover", "rain", "--search", "local=index")
    assert said.code == 2
    assert "of version 7" in said.err


def test_the_folder_of_a_crawl(coati: Coati) -> None:
    with serve(lambda base: Site(base + "/", {base + "/": Response.page("<a href=b.csv>b</a>")})) as server:
        coati("crawl", server.url, "--out", "run", "--delay", 0, "--quiet")
    said = coati("discover", "run")
    assert said.code == 2
    assert "holds a crawl, not a search" in said.err


def test_search_index_and_ask(coati: Coati, web: tuple[Path, Path, Path]) -> None:
    said = coati("search", "index", web[0].parent / "web", "--out", "mine", "--format", "json")
    assert said.json["pages"] > 20
    asked = coati("search", "query", "mine", "rain", "--format", "json")
    assert lines_of(asked.out)[0]["url"]
    links = coati("search", "query", "mine", REPOSITORIES[1], "--backlinks", "--format", "json")
    assert {line["url"] for line in lines_of(links.out)} >= {REPOSITORIES[0], "http://hub.test/list.html"}
    assert coati("search", "query", "mine", "zzzz").err == "Nothing found.\n"
    assert "searxng=URL" in coati("search", "engines").out


def test_learn_pages(coati: Coati) -> None:
    for kind, words in (("data", "dataset csv download open"), ("other", "hotel football music recipe")):
        Path(kind).mkdir()
        for number in range(6):
            Path(kind, f"{number}.txt").write_text(words, encoding="utf-8")
    said = coati(
        "learn",
        "pages",
        "--data",
        "data",
        "--other",
        "other",
        "--hold-back",
        0.5,
        "--out",
        "m.json",
        "--format",
        "json",
    )
    assert said.code == 0
    assert said.json["recall"] == 1.0
    assert "dataset" in Path("m.json").read_text(encoding="utf-8")
    bad = coati("discover", "rain", "--search", "searxng=http://localhost:1", "--start-model", "data/1.txt")
    assert (bad.code, "is not a start model" in bad.err) == (2, True)
