"""``coati crawl`` killed at fifty moments: what it counted is there, and it continues as if nothing had been.

The moments are spread over starting up, restoring and crawling. The command runs in a process of its own, and
the site is asked over HTTP with some latency, so that most kills meet a request in flight. Some of these
processes are begun as a user begins them, with all that Python does at its start. Most are forked from one
that has its modules loaded, since otherwise loading them would take nearly all of the time.

Nothing depends on who is faster: the server answers as many requests as a kill is to come after, and keeps
the next one waiting, so that no crawl is done before it is killed.
"""

import hashlib
import multiprocessing
import os
import random
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from coati.cli.main import run
from coati.testing.api_answers import ApiFile
from coati.testing.apis import with_api
from coati.testing.server import SiteServer, serve
from coati.testing.site import Response, Site
from tests.cli.commands import said_by, start_coati
from tests.live.scripted import clock, pause
from tests.site_lists import with_lists
from tests.waiting import PATIENCE_SECONDS, wait_until

CONCURRENCY = 1

LATENCY = 0.01

LOADED = [
    "tests.cli.test_kill",
    "coati.cli.crawl",
    "coati.live.scheduler",
    "coati.live.streaming",
    "coati.live.stop_at_headers",
    "coati.live.pace",
    "scrapy.core.engine",
    "scrapy.downloadermiddlewares.cookies",
    "scrapy.downloadermiddlewares.httpcompression",
    "scrapy.downloadermiddlewares.robotstxt",
    "scrapy.robotstxt",
    "protego",
]
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(LOADED)


