"""``coati crawl`` as a user meets it: what it says, where things land, how it ends and continues."""

import json
import re
import signal
import sqlite3
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coati.archive.archive import Archive
from coati.runs.store import RunStore
from coati.testing.sample_site import sample_site
from coati.testing.server import SiteServer, serve
from coati.testing.site import Response, Site
from tests.cli.commands import Coati, coati, said_by, start_coati
from tests.live.scripted import Exchange, Route, Script, answer, file, page, scripted
from tests.waiting import wait_until

__all__ = ["coati"]

SMALL = {
    "/": page("/a", "/b.csv", "/c.csv"),
    "/a": page("/", "/d.csv", "/gone", "https://elsewhere.example/"),
    "/b.csv": file(b"b\n"),
    "/c.csv": file(b"c\n"),
    "/d.csv": file(b"c\n"),
    "/robots.txt": answer(404),
}
FAST = ("--delay", "0", "--strategy", "bfs")


@contextmanager
def small(**more: object) -> Iterator[Script]:
    with scripted({**SMALL, **more}) as script:  # type: ignore[dict-item]
        yield script


@pytest.fixture(scope="module")
def sample() -> Iterator[SiteServer]:
    with serve(sample_site) as server:
        yield server


# --- a whole crawl ------------------------------------------------------------------------------


def test_the_sample_site_is_crawled_into_a_folder(coati: Coati, sample: SiteServer) -> None:
    said = coati("crawl", sample.url, "--delay", 0, "--out", "run", "--max-targets", 20)
    assert said.code == 0
    assert "Stopped: the limit of targets was reached." in said.out
    assert "report.html" in said.out
    assert "--contact" in said.err
    assert len(list(Path("run/files").iterdir())) >= 15
    settings = tomllib.loads(Path("run/run.toml").read_text(encoding="utf-8"))
    assert settings["urls"] == [sample.url]
    assert settings["max_targets"] == 20
    assert settings["limits"]["retries"] == 3


def test_json_says_everything_in_one_object(coati: Coati) -> None:
    with small() as site:
        said = coati("crawl", site.start, *FAST, "--format", "json", "--contact", "me@example.org")
    told = said.json
    assert said.code == 0
    assert (told["stop"], told["stop_reason"], told["exit_code"]) == (
        "finished",
        "nothing was left to request",
        0,
    )
    assert (told["requests"], told["targets"], told["files"], told["pages"]) == (6, 3, 2, 2)
    assert (told["failures"], told["skipped"], told["resumed"], told["resumable"]) == (1, 1, False, False)
    assert told["folder"] == f"127.0.0.1-{site.start.split(':')[2].strip('/')}"
    assert Path(told["report"]).is_file()
    assert "--contact" not in said.err
    assert all(asked.headers["user-agent"].endswith("(+me@example.org)") for asked in site.asked)


