"""Servers at their worst: every fault has an outcome, a reason that is counted, and an end."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from coati.live import EventKind, StopReason
from coati.runs.skip_reasons import REASONS
from tests.live.conftest import no_patience_with, path_of
from tests.live.crawling import crawl_from, crawl_into
from tests.nasty_server import BOMBS, FILE_NAMES, PRIVATE_URLS, Packets, Robots, gzip_bomb, nasty_server

IS_PRIVATE = "coati.live.private_addresses.is_private"

# Each limit is a setting. What should end by itself has so much time that it can only fail by never ending.
PATIENT = {
    "max_page_bytes": 1_000_000,
    "max_file_bytes": 2_000_000,
    "stream_above_bytes": 100_000,
    "connect_timeout_seconds": 30.0,
    "answer_timeout_seconds": 30.0,
    "download_timeout_seconds": 60.0,
    "min_bytes_per_second": 1000,
    "slow_window_seconds": 30.0,
    "max_delay_seconds": 0.05,
}
NO_ANSWER = {"connect_timeout_seconds": 0.5, "answer_timeout_seconds": 0.7}
TOO_SLOW = {"slow_window_seconds": 0.5}

# What ends by a time-out, and by which.
LIMITS = {
    "/silent": NO_ANSWER,
    "/length-too-long": NO_ANSWER,
    "/slow-headers": NO_ANSWER,
    "/trickle": TOO_SLOW,
}

BAD_ANSWER = ("failure", "response is not valid HTTP", {"response is not valid HTTP": 1})

# Packed beforehand: it takes the server longer than some tests wait.
gzip_bomb()

# What comes of asking for a path alone: the outcome, its reason, and the drops that are counted.
FAULTS = {
    "/good.csv": ("target", None, {}),
    "/reset": ("deferred", "connection lost", {}),
    "/close": ("deferred", "connection lost", {}),
    "/silent": ("deferred", "no response in time", {}),
    "/drop-mid-body": ("page", None, {"dataloss": 1}),
    "/drop-mid-file.csv": ("deferred", "body shorter than declared", {}),
    "/reset-mid-body": ("page", None, {"dataloss": 1}),
    "/reset-without-length.csv": ("deferred", "body shorter than declared", {}),
    "/length-too-short": ("page", None, {}),
    "/length-too-long": ("deferred", "no response in time", {}),
    "/length-negative": BAD_ANSWER,
    "/two-lengths": BAD_ANSWER,
    "/broken-chunks": BAD_ANSWER,
    "/overlong-chunk": BAD_ANSWER,
    "/huge-chunk-size": BAD_ANSWER,
    "/bad-trailer": BAD_ANSWER,
    "/endless-trailers": BAD_ANSWER,
    "/unfinished-chunks": ("page", None, {"dataloss": 1}),
    "/trickle": ("failure", "body too slow", {"body too slow": 1}),
    "/endless": ("page", None, {"cut": 1}),
    "/endless.csv": ("failure", "too large", {"too large": 1}),
    "/huge-page": ("page", None, {"cut": 1}),
    "/huge.csv": ("failure", "too large", {"too large": 1}),
    "/gzip-bomb": ("page", None, {"cut": 1}),
    "/gzip-bomb.csv": ("failure", "too large", {"too large": 1}),
    "/gzip-of-gzip": ("failure", "unknown compression", {"unknown compression": 1}),
    "/broken-gzip": ("page", None, {"dataloss": 1}),
    "/broken-deflate": ("page", None, {"dataloss": 1}),
    "/broken-gzip.csv": ("deferred", "compressed body is incomplete", {}),
    "/wrong-gzip.csv": ("failure", "body cannot be decompressed", {"body cannot be decompressed": 1}),
    "/unasked-part.csv": ("deferred", "unrequested partial response", {}),
    "/part-that-is-all.csv": ("target", None, {}),
    "/no-content.csv": ("failure", "no content", {}),
    "/accepted.csv": ("deferred", "the server is still preparing it", {}),
    "/missing-and-broken": ("failure", "status 404", {}),
    "/not-gzip": ("failure", "body cannot be decompressed", {"body cannot be decompressed": 1}),
    "/unknown-encoding": ("page", None, {}),
    "/unknown-encoding.csv": ("failure", "unknown compression", {"unknown compression": 1}),
    "/unreadable-encoding": ("failure", "unknown compression", {"unknown compression": 1}),
    "/two-encodings.csv": ("target", None, {}),
    "/packed-for-the-way.csv": ("target", None, {}),
    "/squeezed-for-the-way.csv": ("failure", "unknown compression", {"unknown compression": 1}),
    "/charset-as-encoding.csv": ("target", None, {}),
    "/endless-headers": BAD_ANSWER,
    "/huge-header": BAD_ANSWER,
    "/many-headers": BAD_ANSWER,
    "/bad-header": BAD_ANSWER,
    "/slow-headers": ("deferred", "no response in time", {}),
    "/no-http": BAD_ANSWER,
    "/bad-status": BAD_ANSWER,
    "/status-999": ("failure", "status 999", {}),
    "/wrong-charset": ("page", None, {}),
    "/unknown-charset": ("page", None, {}),
    "/utf-16": ("page", None, {}),
    "/strange-type": ("target", None, {}),
    "/no-type.csv": ("target", None, {}),
    "/no-type.html": ("page", None, {}),
    "/video": ("other", None, {"blocked media type": 1}),
    "/redirect-self": ("failure", "redirect loop", {"redirect loop": 1}),
    "/deep": ("page", None, {}),
    "/bad-urls": ("page", None, {}),
}


@pytest.mark.parametrize("packets", Packets)
@pytest.mark.parametrize("path", FAULTS)
def test_every_fault_ends_with_its_reason(path: str, packets: Packets) -> None:
    outcome, reason, drops = FAULTS[path]
    settings = {**PATIENT, **LIMITS.get(path, {}), "robots": False, "max_requests": 1}
    with nasty_server(packets=packets) as server:
        start = server.url(path)
        crawled = crawl_from(start, **settings)
    told = crawled.observed[start]
    assert (told["kind"], told.get("reason")) == (outcome, reason)
    assert crawled.result.progress.drops == drops


@pytest.mark.parametrize("packets", Packets)
@pytest.mark.parametrize(
    "path", ["/drop-mid-body", "/huge-page", "/wrong-charset", "/utf-16", "/unknown-charset", "/bad-urls"]
)
def test_the_links_of_a_damaged_page_are_followed(path: str, packets: Packets) -> None:
    with nasty_server(packets=packets) as server:
        crawl_from(server.url(path), **{**PATIENT, "robots": False, "max_requests": 9})
        assert server.count("/good.csv") == 1


def test_bytes_beyond_the_declared_length_harm_nobody() -> None:
    with nasty_server() as server:
        crawl_from(server.url("/length-too-short"), **{**PATIENT, "robots": False, "max_requests": 1})
        crawled = crawl_from(server.url("/good.html"), **PATIENT)
    assert crawled.result.progress.targets == 1


def test_chains_of_redirects_end(tmp_path: Path) -> None:
    with nasty_server() as server:
        crawled = crawl_into(tmp_path / "run", server.url("/redirects"), robots=False, max_redirects=5)
        asked = len(server.requests)
    assert asked == 6
    assert crawled.told(EventKind.OBSERVED)[-1]["reason"] == "too many redirects"
    assert set(crawled.skipped.values()) == {"too many redirects"} <= set(REASONS)


def test_a_loop_of_redirects_ends() -> None:
    with nasty_server() as server:
        crawled = crawl_from(server.url("/redirect-loop/a"), robots=False)
        asked = len(server.requests)
    assert asked == 2
    assert crawled.result.stop is StopReason.FINISHED


def test_redirects_to_nowhere_are_failures() -> None:
    with nasty_server() as server:
        crawled = crawl_from(server.url("/redirect-elsewhere/"), robots=False)
    reasons = [told["reason"] for told in crawled.told(EventKind.OBSERVED) if told["kind"] == "failure"]
    assert set(reasons) == {"redirect without a usable location"}
    assert len(reasons) >= 6


def test_nothing_private_is_asked_from_a_public_start(monkeypatch: pytest.MonkeyPatch) -> None:
    from coati.live.private_addresses import is_private

    with nasty_server() as server:
        monkeypatch.setattr(IS_PRIVATE, lambda a: a != server.host and is_private(a))
        start = server.url("/redirect-private/")
        crawled = crawl_from(
            start, **{**PATIENT, "robots": False, "allow_private": False, "rules": any_url(start)}
        )
    private = {url for url, reason in crawled.skipped.items() if reason == "private address"}
    # 127.0.0.1 is the server itself here, and so are the numbers that mean it.
    assert len(private) >= len(PRIVATE_URLS) - 4
    assert {"http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[::1]/"} <= private
    assert crawled.result.progress.pages == 1


def any_url(start_url: str) -> "object":
    from coati.web.rules import Rules

    class AnyUrl(Rules):
        def refusal(self, url: str) -> None:
            return None

    return AnyUrl(start_url)


def test_names_of_files_stay_in_the_folder(tmp_path: Path) -> None:
    with nasty_server() as server:
        crawled = crawl_into(tmp_path / "run", server.url("/names/"), robots=False)
    assert crawled.result.progress.targets == len(FILE_NAMES)
    assert {path.name for path in tmp_path.iterdir()} == {"run"}
    assert len(list((tmp_path / "run" / "files").iterdir())) == len(FILE_NAMES)


@pytest.mark.parametrize(
    ("robots", "allowed"),
    [
        (Robots.ALLOW, True),
        (Robots.FORBID, False),
        (Robots.MISSING, True),
        (Robots.DENIED, True),
        (Robots.ERROR, False),
        (Robots.REDIRECTED, True),
        (Robots.LOOP, True),
        (Robots.HUGE, True),
        (Robots.ENDLESS, True),
        (Robots.SILENT, False),
        (Robots.PAGE, True),
        (Robots.GARBAGE, True),
    ],
)
def test_every_kind_of_rules_is_read_as_the_standard_says(robots: Robots, *, allowed: bool) -> None:
    limits = NO_ANSWER if robots is Robots.SILENT else {}
    with nasty_server(robots=robots) as server:
        crawled = crawl_from(server.url("/good.html"), **{**PATIENT, **limits})
        assert server.count("/good.html") == allowed
    # Who cannot tell the rules refuses nobody.
    unknown = robots in {Robots.SILENT, Robots.ERROR}
    refused = StopReason.START_UNREACHABLE if unknown else StopReason.REFUSED
    assert (crawled.result.stop is refused) is not allowed


def test_rules_that_forbid_a_folder_are_kept_wherever_they_were_found() -> None:
    for robots in (Robots.ALLOW, Robots.REDIRECTED):
        with nasty_server(robots=robots) as server:
            crawl_from(server.url("/forbidden/"), **PATIENT)
            assert server.count("/forbidden/") == 0


MEASURED = """
    import resource, sys
    from tests.live.crawling import crawl_from
    from tests.live.test_hostile import PATIENT

    crawl_from(sys.argv[1], **{**PATIENT, "robots": False, "max_requests": 1})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for url in sys.argv[2:]:
        crawl_from(url, **{**PATIENT, "robots": False, "max_requests": 1, "max_page_bytes": 5_000_000})
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_memory_stays_bounded_whatever_comes() -> None:
    paths = [
        "/huge-page",
        "/endless",
        "/gzip-bomb",
        "/gzip-bomb.csv",
        "/endless.csv",
        "/endless-headers",
        "/huge-header",
    ]
    with nasty_server() as server:
        urls = [server.url(path) for path in ("/good.html", *paths)]
        command = [sys.executable, "-c", textwrap.dedent(MEASURED), *urls]
        grown = int(subprocess.check_output(command, text=True, cwd=Path(__file__).parents[2]))
    # A page of 5 MB makes a tree of some ten times that; the bomb alone would take 256.
    assert grown < 120