def make_site(base: str) -> Site:
    """Make lists of pages, pages with files, and files of 20 to 200 KB, some of them equal; 121 URLs."""
    rng = random.Random(7)
    responses: dict[str, Response] = {}

    def page(path: str, *links: str) -> None:
        anchors = "".join(f'<li class="row"><a href="{link}">{link}</a></li>' for link in links)
        responses[base + path] = Response.page(f"<title>{path}</title><ul class=list>{anchors}</ul>")

    page("/", *(f"/topic/{number}" for number in range(8)))
    for topic in range(8):
        page(f"/topic/{topic}", "/", *(f"/set/{topic}-{number}" for number in range(6)))
        for number in range(6):
            name = f"{topic}-{number}"
            file = f"/files/{name}.csv"
            page(f"/set/{name}", "/", f"/topic/{topic}", file, *([f"/about/{name}"] if number < 2 else []))
            size = rng.randrange(20_000, 200_000)
            equal = number == 5
            body = (b"same,for,all\n" * 2_000) if equal else rng.randbytes(size // 2).hex().encode()
            responses[base + file] = Response.file("text/csv", body)
            if number < 2:
                page(f"/about/{name}", "/")
    return Site(base + "/", responses)


SITEMAPS = 24


def make_listed_site(base: str) -> Site:
    """Make a site whose pages lead to nothing: its files stand in sitemaps, which are most of its URLs."""
    files = {
        f"{base}/files/{number}.csv": Response.file("text/csv", b"number\n%d\n" % number)
        for number in range(2 * SITEMAPS)
    }
    pages = {base + "/": Response.page("<p>Nothing"), base + "/more/": Response.page("<a href=/files/0.csv>")}
    return with_lists(Site(base + "/", {**files, **pages}), SITEMAPS, share=1)


API_FILES = 120


def make_site_with_api(base: str) -> Site:
    """Make a site whose API lists every second of its files, a few per page; pages link to all of them."""
    files = [f"/files/{number}.csv" for number in range(API_FILES)]
    pages = [f"/news/{number}.html" for number in range(API_FILES // 6)]
    responses = {
        base + path: Response.page("".join(f"<a href={file}>x</a>" for file in files[6 * at : 6 * at + 6]))
        for at, path in enumerate(pages)
    }
    responses |= {base + path: Response.file("text/csv", path.encode()) for path in files}
    responses[base + "/"] = Response.page("".join(f"<a href={page}>x</a>" for page in pages))
    half = [ApiFile(base + path, path) for path in files[::2]]
    return with_api(Site(base + "/", responses), "drupal", files=half, most=4)


def check_counted_targets(folder: Path) -> None:
    """Every target that the log counts is in ``files/``, whole."""
    database = folder / "run.sqlite"
    if not database.exists() or database.stat().st_size == 0:
        return
    with sqlite3.connect(database) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if "targets" not in tables:
            return
        rows = connection.execute("SELECT targets.file, targets.sha256 FROM targets").fetchall()
    for name, sha256 in rows:
        assert hashlib.sha256((folder / "files" / name).read_bytes()).hexdigest() == sha256


def chosen_in(folder: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(folder / "run.sqlite") as database:
        return list(database.execute("SELECT method, url FROM requests ORDER BY chosen_event"))


def asked_of(server: SiteServer) -> Counter[tuple[str, str]]:
    return Counter(
        (seen.method, seen.url) for seen in server.requests if not seen.url.endswith("/robots.txt")
    )


def crawl(server: SiteServer, folder: Path) -> list[str]:
    return ["crawl", server.url, "--delay", "0", "--seed", "3", "--quiet", "--out", str(folder)]


class Started(Protocol):
    """A command that runs."""

    def running(self) -> bool: ...

    def kill(self) -> None:
        """Kill it; it must not have ended before."""

    def ended(self) -> int:
        """Wait for it; gives its exit code."""


class Command:
    """The command as a user starts it."""

    def __init__(self, arguments: list[str]) -> None:
        self._process = start_coati(*arguments, cwd=Path(arguments[-1]).parent)

    def running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()
        _, said = self._process.communicate()
        assert self._process.returncode == -signal.SIGKILL, said

    def ended(self) -> int:
        return said_by(self._process).code


class Fork:
    """The command in a process whose modules are loaded."""

    def __init__(self, arguments: list[str]) -> None:
        self._process = FORKS.Process(target=run_quietly, args=(arguments,))
        self._process.start()

    def running(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        self._process.kill()
        self._process.join()
        assert self._process.exitcode == -signal.SIGKILL

    def ended(self) -> int:
        self._process.join(PATIENCE_SECONDS)
        assert self._process.exitcode is not None
        return self._process.exitcode


def run_quietly(arguments: list[str]) -> None:
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        sys.stdout = sys.stderr = nowhere
        sys.exit(run(arguments))


def kill_some_time(
    begin: Callable[[list[str]], Started],
    server: SiteServer,
    arguments: list[str],
    rng: random.Random,
    most_requests: int,
) -> bool:
    """Start a crawl and kill it; says whether it had asked for anything.

    Most kills come some moment after one of the next ``most_requests`` requests was answered. Some come
    before, a short time after the start of the process: those meet starting up and restoring.
    """
    before = len(server.requests)
    early = rng.uniform(0.05, 0.8) if rng.random() < 0.25 else None
    answers = rng.randint(1, most_requests)
    server.hold_after(answers)
    process = begin(arguments)
    give_up = clock() + (early or PATIENCE_SECONDS)
    try:
        wait_until(
            lambda: len(server.requests) == before + answers or clock() > give_up or not process.running()
        )
        pause(rng.uniform(0.0, 2 * LATENCY))
    finally:
        process.kill()
    # Until then, the server may answer what was in flight.
    wait_until(lambda: not server.connections)
    server.release()
    asked = len(server.requests) > before
    assert asked or early is not None
    return asked


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with serve(make_site, latency=LATENCY) as serving:
        yield serving


@pytest.fixture(scope="module")
def undisturbed(server: SiteServer, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    server.requests.clear()
    assert Fork(crawl(server, folder)).ended() == 0
    return chosen_in(folder)


@pytest.mark.parametrize(
    ("begin", "times", "seed"), [(Command, 5, 0), (Fork, 15, 1), (Fork, 15, 2), (Fork, 15, 3)]
)
def test_a_killed_crawl_loses_nothing(
    server: SiteServer,
    undisturbed: list[tuple[str, str]],
    tmp_path: Path,
    begin: Callable[[list[str]], Started],
    times: int,
    seed: int,
) -> None:
    folder, rng = tmp_path / "run", random.Random(seed)
    server.requests.clear()
    most_requests = len(undisturbed) // times - 2
    amid = 0
    for _ in range(times):
        amid += kill_some_time(begin, server, crawl(server, folder), rng, most_requests)
        check_counted_targets(folder)
    assert begin(crawl(server, folder)).ended() == 0
    check_counted_targets(folder)

    # Else the test would show nothing.
    assert amid >= 2

    # As if nothing had been.
    assert chosen_in(folder) == undisturbed

    # All of the site's files, once each.
    expected = {url for url in server.site if url.endswith(".csv")}
    with sqlite3.connect(folder / "run.sqlite") as database:
        targets = [url for (url,) in database.execute("SELECT url FROM targets")]
        files = dict(database.execute("SELECT name, sha256 FROM files"))
    assert sorted(targets) == sorted(expected)
    assert {path.name for path in (folder / "files").iterdir()} == set(files)
    bodies = {hashlib.sha256((folder / "files" / name).read_bytes()).hexdigest() for name in files}
    assert bodies == set(files.values())
    assert len(files) == 8 * 5 + 1

    # Only what was in flight at a kill was asked for again.
    asked_for = asked_of(server)
    repeats = {request: times - 1 for request, times in asked_for.items() if times > 1}
    assert sum(repeats.values()) <= amid * CONCURRENCY
    assert set(asked_for) == set(undisturbed)


@pytest.mark.parametrize(("strategy", "seed"), [("bfs", 4), ("scent", 5)])
def test_a_crawl_that_is_killed_among_its_sitemaps_loses_nothing(
    tmp_path: Path, strategy: str, seed: int
) -> None:
    rng = random.Random(seed)

    def command(name: str) -> list[str]:
        starts = [serving.url, serving.url + "more/", serving.url + "feed"]
        how = ["--sitemaps", "--strategy", strategy, "--no-stop-when-dry", "--delay", "0", "--quiet"]
        return ["crawl", *starts, *how, "--out", str(tmp_path / name)]

    with serve(make_listed_site, latency=LATENCY) as serving:
        assert Fork(command("whole")).ended() == 0
        whole = chosen_in(tmp_path / "whole")
        serving.requests.clear()
        kills = amid = read = 0
        while read < SITEMAPS // 2:
            amid += kill_some_time(Fork, serving, command("run"), rng, 5)
            kills += 1
            read = len({url for _, url in asked_of(serving) if "sitemap-" in url})
        # Half of the sitemaps were read before the last kill, and the rest was not.
        assert read < SITEMAPS
        assert kills >= 4
        assert Fork(command("run")).ended() == 0
        asked_for = asked_of(serving)
    assert chosen_in(tmp_path / "run") == whole
    assert {url for _, url in whole} >= {url for url in serving.site if url.endswith(".csv")}
    assert set(asked_for) == {request for request in whole if not request[1].endswith("/robots.txt")}
    assert sum(asked_for.values()) - len(asked_for) <= amid * CONCURRENCY
    for table in ("lists", "links", "targets"):
        assert rows_of(tmp_path / "run", table) == rows_of(tmp_path / "whole", table)


def test_a_crawl_that_is_killed_among_the_pages_of_an_api_loses_nothing(tmp_path: Path) -> None:
    rng = random.Random(6)

    def command(name: str) -> list[str]:
        how = ["--no-stop-when-dry", "--delay", "0", "--seed", "3", "--quiet"]
        return ["crawl", serving.url, *how, "--out", str(tmp_path / name)]

    with serve(make_site_with_api, latency=LATENCY) as serving:
        assert Fork(command("whole")).ended() == 0
        whole = chosen_in(tmp_path / "whole")
        serving.requests.clear()
        amid = 0
        for _ in range(8):
            amid += kill_some_time(Fork, serving, command("run"), rng, 18)
            check_counted_targets(tmp_path / "run")
        assert Fork(command("run")).ended() == 0
        asked_for = asked_of(serving)
    assert chosen_in(tmp_path / "run") == whole
    assert len([url for _, url in whole if "/jsonapi/" in url]) == API_FILES // 2 // 4
    assert {url for _, url in whole if url.endswith(".csv")} == {
        url for url in serving.site if url.endswith(".csv")
    }
    assert sum(asked_for.values()) - len(asked_for) <= amid * CONCURRENCY
    for table in ("lists", "links", "targets", "pages"):
        assert rows_of(tmp_path / "run", table) == rows_of(tmp_path / "whole", table)


def rows_of(folder: Path, table: str) -> list[tuple[str, ...]]:
    query = {
        "lists": "SELECT url, named_by FROM lists ORDER BY url",
        "links": "SELECT page, url, tag_path, modified FROM links ORDER BY id",
        "targets": "SELECT url, file FROM targets ORDER BY request",
        "pages": "SELECT url, hex(out_links) FROM pages ORDER BY request",
    }
    with sqlite3.connect(folder / "run.sqlite") as database:
        return database.execute(query[table]).fetchall()
