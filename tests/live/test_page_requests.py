"""What a page in a browser gets of what it asks for; the engine is a stand-in."""

import asyncio
import re
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from coati.live.browser import PageRequest, PageResponse
from coati.live.failures import PrivateAddressError
from coati.live.page_requests import KeptAnswers, PageRequests
from coati.runs.skip_reasons import SkipReason
from coati.web.rules import Refusal, Rules, Scope

BASE = "http://www.site.test"


class Engine:
    """Answers from a table; what is an error is raised."""

    def __init__(self, answers: Mapping[str, Response | Exception]) -> None:
        self.answers = answers
        self.asked: list[Request] = []

    async def download_async(self, request: Request) -> Response:
        self.asked.append(request)
        answer = self.answers[request.url]
        if isinstance(answer, Exception):
            raise answer
        return answer


def asking(
    answers: Mapping[str, Response | Exception],
    *,
    rules: Rules | None = None,
    most: int = 50,
    budget: int = 99,
) -> tuple[PageRequests, Engine, Callable[[], int]]:
    engine, left = Engine(answers), budget

    def charge(attempts: int) -> bool:
        nonlocal left
        left -= attempts
        return left >= 0

    crawler = cast("Crawler", SimpleNamespace(engine=engine))
    asks = PageRequests(crawler, rules or Rules(BASE + "/"), BASE + "/", KeptAnswers(), most, charge)
    return asks, engine, lambda: left


def fetch(
    asks: PageRequests, path: str, *, method: str = "GET", kind: str = "fetch", **headers: str
) -> PageResponse | None:
    url = path if "://" in path else BASE + path
    return asyncio.run(asks.fetch(PageRequest(url, method, kind, headers)))


def ok(path: str, body: bytes = b"{}", **more: Any) -> dict[str, Response]:  # noqa: ANN401 - of all types
    return {BASE + path: Response(BASE + path, body=body, **more)}


def test_scripts_and_data_are_fetched_with_what_the_page_says_of_them() -> None:
    asks, engine, left = asking(ok("/a.json"))
    given = fetch(
        asks, "/a.json", accept="application/json", cookie="x=1", origin=BASE, **{"user-agent": "Mozilla"}
    )
    assert given == PageResponse(200, (), b"{}")
    (asked,) = engine.asked
    sent = {name.decode().lower() for name in asked.headers}
    assert sent == {"accept", "origin", "referer"}
    assert (asks.made, asks.received_bytes, left()) == (1, 2, 98)


@pytest.mark.parametrize(
    "kind", ["image", "stylesheet", "font", "media", "ping", "eventsource", "websocket", "other"]
)
def test_what_brings_no_links_is_not(kind: str) -> None:
    asks, engine, _ = asking({})
    assert fetch(asks, "/a", kind=kind) is None
    assert not engine.asked


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
def test_nothing_is_changed_on_the_other_side(method: str) -> None:
    asks, engine, _ = asking({})
    assert fetch(asks, "/a", method=method) is None
    assert not engine.asked


@pytest.mark.parametrize(
    ("url", "refusal"),
    [
        ("http://cdn.test/app.js", Refusal.SCOPE),
        ("http://www.site.test/track/x.js", Refusal.EXCLUDED),
        ("http://stats.site.test/x.js", Refusal.EXCLUDED_HOST),
        ("ftp://www.site.test/x.js", None),
    ],
)
def test_what_the_rules_forbid_is_not_asked_for(url: str, refusal: Refusal | None) -> None:
    rules = Rules(
        BASE + "/data/",
        Scope.DOMAIN,
        include=(re.compile("/data/"),),
        exclude=(re.compile("/track/"),),
        exclude_hosts=frozenset({"stats.site.test"}),
    )
    asks, engine, _ = asking({}, rules=rules)
    assert fetch(asks, url) is None
    assert not engine.asked
    assert asks.skipped == ({} if refusal is None else {url: refusal})


def test_scripts_lie_beside_the_folder_of_the_crawl() -> None:
    asks, _, _ = asking(
        ok("/app.js"), rules=Rules(BASE + "/data/", Scope.PATH, include=(re.compile("/data/"),))
    )
    assert fetch(asks, "/app.js", kind="script") is not None


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PrivateAddressError("x leads to the private address 10.0.0.1"), SkipReason.PRIVATE_ADDRESS),
        (IgnoreRequest("Forbidden by robots.txt"), SkipReason.ROBOTS),
    ],
)
def test_what_was_not_sent_costs_nothing_and_is_told(error: Exception, reason: SkipReason) -> None:
    asks, _, left = asking({BASE + "/a.json": error})
    assert fetch(asks, "/a.json") is None
    assert (asks.made, left()) == (0, 99)
    assert asks.skipped == {BASE + "/a.json": reason}


def test_what_fails_is_charged() -> None:
    asks, _, left = asking({BASE + "/a.json": OSError("gone")})
    assert fetch(asks, "/a.json") is None
    assert (asks.made, left(), asks.skipped) == (1, 98, {})


def test_each_hop_of_a_redirect_is_under_the_rules_and_counts() -> None:
    moved = {"Location": "/b.js"}
    asks, _, left = asking({**ok("/a.js", status=302, headers=moved), **ok("/b.js", b"1")})
    given = fetch(asks, "/a.js", kind="script")
    assert given is not None
    assert (given.body, asks.made, left()) == (b"1", 2, 97)
    away, engine, _ = asking(ok("/a.js", status=302, headers={"Location": "http://10.0.0.1/"}))
    assert fetch(away, "/a.js", kind="script") is None
    assert len(engine.asked) == 1
    assert away.skipped == {"http://10.0.0.1/": Refusal.SCOPE}
    round_and_round, engine, _ = asking(ok("/b.js", status=302, headers=moved))
    assert fetch(round_and_round, "/b.js", kind="script") is None
    assert len(engine.asked) == 5


def test_a_page_and_the_budget_bound_the_requests() -> None:
    answers = {**ok("/1.json"), **ok("/2.json"), **ok("/3.json")}
    few, engine, _ = asking(answers, most=2)
    poor, same, _ = asking(answers, budget=1)
    for asks in (few, poor):
        for number in (1, 2, 3):
            fetch(asks, f"/{number}.json")
    assert (len(engine.asked), len(same.asked)) == (2, 1)


def test_the_same_is_asked_for_once_unless_it_failed() -> None:
    asks, engine, left = asking({**ok("/a.js"), **ok("/gone.js", status=404)})
    for _ in range(2):
        assert fetch(asks, "/a.js", kind="script") == PageResponse(200, (), b"{}")
        gone = fetch(asks, "/gone.js", kind="script")
        assert gone is not None
        assert gone.status == 404
    assert len(engine.asked) == 3
    assert left() == 96