BOMB = """
    import resource, sys
    from coati.live import crawl
    from coati.assembly import build_strategy
    from tests.live.crawling import plan_for

    def crawl_one(url):
        strategy = lambda: build_strategy("scent", [url], 0)
        settings = {"robots": False, "max_requests": 1, "answer_timeout_seconds": 60.0}
        return crawl(plan_for(url, new_strategy=strategy, **settings)).progress

    crawl_one(sys.argv[1])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    progress = crawl_one(sys.argv[2])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    print(grown, progress.pages, progress.drops.get("cut", 0))
"""

CUT_BOMBS = {"long-base", "many-links", "many-elements"}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", BOMBS)
def test_no_page_takes_much_memory_or_time(name: str) -> None:
    with nasty_server() as server:
        urls = [server.url("/good.html"), server.url(f"/bombs/{name}")]
        command = [sys.executable, "-c", textwrap.dedent(BOMB), *urls]
        told = subprocess.check_output(command, text=True, cwd=Path(__file__).parents[2])
    grown, pages, cut = map(int, told.split())
    assert (pages, cut) == (1, name in CUT_BOMBS)
    assert grown < 300, grown


def test_a_crawl_meets_every_fault_and_still_gets_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is good has time to get its answer while the largest page is read.
    no_patience_with(monkeypatch, lambda request: path_of(request) in LIMITS)
    with nasty_server() as server:
        crawled = crawl_into(
            tmp_path / "run",
            server.url("/"),
            **{**PATIENT, "concurrency": 8, "per_host": 8, "max_requests": 250},
        )
    assert crawled.result.stop in {StopReason.BUDGET_REQUESTS, StopReason.FINISHED}
    assert crawled.observed[server.url("/good.csv")]["kind"] == "target"
    assert crawled.skipped[server.url("/forbidden/")] == "robots.txt"
    assert len(crawled.result.progress.drops) > 8
