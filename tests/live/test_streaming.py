"""The download handler: what it takes, what it refuses, and how much memory that needs."""

import gzip
import subprocess
import sys
import textwrap
import threading
import zlib
from pathlib import Path

import pytest
from scrapy.exceptions import DownloadTimeoutError

from coati.live import streaming
from coati.live.answer_bytes import BodySpeed
from coati.live.failures import DownloadError, FailureReason
from coati.live.outcomes import BODY_BYTES, BODY_FILE
from coati.live.response_body import Body, BodyLimits
from coati.runs.errors import RunWriteError
from coati.testing.server import serve
from coati.testing.site import Response, Site
from tests.live.crawling import crawl_from, crawl_into
from tests.live.plain_spider import run_spider
from tests.live.scripted import Exchange, file, in_turn, page, scripted

KIB = 1024
ALONE = {
    "DOWNLOAD_HANDLERS": {"http": "coati.live.streaming.StreamingDownloadHandler"},
    "COATI_ALLOW_PRIVATE": True,
    "RETRY_ENABLED": False,
}


def test_small_bodies_stay_in_memory_and_large_ones_go_to_a_file(tmp_path: Path) -> None:
    settings = {**ALONE, "COATI_STREAM_ABOVE_BYTES": 1000, "COATI_STREAM_DIR": str(tmp_path)}
    large = bytes(range(256)) * 100
    with scripted({"/s": file(b"s" * 1000), "/l": file(large)}) as server:
        spider = run_spider([server.base + "/s", server.base + "/l"], settings)
    small, streamed = spider.responses
    assert (small.body, BODY_FILE in small.meta) == (b"s" * 1000, False)
    assert (streamed.body, streamed.meta[BODY_BYTES]) == (b"", len(large))
    assert Path(streamed.meta[BODY_FILE]).read_bytes() == large
    assert Path(streamed.meta[BODY_FILE]).parent == tmp_path


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "identity"])
def test_compressed_bodies_are_undone_in_memory_and_on_disk(encoding: str, tmp_path: Path) -> None:
    plain = b"a,b,c\n" * 20_000
    packed = pack(plain, encoding)

    def answer(exchange: Exchange) -> None:
        assert encoding == "identity" or encoding in exchange.headers["Accept-Encoding"]
        exchange.answer(body=packed, media_type="text/csv", Content_Encoding=encoding)

    for above in (1000, 10_000_000):
        settings = {**ALONE, "COATI_STREAM_ABOVE_BYTES": above, "COATI_STREAM_DIR": str(tmp_path)}
        with scripted({"/": answer}) as server:
            (response,) = run_spider([server.start], settings).responses
        kept = response.meta.get(BODY_FILE)
        assert (Path(kept).read_bytes() if kept else response.body) == plain
        assert "Content-Encoding" not in response.headers


