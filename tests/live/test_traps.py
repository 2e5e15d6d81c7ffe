"""Sites without end: a crawl of each ends by itself, and says why it left links alone."""

import sqlite3
from pathlib import Path

import pytest

from coati.live import StopReason
from coati.web.traps import TrapSettings
from tests.live.crawling import Crawled, crawl_from, crawl_into
from tests.live.scripted import Exchange, file, page, scripted
from tests.nasty_server import nasty_server

SMALL = TrapSettings(max_urls_per_shape=40, max_chain=1000, max_equal_pages=5)
ENDLESS = "trap: endless pages"


def reasons_in(folder: Path) -> dict[str, int]:
    with sqlite3.connect(folder / "run.sqlite") as database:
        return dict(database.execute("SELECT reason, urls FROM skip_counts"))


@pytest.mark.parametrize(
    ("path", "traps", "reason", "most"),
    [
        ("/calendar/", SMALL, ENDLESS, 45),
        ("/calendar/", TrapSettings(max_chain=10), "trap: too deep", 25),
        ("/pages", SMALL, ENDLESS, 45),
        ("/pages", TrapSettings(max_chain=10), "trap: too deep", 15),
        ("/session", SMALL, "duplicate page", 3),
        ("/soft-404/", SMALL, "duplicate page", 70),
        ("/grow/", SMALL, "trap: repeating parts", 8),
    ],
)
def test_a_trap_ends_by_itself(
    tmp_path: Path, path: str, traps: TrapSettings, reason: str, most: int
) -> None:
    with nasty_server() as server:
        crawled = crawl_into(
            tmp_path / "run", server.url(path), robots=False, traps=traps, max_requests=3 * most
        )
        asked = len(server.requests)
    assert crawled.result.stop is StopReason.FINISHED
    assert asked <= most
    assert reasons_in(tmp_path / "run")[reason] > 0
    if reason != "trap: repeating parts":
        assert crawled.result.progress.drops[reason] > 0
        assert reason in crawled.skipped.values()


def test_without_a_watch_a_trap_has_no_end() -> None:
    with nasty_server() as server:
        crawled = crawl_from(
            server.url("/pages"),
            robots=False,
            traps=TrapSettings(enabled=False, max_chain=1),
            max_requests=30,
        )
    assert crawled.result.stop is StopReason.BUDGET_REQUESTS


def test_a_trap_beside_a_store_of_data_leaves_the_data(tmp_path: Path) -> None:
    """An endless calendar does not cost the numbered data sets behind the next link."""

    def anything(exchange: Exchange) -> None:
        kind, _, number = exchange.path.strip("/").partition("/")
        n = int(number)
        if kind == "day":
            page(f"/day/{n + 1}", f"/day/{n - 1}" if n else "/", "/list/1")(exchange)
        elif kind == "list":
            page(*(f"/set/{10 * n + i}" for i in range(10)), *([f"/list/{n + 1}"] if n < 8 else []))(exchange)
        elif kind == "set":
            page(f"/get/{n}")(exchange)
        else:
            file(b"%d" % n)(exchange)

    with scripted({"/": page("/day/1", "/list/1"), "*": anything}) as server:
        crawled = crawl_into(
            tmp_path / "run",
            server.start,
            robots=False,
            traps=TrapSettings(max_urls_per_shape=15, max_chain=4, max_equal_pages=3),
            max_requests=600,
        )
    assert crawled.result.stop is StopReason.FINISHED
    assert crawled.result.progress.targets == 80
    assert sum(path.startswith("/day/") for path in server.paths) < 30


def test_a_run_that_goes_on_remembers_how_far_it_was(tmp_path: Path) -> None:
    def crawl(requests: int) -> Crawled:
        return crawl_into(
            tmp_path / "run", server.url("/pages"), robots=False, traps=SMALL, max_requests=requests
        )

    with nasty_server() as server:
        crawl(15)
        crawl(30)
        last = crawl(100)
        asked = len(server.requests)
    assert last.result.stop is StopReason.FINISHED
    assert asked <= 45
