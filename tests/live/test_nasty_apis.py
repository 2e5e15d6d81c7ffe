"""The API of a site's own software at its worst: it costs little, and the links of the site go on."""

import pytest

from coati.assembly import build_shortcuts, build_strategy
from coati.live import StopReason
from tests.live.conftest import no_patience_with, path_of
from tests.live.crawling import Crawled, crawl_from
from tests.nasty_apis import APIS
from tests.nasty_server import NastyServer, nasty_server

# The page and the file that it links to, and the two lists that WordPress has (documents, texts).
BESIDE, LISTS = 2, 2
# How many requests each may cost beside them, listed files included.
COSTS = {
    "honest": LISTS + 1,
    "repeating": LISTS * 9,
    "wrong-total": LISTS * 2 + 1,
    "negative-total": LISTS * 2 + 1,
    "html": LISTS + 1,
    "moved-to-itself": LISTS * 6,
    "busy": 12,
    "failing": 12,
    "silent": 12,
    "dropped": 12,
}
LISTED = {"honest", "wrong-total", "negative-total"}
LIMITS = {
    "max_page_bytes": 1_000_000,
    "answer_timeout_seconds": 60.0,
    "max_delay_seconds": 0.05,
    "retry_seconds": 0.01,
    "robots": False,
}


def crawl(server: NastyServer, name: str, **changes: object) -> Crawled:
    start = server.url(f"/apis/{name}/")
    how = {**LIMITS, **changes}
    return crawl_from(
        start,
        new_strategy=lambda: build_strategy("scent", [start]),
        shortcuts=build_shortcuts("auto", "scent"),
        listed_links=True,
        **how,
    )


@pytest.mark.parametrize("name", [name for name in APIS if name != "endless"])
def test_a_nasty_api_costs_little_and_the_links_continue(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    no_patience_with(monkeypatch, lambda request: path_of(request).startswith("/apis/silent/wp-json"))
    with nasty_server() as server:
        crawled = crawl(server, name)
        assert server.count("/good.csv") == 1
        assert server.count(f"/apis/{name}/listed.csv") == (name in LISTED)
        asked = [each.path for each in server.requests]
    assert all(path.startswith((f"/apis/{name}/", "/good.")) for path in asked)
    assert len(asked) <= BESIDE + COSTS.get(name, LISTS)
    assert crawled.result.stop is StopReason.FINISHED
    assert crawled.result.progress.targets == 1 + (name in LISTED)


def test_an_api_of_endless_pages_is_left_to_the_budget_and_the_links_come_first() -> None:
    with nasty_server() as server:
        crawled = crawl(server, "endless", max_requests=60)
        asked = [each.path.partition("?")[0] for each in server.requests]
    assert asked.index("/good.csv") < 8
    # Dead files pull down the pages that list them.
    assert sum("wp-json" in path for path in asked) <= 8
    assert crawled.result.stop is StopReason.BUDGET_REQUESTS


def test_every_api_is_documented_and_has_a_home_page() -> None:
    assert all((api.__doc__ or "").strip() for api in APIS.values())