class NoWaiting:
    """Stands for the spacing of bytes; it counts them, and lets them come at once."""

    def __init__(self) -> None:
        self.counted: list[tuple[int, int]] = []

    def seconds_to_wait(self, size_bytes: int, bytes_per_second: int, now: float) -> float:
        self.counted.append((size_bytes, bytes_per_second))
        return 0.0


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_what_came_off_the_wire_is_spaced_where_there_is_a_limit(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spacing = NoWaiting()
    monkeypatch.setattr(streaming, "byte_spacing_of_loop", lambda: spacing)
    packed = pack(b"a,b,c\n" * 50_000, encoding)
    with scripted(
        {"/": lambda told: told.answer(200, packed, "text/csv", Content_Encoding=encoding)}
    ) as server:
        (unlimited,) = run_spider([server.start], ALONE).responses
        assert spacing.counted == []
        (response,) = run_spider([server.start], {**ALONE, "COATI_LIMIT_RATE": 4096}).responses
    assert response.body == unlimited.body
    assert sum(size for size, _ in spacing.counted) == len(packed)
    assert {rate for _, rate in spacing.counted} == {4096}


def test_a_body_that_waits_for_us_is_not_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("coati.live.answer_bytes.time.monotonic", lambda: now)
    speed = BodySpeed(1000, 30.0)
    speed.exclude_pause(3600.0)
    now += 3600.0
    speed.check(5)
    now += 30.0
    with pytest.raises(DownloadError, match=FailureReason.TOO_SLOW):
        speed.check(10)


def pack(plain: bytes, encoding: str) -> bytes:
    if encoding == "gzip":
        return gzip.compress(plain)
    if encoding == "deflate":
        return zlib.compress(plain)
    if encoding == "br":
        return bytes(pytest.importorskip("brotli").compress(plain))
    if encoding == "zstd":
        zstd = (
            pytest.importorskip("backports.zstd")
            if sys.version_info < (3, 14)
            else __import__("compression.zstd")
        )
        return bytes(zstd.compress(plain))
    return plain


def test_a_large_target_lands_in_the_run_folder(tmp_path: Path) -> None:
    body = b"0123456789abcdef" * 200 * KIB
    with scripted({"/": page("/a.csv"), "/a.csv": file(body)}) as server:
        crawled = crawl_into(tmp_path / "run", server.start, stream_above_bytes=64 * KIB)
    assert crawled.result.progress.targets == 1
    (kept,) = (tmp_path / "run" / "files").glob("*.csv")
    assert kept.read_bytes() == body
    assert crawled.result.progress.bytes > len(body)


def test_a_large_file_may_be_read_by_whom_a_small_one_may(tmp_path: Path) -> None:
    routes = {"/": page("/a.csv", "/b.csv"), "/a.csv": file(b"x,y\n" * KIB), "/b.csv": file()}
    with scripted(routes) as server:
        crawl_into(tmp_path / "run", server.start, stream_above_bytes=KIB)
    large, small = sorted((tmp_path / "run" / "files").glob("*.csv"))
    assert large.stat().st_size > small.stat().st_size
    assert large.stat().st_mode == small.stat().st_mode


def test_without_a_run_folder_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scripted({"/": page("/a.csv"), "/a.csv": file(b"x" * 200_000)}) as server:
        crawl_from(server.start, stream_above_bytes=1000)
    assert list(tmp_path.iterdir()) == []


MEASURED = """
    import resource, sys
    from pathlib import Path
    from tests.live.crawling import crawl_into

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    crawled = crawl_into(Path(sys.argv[2]), sys.argv[1], robots=False)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(crawled.result.progress.targets, crawled.result.progress.bytes, (after - before) // 1024)
"""


def test_a_large_file_does_not_stand_in_memory(tmp_path: Path) -> None:
    size = 64 * KIB * KIB

    def site(base: str) -> Site:
        large = Response.file("text/csv", size_bytes=size)
        return Site(base + "/", {base + "/": Response.page("<a href=/a.csv>"), base + "/a.csv": large})

    with serve(site) as server:
        command = [sys.executable, "-c", textwrap.dedent(MEASURED), server.url, str(tmp_path / "run")]
        words = subprocess.check_output(command, text=True, cwd=Path(__file__).parents[2]).split()
    targets, received, grown_mib = map(int, words)
    assert (targets, received > size) == (1, True)
    # Modules that are loaded on the way take some; the file would take 64.
    assert grown_mib < 40


def test_a_declared_size_above_the_limit_is_not_even_begun() -> None:
    sent = threading.Event()

    def huge(exchange: Exchange) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nContent-Length: 999999999\r\n\r\n"
        exchange.raw(head, every=0.5)
        try:
            for _ in range(200):
                exchange.raw(b"x" * 100_000)
            sent.set()
        except OSError:
            pass

    with scripted({"/": page("/a.csv"), "/a.csv": huge}) as server:
        crawled = crawl_from(server.start, max_file_bytes=1_000_000)
        url = server.base + "/a.csv"
    assert not sent.is_set()
    assert crawled.observed[url]["reason"] == "too large"
    assert crawled.skipped[url] == "too large"
    assert crawled.result.progress.drops == {"too large": 1}


def test_an_undeclared_size_above_the_limit_ends_the_download() -> None:
    def endless(exchange: Exchange) -> None:
        exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n\r\n", *[b"x" * 100_000] * 500)

    with scripted({"/": page("/a.csv"), "/a.csv": endless}) as server:
        crawled = crawl_from(server.start, max_file_bytes=1_000_000, stream_above_bytes=10_000)
    assert crawled.observed[server.base + "/a.csv"]["reason"] == "too large"
    assert crawled.result.progress.targets == 0


@pytest.mark.parametrize(
    "media_type", ["image/png", "video/mp4", "audio/ogg", "application/x-shockwave-flash"]
)
def test_what_is_not_wanted_stops_at_its_headers(media_type: str) -> None:
    sent = threading.Event()

    def film(exchange: Exchange) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: 20000000\r\n\r\n"
        exchange.raw(head.encode(), every=0.3)
        try:
            for _ in range(200):
                exchange.raw(b"x" * 100_000)
            sent.set()
        except OSError:
            pass

    with scripted({"/": page("/a"), "/a": film}) as server:
        crawled = crawl_from(server.start)
    told = crawled.observed[server.base + "/a"]
    assert (told["kind"], told["size_bytes"]) == ("other", 0)
    assert crawled.skipped == {server.base + "/a": "blocked media type"}
    assert not sent.is_set()


def test_what_is_small_is_read_since_that_keeps_the_connection() -> None:
    with scripted(
        {"/": page("/a.svgx", "/b"), "/a.svgx": file(b"x" * 100, "image/svg+xml"), "/b": page()}
    ) as server:
        crawled = crawl_from(server.start)
    assert crawled.observed[server.base + "/a.svgx"]["size_bytes"] == 100
    assert len({asked.client for asked in server.asked}) == 1


def test_stopping_at_headers_works_with_scrapys_own_handler() -> None:
    settings = {"EXTENSIONS": {"coati.live.stop_at_headers.StopAtHeaders": 0}, "COATI_MAX_FILE_BYTES": 50_000}
    routes = {
        "/l.csv": file(b"x" * 60_000),
        "/s.csv": file(b"x" * 40_000),
        "/p": file(b"x" * 40_000, "image/gif"),
    }
    with scripted(routes) as server:
        spider = run_spider([server.base + path for path in routes], settings)
    answers = {response.url.rpartition("/")[2]: response for response in spider.responses}
    assert {name: len(response.body) for name, response in answers.items()} == {
        "l.csv": 0,
        "s.csv": 40_000,
        "p": 0,
    }
    assert answers["l.csv"].meta["coati_stopped"] == "too large"
    assert answers["p"].meta["coati_stopped"] == "blocked media type"


def test_a_full_disk_ends_the_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("coati.live.response_body._new_file", full)
    routes = {"/": page("/a.csv", "/b"), "/a.csv": file(b"x" * 10_000)}
    with scripted(routes) as server, pytest.raises(RunWriteError, match="No space left"):
        crawl_into(tmp_path / "run", server.start, stream_above_bytes=1000)
    assert "/b" not in server.paths


def test_a_connection_that_breaks_is_one_request_and_no_more() -> None:
    with scripted(
        {"/": page("/a", "/b"), "/a": in_turn(lambda exchange: exchange.raw(b""), page())}
    ) as server:
        crawled = crawl_from(server.start)
    assert server.paths.count("/a") == 1
    assert crawled.observed[server.base + "/a"]["reason"] == "connection lost"


def test_a_proxy_is_asked_in_place_of_the_site() -> None:
    def site(_: str) -> Site:
        start = "http://made-up.example/"
        pages = {start: Response.page("<a href=/a.csv>"), start + "a.csv": Response.file("text/csv", b"1,2")}
        return Site(start, pages)

    with serve(site) as server:
        crawled = crawl_from("http://made-up.example/", proxy=server.proxy_url)
        asked = [seen.url for seen in server.requests]
    assert asked == [
        "http://made-up.example/robots.txt",
        "http://made-up.example/",
        "http://made-up.example/a.csv",
    ]
    assert crawled.result.progress.targets == 1


def test_a_body_is_cut_refused_or_spilled(tmp_path: Path) -> None:
    cut = Body(BodyLimits(10, cut=True))
    assert cut.write(b"x" * 6)
    assert not cut.write(b"y" * 6)
    assert (cut.finish(), cut.was_cut, cut.size_bytes) == (b"xxxxxxyyyy", True, 10)

    refused = Body(BodyLimits(10, cut=False, stream_above=4, folder=tmp_path))
    refused.write(b"x" * 8)
    with pytest.raises(DownloadError, match=FailureReason.TOO_LARGE):
        refused.write(b"y" * 8)
    refused.discard()
    assert list(tmp_path.iterdir()) == []

    spilled = Body(BodyLimits(100, cut=False, stream_above=4, folder=tmp_path))
    for piece in (b"ab", b"cde", b"f"):
        assert spilled.write(piece)
    assert (spilled.finish(), spilled.size_bytes) == (b"", 6)
    assert spilled.file is not None
    assert spilled.file.read_bytes() == b"abcdef"


def test_what_grows_out_of_proportion_is_a_bomb() -> None:
    body = Body(BodyLimits(1 << 40, cut=False), declared_bytes=1000)
    piece = bytes(1 << 20)
    for _ in range(32):
        body.write(piece)
    with pytest.raises(DownloadError, match=FailureReason.BOMB):
        body.write(piece)
    honest = Body(BodyLimits(1 << 40, cut=False), declared_bytes=2 << 20)
    for _ in range(64):
        honest.write(piece)


def test_a_silent_body_is_given_up_although_scrapy_sets_a_time_for_the_whole() -> None:
    over = threading.Event()

    def stalls(exchange: Exchange) -> None:
        exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nContent-Length: 2\r\n\r\na")
        over.wait(240)
        exchange.raw(b"b")

    with scripted({"/": stalls}) as server:
        spider = run_spider([server.start], {**ALONE, "DOWNLOAD_TIMEOUT": 60, "COATI_ANSWER_TIMEOUT": 0.5})
        over.set()
    assert [type(error) for error in spider.errors] == [DownloadTimeoutError]


def test_a_download_that_takes_too_long_in_all_is_given_up() -> None:
    def drips(exchange: Exchange) -> None:
        exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n\r\n")
        # Until the client has gone.
        while True:
            exchange.raw(b"x" * 5000, every=0.1)

    with scripted({"/": drips}) as server:
        crawled = crawl_from(server.start, robots=False, download_timeout_seconds=0.8)
    assert crawled.observed[server.start]["reason"] == "no response in time"
