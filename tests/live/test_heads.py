"""A HEAD is only a question: whatever a server makes of it, the target behind it is not lost."""

from pathlib import Path

import pytest

from coati.assembly import StrategySettings, build_strategy
from tests.live.conftest import no_patience_with
from tests.live.crawling import crawl_into
from tests.live.scripted import Exchange, Route, answer, file, page, scripted

CSV = file(b"a,b\n1,2\n")


def hangs(exchange: Exchange) -> None:
    """Say nothing until the client has gone."""
    exchange.connection.recv(1)
    exchange.close_connection = True


def sends_a_body(exchange: Exchange) -> None:
    exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nContent-Length: 8\r\n\r\na,b\n1,2\n" * 3)


def to_head(route: Route) -> Route:
    """Answer a HEAD by this route, and a GET with a file."""
    return lambda exchange: (route if exchange.command == "HEAD" else CSV)(exchange)


@pytest.mark.parametrize("head", [hangs, sends_a_body, answer(403), answer(500), answer(405)])
def test_the_target_is_had_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: Route) -> None:
    no_patience_with(monkeypatch, lambda request: head is hangs and request.method == "HEAD")
    paths = ["/1.csv", "/2.csv", "/3.csv"]
    with scripted({"/": page(*paths)} | dict.fromkeys(paths, to_head(head))) as site:
        crawled = crawl_into(
            tmp_path / "run",
            site.start,
            new_strategy=lambda: build_strategy(
                "sb-classifier", [site.start], 1, settings=StrategySettings(robust_probes=True)
            ),
            robots=False,
        )
    assert crawled.result.progress.targets == len(paths)


def test_what_does_not_exist_is_not_asked_for_twice(tmp_path: Path) -> None:
    with scripted({"/": page("/gone.csv")}) as site:
        crawl_into(
            tmp_path / "run",
            site.start,
            new_strategy=lambda: build_strategy(
                "sb-classifier", [site.start], 1, settings=StrategySettings(robust_probes=True)
            ),
            robots=False,
        )
        assert site.paths.count("/gone.csv") == 1