def test_events_are_one_object_a_line_and_are_appended(coati: Coati) -> None:
    with small() as site:
        coati("crawl", site.start, *FAST, "--out", "run", "--max-requests", 2, "--events", "events.jsonl")
        coati("crawl", "run", "--max-requests", 4)
    lines = [json.loads(line) for line in Path("events.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["url"] for line in lines if line["what"] == "chosen"] == [
        site.base + path for path in ("/", "/a", "/b.csv", "/c.csv")
    ]
    assert [line["reason"] for line in lines if line["what"] == "stopping"] == [
        "the limit of requests was reached"
    ] * 2


def test_quiet_says_nothing_on_stderr_but_what_matters(coati: Coati) -> None:
    with small() as site:
        said = coati("crawl", site.start, *FAST, "--quiet", "--format", "json")
    assert said.err == ""


# --- going on -----------------------------------------------------------------------------------


def test_the_same_command_goes_on(coati: Coati) -> None:
    with small() as site:
        command = ("crawl", site.start, *FAST, "--out", "run", "--format", "json")
        first = coati(*command, "--max-requests", 3)
        second = coati(*command, "--max-requests", "none")
        paths = [path for path in site.paths if path != "/robots.txt"]
    assert first.json["stop"] == "budget_requests"
    assert second.json["resumed"]
    assert "3 requests" in second.err
    assert second.json["requests"] == 6
    assert sorted(paths) == sorted(["/", "/a", "/b.csv", "/c.csv", "/d.csv", "/gone"])


@pytest.mark.parametrize("again", [("run",), ("--out", "run")])
def test_a_run_goes_on_by_its_folder_alone(coati: Coati, again: tuple[str, ...]) -> None:
    with small() as site:
        coati("crawl", site.start, *FAST, "--types", ".csv", "--out", "run", "--max-requests", 1)
        said = coati("crawl", *again, "--max-requests", 100, "--format", "json")
    assert said.json["targets"] == 3
    assert said.json["types"] == ".csv"
    assert tomllib.loads(Path("run/run.toml").read_text(encoding="utf-8"))["max_requests"] == 100


@pytest.mark.parametrize(
    "change",
    [("--types", "tables"), ("--strategy", "dfs"), ("--seed", "1"), ("--scope", "host"), ("--include", "x")],
)
def test_what_makes_a_run_cannot_change(coati: Coati, change: tuple[str, str]) -> None:
    with small() as site:
        coati("crawl", site.start, *FAST, "--out", "run", "--max-requests", 1)
        asked = len(site.asked)
        said = coati("crawl", "run", *change)
        assert len(site.asked) == asked
    assert said.code == 2
    assert f"{change[0].strip('-')} is" in said.err
    assert "another folder" in said.err
    assert tomllib.loads(Path("run/run.toml").read_text(encoding="utf-8"))["types"] == "data"


def test_another_start_url_does_not_enter_a_run(coati: Coati) -> None:
    with small() as site:
        coati("crawl", site.start, *FAST, "--out", "run", "--max-requests", 1)
        said = coati("crawl", site.base + "/a", "--out", "run")
    assert said.code == 2
    assert "urls is" in said.err


def test_ctrl_c_finishes_and_saves_and_the_run_goes_on(tmp_path: Path) -> None:
    links = [f"/p{number}" for number in range(100)]
    interrupted = threading.Event()

    def held(exchange: Exchange) -> None:
        # After the fifth request nobody is answered before the interrupt was sent.
        assert len(site.asked) < 5 or interrupted.wait(240)
        exchange.answer(body="<p>nothing")

    with small(**{"/": page(*links), "*": held}) as site:
        command = ("crawl", site.start, *FAST, "--out", "run", "--format", "json")
        process = start_coati(*command, cwd=tmp_path)
        wait_until(lambda: len(site.asked) == 5)
        process.send_signal(signal.SIGINT)
        interrupted.set()
        first = said_by(process)
        asked = len(site.asked)
        second = said_by(start_coati(*command, "--max-requests", first.json["requests"] + 3, cwd=tmp_path))
        paths = [path for path in site.paths if path != "/robots.txt"]
    assert first.code == 130
    assert first.json["stop"] == "interrupted"
    assert first.json["requests"] == asked - 1  # what was in flight was finished; and robots.txt
    assert second.code == 0
    assert second.json["requests"] == first.json["requests"] + 3
    assert len(paths) == len(set(paths))


def test_a_start_that_failed_is_tried_anew(coati: Coati) -> None:
    with small() as site:
        works = site.routes["/"]
        site.routes["/"] = answer(404)
        first = coati("crawl", site.start, *FAST, "--out", "run")
        site.routes["/"] = works
        second = coati("crawl", site.start, *FAST, "--out", "run", "--format", "json")
    assert first.code == 3
    assert "(status 404)" in first.out
    assert second.code == 0
    assert second.json["targets"] == 3


# --- how it ends --------------------------------------------------------------------------------


@pytest.mark.parametrize(("status", "code"), [(404, 3), (500, 3), (403, 4), (401, 4)])
def test_a_start_that_answers_an_error(coati: Coati, status: int, code: int) -> None:
    with small(**{"/": answer(status)}) as site:
        assert coati("crawl", site.start, *FAST).code == code


def test_a_start_that_robots_forbid(coati: Coati) -> None:
    rules = file(b"User-agent: *\nDisallow: /\n", "text/plain")
    with small(**{"/robots.txt": rules}) as site:
        said = coati("crawl", site.start, *FAST)
        assert site.paths == ["/robots.txt"]
    assert said.code == 4
    assert "robots.txt" in said.out


def test_a_start_that_leads_to_another_site(coati: Coati) -> None:
    with small(**{"/": answer(302, Location="http://elsewhere.example/data/")}) as site:
        said = coati("crawl", site.start, *FAST)
    assert said.code == 4
    assert "http://elsewhere.example/data/" in said.err


def test_a_page_without_links_may_need_a_browser(coati: Coati) -> None:
    with small(**{"/": page()}) as site:
        said = coati("crawl", site.start, *FAST)
    assert said.code == 7
    assert "build its pages with JavaScript" in said.err


# --- outages ------------------------------------------------------------------------------------

# Whatever met an outage is asked again before anything else.
PATIENT = ("--limits", "retry_seconds=0s", "--limits", "max_delay_seconds=0.01")


def test_a_name_that_nobody_knows_ends_within_a_few_tries(coati: Coati) -> None:
    said = coati("crawl", "http://nobody.invalid/", *FAST, *PATIENT, "--limits", "allow_private=true")
    assert said.code == 3
    assert "the start page could not be reached (host not found)" in said.out
    report = Path("nobody.invalid/report.html").read_text(encoding="utf-8")
    assert "There was no response." in report
    assert "0 of 1 URL" in report
    assert "Check the URL in a browser" in said.err


def test_a_start_that_is_down_is_crawled_when_it_is_back(coati: Coati, own_port: int) -> None:
    command = ("crawl", f"http://127.0.0.1:{own_port}/", *FAST, *PATIENT, "--out", "run", "--format", "json")
    for _ in range(2):
        down = coati(*command)
        assert (down.code, down.json["failures"], down.json["unreached"]) == (3, 0, 1)
    with scripted(SMALL, port=own_port):
        up = coati(*command)
    assert (up.code, up.json["targets"], up.json["unreached"]) == (0, 3, 0)


def test_what_could_not_be_reached_is_told_and_asked_again(coati: Coati, own_port: int) -> None:
    with scripted(SMALL, port=own_port) as site:
        command = ("crawl", site.start, *FAST, *PATIENT, "--out", "run")
        coati(*command, "--max-requests", 2)
    down = coati(*command, "--max-requests", "none")
    assert down.code == 3
    assert "Stopped: the site stopped responding (connection refused)." in down.out
    assert f"not reached: {site.base}/b.csv (connection refused)" in down.err
    assert "coati crawl run" in down.err
    shown = coati("show", "run")
    assert "1 URL could not be reached at first; 1 still to be retried" in shown.out
    assert "Not reached yet; `coati crawl run` tries again" in shown.out
    assert "Errors" not in shown.out
    report = Path("run/report.html").read_text(encoding="utf-8")
    assert "1 of them did not respond yet" in report
    # Nothing else failed, and what is told to have failed is not told to have not.
    assert "No request failed" not in report
    assert re.findall(r"\d+ of \d+ URLs", report) == ["2 of 6 URLs"]
    explained = coati("explain", "/b.csv", "--run", "run")
    assert "It could not be reached (connection refused) and will be requested again" in explained.out
    with scripted(SMALL, port=own_port):
        up = coati(*command)
    assert up.code == 0
    assert "1 URL could not be reached at first and was requested again" in up.out
    assert coati("show", "run", "--format", "json").json["unreached_addresses"] == []


def test_an_interrupt_ends_the_wait_for_an_outage_at_once(tmp_path: Path) -> None:
    with small(**{"/b.csv": answer(502)}) as site:
        limits = ("--limits", "retry_seconds=1h", "--limits", "max_delay_seconds=0.01")
        command = ("crawl", site.start, *FAST, *limits, "--out", "run", "--format", "json")
        process = start_coati(*command, cwd=tmp_path)
        wait_until(lambda: len(site.asked) == 7)
        process.send_signal(signal.SIGTERM)
        said = said_by(process)
    assert said.code == 130
    assert (said.json["unreached"], said.json["failures"]) == (1, 1)


# --- settings from elsewhere --------------------------------------------------------------------


def test_options_win_over_variables_and_variables_over_the_file(
    coati: Coati, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("my.toml").write_text(
        'types = "documents"\nmax_requests = 1\nseed = 3\nstrategy = "bfs"\ndelay = 0\n', encoding="utf-8"
    )
    monkeypatch.setenv("COATI_MAX_REQUESTS", "2")
    monkeypatch.setenv("COATI_SEED", "4")
    monkeypatch.setenv("COATI_EXCLUDE", "/never/\n/private/")
    monkeypatch.setenv("COATI_QUIET", "1")
    with small() as site:
        said = coati(
            "crawl", site.start, "--run-file", "my.toml", "--seed", 5, "--out", "run", "--format", "json"
        )
    settings = tomllib.loads(Path("run/run.toml").read_text(encoding="utf-8"))
    assert said.err == ""
    assert (settings["types"], settings["max_requests"], settings["seed"]) == ("documents", 2, 5)
    assert settings["exclude"] == ["/never/", "/private/"]


def test_the_url_may_stand_in_the_file(coati: Coati) -> None:
    with small() as site:
        Path("my.toml").write_text(f'urls = ["{site.start}"]\nout = "there"\ndelay = 0', encoding="utf-8")
        said = coati("crawl", "--run-file", "my.toml", "--format", "json")
    assert said.json["folder"] == "there"


def test_the_settings_of_one_run_begin_another(coati: Coati) -> None:
    with small() as site:
        coati("crawl", site.start, *FAST, "--out", "one", "--types", ".csv")
        said = coati("crawl", "--run-file", "one/run.toml", "--out", "two", "--format", "json")
    assert (said.json["types"], said.json["targets"]) == (".csv", 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give a start URL"),
        (("nonsense",), "not a URL"),
        (("empty",), "no run in empty"),
        (("www.example.org",), "did you mean https://www.example.org/?"),
        (("ftp://example.org/",), "http:// or https://"),
        (("URL", "--types", "tabels"), "did you mean 'tables'"),
        (("URL", "--strategy", "bsf"), "did you mean 'bfs'"),
        (("URL", "--strategy", "clairvoyant"), "works only in `coati replay`"),
        (("URL", "--max-requests", "0"), "above zero"),
        (("URL", "--max-time", "0s"), "above zero"),
        (("URL", "--max-bytes", "10 apples"), "not a size"),
        (("URL", "--concurrency", "0"), "at least 1"),
        (("URL", "--include", "("), "not a regular expression"),
        (("URL", "--proxy", "nowhere"), "not a proxy"),
        (("URL", "--cookies", "crumbs"), "not cookies"),
        (("URL", "--header", "nothing"), "not a header"),
        (("http://[::1",), "its host or port is not valid"),
        (("http://example.org:99999/",), "its host or port is not valid"),
        (("ftp://example.org/",), "it must begin with http:// or https://"),
        (("URL", "--limits", "retry=1"), "did you mean 'retries'"),
        (("URL", "--limits", "answer_timeout_seconds=0"), "above 0"),
        (("URL", "--archive-mode", "record"), "--archive"),
        (("URL", "--run-file", "missing.toml"), "cannot be read"),
        (("URL", "--out", "full"), "holds no run"),
        (("URL", "--out", "full/file"), "is a file"),
        (("URL", "--out", "full/file/below"), "cannot write"),
        (("--out", "empty"), "no run in empty"),
        (("URL", "--events", "missing/events.jsonl"), "cannot be written"),
        (("URL", "--max-reqests", "5"), "--max-requests"),
    ],
)
def test_bad_input_is_told_before_anything_is_fetched(
    coati: Coati, arguments: tuple[str, ...], message: str
) -> None:
    Path("full").mkdir()
    Path("full/file").write_text("mine", encoding="utf-8")
    Path("empty").mkdir()
    with small() as site:
        said = coati("crawl", *(site.start if argument == "URL" else argument for argument in arguments))
        assert site.asked == []
    assert said.code == 2
    assert message in said.err
    assert "Traceback" not in said.err
    assert Path("full/file").read_text(encoding="utf-8") == "mine"


NO_CRAWLER = "def build(urls, seed): ...\nclass Empty:\n    def __init__(self, urls, seed): ...\n"


WRONG_PATHS = [
    ("strategy", "nosuch:Crawler", "'nosuch' cannot be imported"),
    ("strategy", "no_crawler:Nope", "has no 'Nope'"),
    ("strategy", "no_crawler:", "write it as my_module:MyName"),
    ("strategy", "no_crawler:Empty", "has no choose"),
    ("strategy", "no_crawler:build", "has no choose"),
    ("profile", "nosuch:Cms", "'nosuch' cannot be imported"),
    ("goal", "nosuch:goal", "'nosuch' cannot be imported"),
]


@pytest.mark.parametrize(
    ("command", "option", "path", "message"),
    [
        (command, *wrong)
        for command in ("crawl", "crawl-list", "harvest")
        for wrong in WRONG_PATHS
        if (command, wrong[0]) != ("harvest", "profile")
    ],
)
def test_a_wrong_path_leaves_nothing_behind(  # noqa: PLR0913, PLR0917 - one parameter per column
    coati: Coati,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    command: str,
    option: str,
    path: str,
    message: str,
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    Path("no_crawler.py").write_text(NO_CRAWLER, encoding="utf-8")
    with small() as site:
        Path("list.txt").write_text(site.start, encoding="utf-8")
        before = {
            "crawl": ("crawl", site.start),
            "crawl-list": ("crawl", "--from-file", "list.txt"),
            "harvest": ("harvest", "list.txt", *(() if option == "goal" else ("--types", "data"))),
        }
        said = coati(*before[command], f"--{option}", path, "--out", "out")
        assert site.asked == []
    sys.modules.pop("no_crawler", None)
    assert said.code == 2
    assert message in said.err
    assert not Path("out").exists()


def test_a_run_that_asked_for_nothing_is_begun_again_with_other_settings(
    coati: Coati, tmp_path: Path
) -> None:
    with small() as site:
        command = ("crawl", site.start, *FAST, "--out", "run", "--format", "json")
        # A process that was killed in its first moments.
        begun = RunStore.create(tmp_path / "run", {"urls": [site.start], "strategy": "dfs"}, 1e9)
        # While it still runs, the folder is its own.
        assert coati(*command, "--strategy", "bfs").code == 6
        begun.close()
        said = coati(*command, "--strategy", "bfs")
    assert (said.code, said.json["resumed"], said.json["targets"]) == (0, False, 3)


def test_secrets_are_not_kept_and_are_asked_for_again(coati: Coati) -> None:
    secret = ("--header", "Authorization: Bearer s3cret", "--cookies", "id=s3cret")
    with small() as site:
        coati("crawl", site.start, *FAST, "--out", "run", "--max-requests", 1, *secret)
        assert site.asked[-1].headers["authorization"] == "Bearer s3cret"
        assert site.asked[-1].headers["cookie"] == "id=s3cret"
        without = coati("crawl", "run", "--max-requests", 2)
        again = coati("crawl", "run", "--max-requests", 2, *secret)
    assert without.code == 2
    assert "COATI_HEADER" in without.err
    assert again.code == 0
    assert "s3cret" not in Path("run/run.toml").read_text(encoding="utf-8")


# --- dry runs, sitemaps, archives ---------------------------------------------------------------


def test_a_dry_run_fetches_two_things_and_leaves_nothing(coati: Coati, tmp_path: Path) -> None:
    rules = b"User-agent: *\nDisallow: /b\nCrawl-delay: 0.1\nSitemap: /map.xml\n"
    start = page("/a", "/b.csv", "/c.png", "https://elsewhere.example/", "/a")
    with small(**{"/": start, "/robots.txt": file(rules, "text/plain")}) as site:
        said = coati("crawl", site.start, *FAST, "--dry-run", "--format", "json")
        words = coati("crawl", site.start, *FAST, "--dry-run")
        assert set(site.paths) == {"/robots.txt", "/"}
    told = said.json
    assert said.code == 0
    assert (told["links"], told["admitted"]) == (4, 1)
    assert told["refused"] == {"out of scope": 1, "blocked extension": 1, "robots.txt": 1}
    assert told["sitemaps"] == [site.base + "/map.xml"]
    assert told["crawl_delay"] == 0.1
    assert told["groups"][0]["examples"] == [site.base + "/a"]
    assert "1 skipped: robots.txt" in words.out
    assert "0.1 s, as robots.txt asks" in words.out
    assert re.search(r"a page, status 200, \d+ B\n", words.out)
    assert "html > body > ul > li > a" in words.out
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_reads_the_rules_of_the_host_that_the_start_page_redirects_to(coati: Coati) -> None:
    # With a mark of its encoding, as some editors write it.
    rules = "\ufeffUser-agent: *\nDisallow: /private\nCrawl-delay: 0.1\n".encode()

    def moved(base: str) -> Site:
        return Site(f"{base}/", {f"{base}/": Response.redirect(base.replace("127.0.0.1", "127.0.0.2") + "/")})

    def home(base: str) -> Site:
        other = base.replace("127.0.0.2", "127.0.0.3")
        links = f"<a href=/a>a</a><a href=/private/b>b</a><a href=/private/c>c</a><a href={other}/d>d</a>"
        pages = {f"{base}/": Response.page(links), f"{base}/robots.txt": Response.file("text/plain", rules)}
        return Site(f"{base}/", pages)

    with serve(moved, home) as server:
        command = ("crawl", server.sites[0].start_url, *FAST, "--dry-run", "--scope", "any")
        told = coati(*command, "--format", "json").json
        asked = [request.url for request in server.requests]
        words = coati(*command)
    assert (told["links"], told["admitted"], told["refused"]) == (4, 2, {"robots.txt": 2})
    assert (told["robots"], told["crawl_delay"]) == ("read; 1 rule", 0.1)
    # Nobody is asked for the rules of hosts that are only linked to.
    assert told["unchecked"] == 1
    assert "1 of these are on other hosts, whose robots.txt is not read yet" in words.out
    assert set(asked) == {site.start_url + path for site in server.sites for path in ("", "robots.txt")}


def test_a_dry_run_tells_robots_that_forbid_from_a_site_that_is_gone(coati: Coati, own_port: int) -> None:
    rules = file(b"User-agent: *\nDisallow: /\n", "text/plain")
    with scripted({**SMALL, "/robots.txt": rules}, port=own_port) as site:
        forbidden = coati("crawl", site.start, *FAST, "--dry-run", "--format", "json")
        assert "/" not in site.paths
    assert forbidden.code == 4
    assert not forbidden.json["start_allowed"]
    assert forbidden.json["robots"] == "read; 1 rule"
    gone = coati("crawl", site.start, *FAST, "--dry-run", "--limits", "retries=0", "--format", "json")
    assert gone.code == 3
    assert gone.json["start_page"] == "connection refused"


@pytest.mark.parametrize(("start", "code"), [(answer(404), 3), (answer(403), 4)])
def test_a_dry_run_says_that_the_start_page_fails(coati: Coati, start: object, code: int) -> None:
    with small(**{"/": start}) as site:
        assert coati("crawl", site.start, *FAST, "--dry-run").code == code


def test_sitemaps_are_start_addresses_and_robots_is_not_charged(coati: Coati) -> None:
    listed = (
        b"<urlset><url><loc>/hidden.csv</loc><lastmod>2024-05-06</lastmod></url><url><loc>/a</loc></url>"
        b"<url><loc>https://elsewhere.example/x</loc></url></urlset>"
    )
    more = {
        "/robots.txt": file(b"Sitemap: /map.xml\n", "text/plain"),
        "/map.xml": file(listed, "application/xml"),
        "/hidden.csv": file(b"h\n"),
    }
    command = (*FAST, "--sitemaps", "--out", "run", "--format", "json")
    with small(**more) as site:
        first = coati("crawl", site.start, *command, "--max-requests", 4)
        second = coati("crawl", site.start, *command, "--max-requests", "none")
        assert site.paths.count("/map.xml") == 1
        # Once in each session, to be obeyed.
        assert site.paths.count("/robots.txt") == 2
    assert first.json["requests"] == 4
    assert second.json["targets"] == 4
    assert second.json["requests"] == 6 + 1 + 1
    with sqlite3.connect("run/run.sqlite") as database:
        assert database.execute("SELECT sum(charged) FROM requests").fetchone() == (8,)
        rows = database.execute(
            "SELECT kind, status, charged, purpose FROM requests"
            " WHERE url LIKE '%map.xml' OR url LIKE '%robots.txt' ORDER BY chosen_event"
        )
        assert rows.fetchall() == [("page", 200, 0, "start"), ("page", 200, 1, "link")]
        query = "SELECT tag_path FROM targets WHERE url LIKE '%hidden.csv'"
        assert database.execute(query).fetchone() == ("urlset > url > loc",)
        query = "SELECT modified FROM links WHERE url LIKE '%hidden.csv'"
        assert database.execute(query).fetchone() == ("2024-05-06T00:00:00.000Z",)
        assert database.execute("SELECT url FROM lists").fetchall() == [(site.base + "/map.xml",)]
        skipped = database.execute("SELECT url, reason FROM skipped ORDER BY url").fetchall()
    assert ("https://elsewhere.example/x", "out of scope") in skipped


def test_a_site_without_robots_may_have_a_sitemap_at_the_usual_place(coati: Coati) -> None:
    listed = file(b"<urlset><url><loc>/hidden.csv</loc></url></urlset>", "application/xml")
    more = {"/robots.txt": answer(404), "/sitemap.xml": listed, "/hidden.csv": file(b"h\n")}
    with small(**more) as site:
        said = coati("crawl", site.start, *FAST, "--sitemaps", "--format", "json")
    assert said.json["targets"] == 4


def test_sitemaps_of_a_site_whose_folder_is_crawled_are_read(coati: Coati) -> None:
    listed = b"<urlset><url><loc>/data/hidden.csv</loc></url><url><loc>/b.csv</loc></url></urlset>"
    more = {
        "/data/": page("/a"),
        "/data/hidden.csv": file(b"h\n"),
        "/sitemap.xml": file(listed, "application/xml"),
    }
    with small(**more) as site:
        rules = ("--scope", "path", "--include", "hidden", "--sitemaps", "--format", "json")
        said = coati("crawl", site.base + "/data/", *FAST, *rules)
    assert (said.json["targets"], said.json["requests"]) == (1, 3)


def test_a_start_page_that_fails_ends_the_crawl_though_robots_is_there(coati: Coati) -> None:
    with small(**{"/": answer(404)}) as site:
        said = coati("crawl", site.start, *FAST, "--sitemaps", "--out", "run", "--format", "json")
        assert (said.code, said.json["stop"]) == (3, "start_unreachable")
        site.routes["/"] = page("/b.csv")
        assert coati("crawl", "run", "--format", "json").json["targets"] == 1


def test_a_crawl_begins_at_several_addresses(coati: Coati) -> None:
    feed = b"<rss><channel><item><title>New</title><link>/fed</link></item></channel></rss>"
    more = {
        "/feed": file(feed, "application/xml"),
        "/fed": page("/fed.csv"),
        "/fed.csv": file(b"f\n"),
        "/other/": page("/other/o.csv"),
        "/other/o.csv": file(b"o\n"),
    }
    with small(**more) as site:
        starts = (site.start, site.base + "/other/", site.base + "/feed")
        said = coati("crawl", *starts, *FAST, "--out", "run", "--format", "json")
        assert site.paths[1:4] == ["/", "/other/", "/feed"]
        assert f"Crawling {' and '.join(starts)}" in said.err
        changed = coati("crawl", *starts[:2], "--out", "run")
        same = coati("crawl", *starts[::-1], "--out", "run", "--format", "json")
    assert (said.json["targets"], said.json["start_url"]) == (5, site.start)
    assert (changed.code, same.code) == (2, 0)
    assert "urls is" in changed.err
    assert tomllib.loads(Path("run/run.toml").read_text(encoding="utf-8"))["urls"] == list(starts)


def test_the_order_of_addresses_makes_no_other_run(coati: Coati) -> None:
    with small() as site:
        starts = (site.start, site.base + "/a")
        coati("crawl", *starts, *FAST, "--out", "run", "--max-requests", 1)
        said = coati("crawl", *starts[::-1], "--out", "run", "--max-requests", 2)
        assert said.code == 0
        assert "is ignored" not in said.err
        # It continues as it began, from the snapshot.
        assert [path for path in site.paths if path != "/robots.txt"] == ["/", "/a"]
    assert tomllib.loads(Path("run/run.toml").read_text(encoding="utf-8"))["urls"] == list(starts)


def test_the_folder_of_a_run_is_no_address_among_others(coati: Coati) -> None:
    with small() as site:
        coati("crawl", site.start, *FAST, "--out", "run", "--max-requests", 1)
        said = coati("crawl", site.start, "run")
    assert said.code == 2
    assert "run is the folder of a run" in said.err


def test_addresses_may_stand_in_a_variable(coati: Coati, monkeypatch: pytest.MonkeyPatch) -> None:
    with small() as site:
        monkeypatch.setenv("COATI_URLS", f"{site.start} {site.base}/a")
        said = coati("crawl", *FAST, "--out", "run", "--max-requests", 2, "--format", "json")
        assert said.code == 0
        assert site.paths[1:] == ["/", "/a"]


def test_without_sitemaps_none_is_asked_for(coati: Coati) -> None:
    with small() as site:
        coati("crawl", site.start, *FAST)
        assert not [path for path in site.paths if "sitemap" in path]


def test_an_archive_keeps_everything_and_answers_next_time(coati: Coati) -> None:
    with small() as site:
        first = coati("crawl", site.start, *FAST, "--out", "one", "--archive", "kept", "--format", "json")
        asked = len(site.asked)
        second = coati("crawl", site.start, *FAST, "--out", "two", "--archive", "kept", "--format", "json")
        assert [seen.path for seen in site.asked[asked:] if seen.path != "/robots.txt"] == []
        mode = ("--archive", "kept", "--archive-mode", "record")
        third = coati("crawl", site.start, *FAST, "--out", "three", *mode, "--format", "json")
        assert len(site.asked) > asked + 5
    assert first.json["targets"] == second.json["targets"] == third.json["targets"] == 3
    with Archive.open(Path("kept")) as archive:
        assert archive.meta.start_url == site.start
        assert archive.body(site.base + "/b.csv") == b"b\n"


def test_progress_is_told_in_plain_lines_where_there_is_no_terminal(
    coati: Coati, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coati.jobs.live_progress.LINE_SECONDS", 0.0)
    with small() as site:
        said = coati("crawl", site.start, *FAST, "--max-requests", 4)
    assert "4 requests, 2 targets" in said.err
    assert "\x1b" not in said.err


def test_a_run_that_never_began_is_begun_again_by_its_folder_alone(coati: Coati) -> None:
    with small(**{"/": answer(404)}) as site:
        assert coati("crawl", site.start, *FAST, "--types", ".csv", "--out", "run").code == 3
        site.routes["/"] = SMALL["/"]
        said = coati("crawl", "run", "--format", "json")
    assert (said.code, said.json["types"], said.json["targets"]) == (0, ".csv", 3)


def test_a_dry_run_names_the_start_page_where_nobody_answers(coati: Coati) -> None:
    said = coati("crawl", "http://127.0.0.1:9/", "--delay", 0, "--dry-run", "--limits", "retries=0")
    assert said.code == 3
    assert "start page:  http://127.0.0.1:9/: connection refused" in said.out


# --- what is said of slips ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--per-host", "4"), "add --concurrency 4"),
        (("--strategy", "clairvoyant"), "only in `coati replay`; strategies for crawls: bfs, dfs"),
        (("--strategy", "sb-oracle"), "only in `coati replay`"),
        (("--archive", "a", "--archive-mode", "replay"), "add --offline"),
    ],
)
def test_a_slip_is_told_in_words_before_anything_is_asked_for(
    coati: Coati, arguments: tuple[str, ...], words: str
) -> None:
    with small() as site:
        said = coati("crawl", site.start, *arguments)
        assert site.paths == []
    assert said.code == 2
    assert words in said.err


def test_a_misspelt_variable_is_warned_of(coati: Coati, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COATI_MAX_REQUEST", "1")
    monkeypatch.setenv("COATI_DELAY", "0")
    said = coati("crawl", "nonsense")
    assert "COATI_MAX_REQUEST is not known; did you mean COATI_MAX_REQUESTS?" in said.err
    assert "COATI_DELAY" not in said.err


@pytest.mark.parametrize(
    ("start", "hint"),
    [
        (file(b"GIF89a", "image/gif"), "is not a page"),
        (file(b"GIF89a", ""), "is not a page"),
        (lambda exchange: exchange.raw(b"HTTP/1.1 204 No Content\r\n\r\n"), "is not a page"),
        (answer(204), "has no links"),
        (file(b"", "text/html"), "has no links"),
        (file(b"<html></html>", ""), "has no links"),
    ],
)
def test_a_start_that_leads_nowhere_is_told(coati: Coati, start: Route, hint: str) -> None:
    with scripted({"/": start}) as site:
        said = coati("crawl", site.start, "--delay", "0", "--out", "run", "--format", "json")
    assert (said.code, said.json["exit_code"]) == (7, 7)
    assert hint in said.err
    (warning,) = said.json["warnings"]
    assert hint in warning


def test_a_run_that_another_process_holds_is_told_apart_from_wrong_input(
    coati: Coati, tmp_path: Path
) -> None:
    with small() as site:
        command = ("crawl", site.start, *FAST, "--out", "run")
        assert coati(*command).code == 0
        with RunStore.open(tmp_path / "run", 2e9):
            said = coati(*command, "--max-requests", 99)
    assert said.code == 6
    assert "is in use by" in said.err


@pytest.mark.parametrize("command", ["crawl", "show", "report"])
def test_a_run_of_an_older_log_is_refused_in_words(coati: Coati, tmp_path: Path, command: str) -> None:
    with small() as site:
        assert coati("crawl", site.start, *FAST, "--out", "run").code == 0
    connection = sqlite3.connect(tmp_path / "run" / "run.sqlite")
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    said = coati(command, "run")
    assert said.code == 2
    assert "whose log has the older version 1" in said.err
    assert "Traceback" not in said.err


def test_a_listing_goes_on_after_a_run_of_an_older_log(coati: Coati, tmp_path: Path) -> None:
    with small() as site:
        for name in ("old", "new"):
            assert coati("crawl", site.start, *FAST, "--out", name).code == 0
    connection = sqlite3.connect(tmp_path / "old" / "run.sqlite")
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    said = coati("runs", ".", "--format", "json")
    assert said.code == 0
    assert said.json["folder"] == "new"
    assert "older version 1" in said.err


@pytest.mark.parametrize(
    ("address", "words"),
    [("search://", "search://ENGINE/?q=words"), ("search://nobody/?q=x", "'nobody' is not a search engine")],
)
def test_a_search_address_is_told_from_a_wrong_url(coati: Coati, address: str, words: str) -> None:
    said = coati("crawl", address)
    assert said.code == 2
    assert words in said.err
    assert "begin with http" not in said.err


def test_verbose_says_what_each_answer_was(coati: Coati, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coati.live.event_loop.STALL_SECONDS", -1.0)
    with small() as site:
        said = coati("crawl", site.start, *FAST, "--out", "run", "-v")
        assert f"target, 200, 2 B: {site.base}/b.csv" in said.err
        assert "The crawl stalled" in said.err
        assert "target, 200" not in coati("crawl", site.start, *FAST, "--out", "other").err
        assert coati("crawl", site.start, "-q", "-v").code == 2
