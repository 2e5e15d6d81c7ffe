import pytest

from coati.live import EventKind
from tests.live.conftest import Departures
from tests.live.crawling import crawl_from
from tests.live.plain_spider import run_spider
from tests.live.scripted import Route, page, scripted

CHAIN = {"/": page("/a"), "/a": page("/b"), "/b": page()}


def rules(text: str) -> dict[str, Route]:
    return {"/robots.txt": lambda exchange: exchange.answer(body=text, media_type="text/plain")}


def test_the_delay_of_the_site_is_kept(departures: Departures) -> None:
    with scripted({**CHAIN, **rules("User-agent: *\nCrawl-delay: 0.6\n")}) as server:
        crawled = crawl_from(server.start)
    # The delay is known once robots.txt is read.
    assert len(departures.gaps()) == 3
    assert min(departures.gaps()) >= 0.6
    assert crawled.told(EventKind.WAITING) == [{"host": "127.0.0.1", "seconds": 0.6, "why": "Crawl-delay"}]


@pytest.mark.parametrize("asked", ["0.1", "-3", "nan", "inf", "much"])
def test_the_delay_of_the_user_is_never_undercut(asked: str, departures: Departures) -> None:
    with scripted({**CHAIN, **rules(f"User-agent: *\nCrawl-delay: {asked}\n")}) as server:
        crawled = crawl_from(server.start, delay_seconds=0.3, max_delay_seconds=0.5)
    assert min(departures.gaps()) >= 0.3
    assert crawled.told(EventKind.WAITING) == []


def test_the_delay_is_bounded(departures: Departures) -> None:
    with scripted({**CHAIN, **rules("User-agent: *\nCrawl-delay: 86400\n")}) as server:
        crawled = crawl_from(server.start, max_delay_seconds=0.3)
    assert crawled.result.progress.requests == 3
    assert min(departures.gaps()) >= 0.3
    assert [wait["seconds"] for wait in crawled.told(EventKind.WAITING)] == [0.3]


def test_a_delay_for_others_is_not_ours() -> None:
    with scripted({**CHAIN, **rules("User-agent: otherbot\nCrawl-delay: 86400\n")}) as server:
        crawled = crawl_from(server.start)
    assert crawled.told(EventKind.WAITING) == []


def test_alone_in_a_spider(departures: Departures) -> None:
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"coati.live.pace.PaceMiddleware": 890},
        "ROBOTSTXT_OBEY": True,
    }
    with scripted({**CHAIN, **rules("User-agent: *\nCrawl-delay: 0.6\n")}) as server:
        spider = run_spider([server.base + "/a", server.base + "/b"], settings)
    assert len(spider.responses) == 2
    assert min(departures.gaps()) >= 0.6
