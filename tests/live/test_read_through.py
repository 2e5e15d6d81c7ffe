"""Archive first, else the web, and keep it."""

from pathlib import Path

import pytest

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta, Entry, Record
from coati.budget import Budget
from coati.model import Hosts, Later, Method, Outcome, Request, Settlement
from coati.replaying.driver import replay
from coati.replaying.site import ReplaySite
from coati.strategies.baselines.simple_orders import breadth_first
from coati.web.media import PRESETS
from tests.live.crawling import crawl_from
from tests.live.plain_spider import run_spider
from tests.live.scripted import Route, answer, file, page, scripted

SITE: dict[str, Route] = {
    "/": page("/a", "/b.csv", "/gone", "/moved", "/busy"),
    "/a": page("/c.csv"),
    "/b.csv": file(b"b"),
    "/c.csv": file(b"c" * 5000),
    "/moved": answer(301, Location="/a"),
    "/busy": answer(503, Retry_After="0"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def create(folder: Path, start_url: str) -> Archive:
    return Archive.create(folder, ArchiveMeta("a site", start_url, PRESETS["data"]))


def test_what_was_fetched_is_not_fetched_again(folder: Path) -> None:
    with scripted(SITE) as server, create(folder, server.start) as archive:
        first = crawl_from(server.start, archive=archive, max_delay_seconds=0.05)
        asked = len(server.asked)
        second = crawl_from(server.start, archive=archive, max_delay_seconds=0.05)
        again = server.paths[asked:]
    assert (first.result.progress.archived, second.result.progress.archived) == (0, 6)
    # A busy server is not a property of the URL; and only for that one robots.txt is asked.
    assert again == ["/robots.txt", "/busy"]
    assert second.result.progress.requests == first.result.progress.requests
    assert {url: told["kind"] for url, told in second.observed.items()} == {
        url: told["kind"] for url, told in first.observed.items()
    }


def test_recording_asks_the_web_whatever_is_archived(folder: Path) -> None:
    with scripted(SITE) as server, create(folder, server.start) as archive:
        for _ in range(2):
            crawl_from(server.start, archive=archive, answer_from_archive=False, max_delay_seconds=0.05)
        assert server.paths.count("/b.csv") == 2
        assert archive.record(server.base + "/b.csv").body == b"b"


def test_a_recorded_site_can_be_replayed(folder: Path) -> None:
    with scripted(SITE) as server:
        with create(folder, server.start) as archive:
            live = crawl_from(server.start, archive=archive, max_delay_seconds=0.05)
        with Archive.open(folder) as archive:
            site = ReplaySite(archive)
            run = replay(site, breadth_first([server.start]), Budget())
    assert run.trace.targets[-1] == live.result.progress.targets == 2
    assert len(run.trace) == live.result.progress.requests


def test_a_body_that_was_streamed_or_stopped_leaves_its_size(folder: Path) -> None:
    routes = {"/": page("/l.csv", "/f"), "/l.csv": file(b"l" * 5000), "/f": file(b"f" * 70_000, "video/mp4")}
    with scripted(routes) as server, create(folder, server.start) as archive:
        crawl_from(server.start, archive=archive, stream_above_bytes=1000)
        large, film = archive.entry(server.base + "/l.csv"), archive.entry(server.base + "/f")
        assert large is not None
        assert film is not None
        assert (large.size_bytes, film.size_bytes) == (5000, 70_000)
        again = crawl_from(server.start, archive=archive, stream_above_bytes=10_000)
        # Whoever asks for a target wants its bytes, so it is fetched this time.
        assert again.result.progress.archived == 1
        assert archive.record(server.base + "/l.csv").body == b"l" * 5000


class Heads:
    """Asks for the head of the start and then for the whole."""

    def __init__(self, start_url: str) -> None:
        self._waiting = [Request(0, Method.HEAD, start_url), Request(1, Method.GET, start_url)]
        self.outcomes: list[Outcome] = []

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        return self._waiting.pop(0) if self._waiting else None

    def observe(self, request_id: int, outcome: Outcome, now: float) -> tuple[Settlement, ...]:
        self.outcomes.append(outcome)
        return ()

    def redo(self, request: Request, now: float) -> None: ...
    def load(self, state: object) -> None: ...
    def save(self) -> dict[str, object]:
        return {}

    def arm_label(self, arm: int) -> str:
        return ""


@pytest.mark.parametrize("archived", [False, True])
def test_a_head_is_answered_with_what_a_get_would_bring(folder: Path, *, archived: bool) -> None:
    with scripted({"/": file(b"1234")}) as server, create(folder, server.start) as archive:
        if archived:
            archive.add(
                Record(Entry(server.start, 200, "text/csv", 4), (("Content-Type", "text/csv"),), b"1234")
            )
        strategy = Heads(server.start)
        crawled = crawl_from(server.start, new_strategy=lambda: strategy, archive=archive)
    assert [type(outcome).__name__ for outcome in strategy.outcomes] == ["Target", "Target"]
    assert [getattr(outcome, "size_bytes", None) for outcome in strategy.outcomes] == [0, 4]
    # A HEAD announces a target, a GET brings it.
    assert crawled.result.progress.targets == 1
    assert server.paths == ([] if archived else ["/robots.txt", "/", "/"])


def test_alone_in_a_spider(folder: Path) -> None:
    with scripted(SITE) as server:
        create(folder, server.start).close()
        settings = {
            "DOWNLOADER_MIDDLEWARES": {"coati.live.read_through.ReadThroughMiddleware": 20},
            "COATI_ARCHIVE": str(folder),
        }
        bodies = [
            [response.body for response in run_spider([server.base + "/b.csv"], settings).responses]
            for _ in range(2)
        ]
    assert bodies == [[b"b"], [b"b"]]
    assert server.paths == ["/b.csv"]


def test_an_error_that_may_have_been_an_outage_is_kept_and_asked_again(folder: Path) -> None:
    site = {"/": page("/a.csv"), "/a.csv": answer(500)}
    with scripted(site) as server, create(folder, server.start) as archive:
        crawl_from(server.start, archive=archive, robots=False)
        entry = archive.entry(server.base + "/a.csv")
        assert entry is not None
        assert entry.status == 500
        server.routes["/a.csv"] = file()
        assert crawl_from(server.start, archive=archive, robots=False).result.progress.targets == 1
