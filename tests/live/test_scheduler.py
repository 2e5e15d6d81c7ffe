"""What Scrapy's engine does to a scheduler, and what ours makes of it."""

import pytest

from coati.live import EventKind, StopReason
from coati.model import Hosts, Later, Link, LinkList, Method, Outcome, Page, Request, Settlement
from coati.strategies.baselines.simple_orders import FrontierStrategy
from coati.strategies.frontier import Fifo
from coati.web.rules import Rules, Scope
from tests.live.conftest import Departures
from tests.live.crawling import crawl_from
from tests.live.scripted import Exchange, answer, file, in_turn, page, scripted
from tests.waiting import wait_until


class Noted(FrontierStrategy):
    """Breadth-first, noting when it is asked and told."""

    def __init__(self, start_url: str) -> None:
        super().__init__([start_url], Fifo())
        self.notes: list[str] = []
        self.open = self.most_open = 0

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        request = super().choose(now, hosts)
        if isinstance(request, Request):
            self.notes.append(f"choose {request.id}")
            self.open += 1
            self.most_open = max(self.most_open, self.open)
        return request

    def observe(self, request_id: int, outcome: Outcome, now: float) -> "tuple[Settlement, ...]":
        self.notes.append(f"observe {request_id}")
        self.open -= 1
        return tuple(super().observe(request_id, outcome, now))


def test_at_concurrency_one_nothing_is_chosen_before_the_last_is_observed() -> None:
    with scripted({"/": page("/a", "/b", "/c"), "*": page("/d")}) as server:
        strategy = Noted(server.start)
        crawl_from(server.start, new_strategy=lambda: strategy)
    numbers = range(len(strategy.notes) // 2)
    assert strategy.notes == [
        note for number in numbers for note in (f"choose {number}", f"observe {number}")
    ]


@pytest.mark.parametrize(("concurrency", "per_host", "most"), [(4, 4, 4), (8, 1, 1), (2, 8, 2)])
def test_what_is_unobserved_is_limited_in_all_and_by_host(concurrency: int, per_host: int, most: int) -> None:
    def held(exchange: Exchange) -> None:
        # Nobody is answered before as many as may be in flight have come.
        wait_until(lambda: len(server.asked) > most)
        exchange.answer(body="<p>")

    links = [f"/{number}" for number in range(12)]
    with scripted({"/": page(*links), "*": held}) as server:
        strategy = Noted(server.start)
        crawl_from(
            server.start,
            new_strategy=lambda: strategy,
            concurrency=concurrency,
            per_host=per_host,
            robots=False,
        )
    assert strategy.most_open == most


def test_one_connection_serves_a_host() -> None:
    links = [f"/{number}" for number in range(8)]
    with scripted({"/": page(*links), "*": page()}) as server:
        crawl_from(server.start, concurrency=8)
    assert len({asked.client for asked in server.asked}) == 1


@pytest.mark.usefixtures("no_heartbeat")
def test_the_engine_is_woken_by_each_answer() -> None:
    chain = {f"/{number}": page(f"/{number + 1}") for number in range(60)}
    with scripted({"/": page("/0"), **chain, "/60": page()}) as server:
        crawled = crawl_from(server.start)
    assert crawled.result.progress.requests == 62


@pytest.mark.usefixtures("no_heartbeat")
def test_at_most_one_request_in_each_delay(departures: Departures) -> None:
    chain = {f"/{number}": page(f"/{number + 1}") for number in range(4)}
    with scripted({"/": page("/0"), **chain, "/4": page()}) as server:
        crawl_from(server.start, delay_seconds=0.4)
    gaps = departures.gaps()
    assert len(gaps) == 6
    assert min(gaps) >= 0.4


def test_what_met_an_outage_is_chosen_again_and_each_attempt_is_charged() -> None:
    flaky = in_turn(answer(504), answer(502), file())
    with scripted({"/": page("/a.csv"), "/a.csv": flaky}) as server:
        strategy = Noted(server.start)
        crawled = crawl_from(server.start, new_strategy=lambda: strategy, retries=2, max_delay_seconds=0.05)
    assert server.paths.count("/a.csv") == 3
    assert strategy.notes == [f"{verb} {number}" for number in range(4) for verb in ("choose", "observe")]
    outcomes = [told["kind"] for told in crawled.told(EventKind.OBSERVED)]
    assert outcomes == ["page", "deferred", "deferred", "target"]
    # Before each retry the host was asked for the page that it had answered.
    assert server.paths.count("/") == 3
    assert crawled.result.progress.requests == len(server.asked) - 1
    assert (crawled.result.progress.targets, crawled.result.progress.failures) == (1, 0)


def test_retries_end_and_the_last_answer_is_the_outcome() -> None:
    with scripted({"/": page("/a.csv"), "/a.csv": answer(502)}) as server:
        crawled = crawl_from(server.start, retries=2, max_delay_seconds=0.05)
    told = crawled.observed[server.base + "/a.csv"]
    assert (told["kind"], told["status"]) == ("failure", 502)
    assert server.paths.count("/a.csv") == 3
    assert crawled.result.stop is StopReason.FINISHED


def test_many_addresses_that_are_always_busy_end_no_crawl() -> None:
    links = [f"/{number}.csv" for number in range(25)]
    with scripted({"/": page(*links), "*": answer(502), "/robots.txt": answer(404)}) as server:
        crawled = crawl_from(server.start, retries=1, max_delay_seconds=0.001)
    assert crawled.result.stop is StopReason.FINISHED
    assert (crawled.result.progress.failures, crawled.result.progress.deferred) == (25, 0)


def test_a_retry_does_not_go_beyond_the_budget() -> None:
    with scripted({"/": page("/a.csv"), "/a.csv": answer(502)}) as server:
        crawled = crawl_from(server.start, retries=5, max_delay_seconds=0.05, max_requests=3)
    assert len(server.asked) == 4
    assert crawled.result.progress.requests == 3
    assert crawled.result.stop is StopReason.BUDGET_REQUESTS
    # It is asked again when there is more to spend.
    assert crawled.result.progress.deferred == 1


def test_redirects_are_outcomes_and_each_hop_is_a_request() -> None:
    routes = {
        "/": page("/a"),
        "/a": answer(301, Location="/b"),
        "/b": answer(302, Location="/c.csv"),
        "/c.csv": file(),
    }
    with scripted(routes) as server:
        crawled = crawl_from(server.start)
    assert server.paths == ["/robots.txt", "/", "/a", "/b", "/c.csv"]
    assert [told["kind"] for told in crawled.observed.values()] == [
        "page",
        "redirect",
        "redirect",
        "target",
    ]
    assert crawled.result.progress.requests == 4


def test_a_meta_refresh_is_a_link_and_nothing_that_the_engine_follows() -> None:
    refresh = '<meta http-equiv="refresh" content="0; url=/b">'
    routes = {"/": lambda exchange: exchange.answer(body=refresh), "/b": page()}
    with scripted(routes) as server:
        crawled = crawl_from(server.start)
    assert [told["kind"] for told in crawled.observed.values()] == ["page", "page"]
    assert server.paths == ["/robots.txt", "/", "/b"]


class TwoHosts:
    """Asks whichever host is ready, as a strategy over many hosts does."""

    def __init__(self, *starts: str) -> None:
        self._waiting = {start: [f"{start}{number}" for number in range(4)] for start in starts}
        self._next = 0
        self.order: list[str] = []

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        for start, urls in self._waiting.items():
            if urls and hosts.ready(start.split("/")[2].split(":")[0]):
                self._next += 1
                self.order.append(urls[0])
                return Request(self._next, Method.GET, urls.pop(0))
        return None

    def observe(self, request_id: int, outcome: Outcome, now: float) -> tuple[Settlement, ...]:
        return ()

    def redo(self, request: Request, now: float) -> None: ...
    def save(self) -> dict[str, object]:
        return {}

    def load(self, state: object) -> None: ...
    def arm_label(self, arm: int) -> str:
        return str(arm)


def test_a_strategy_over_hosts_is_told_which_are_ready(departures: Departures) -> None:
    with scripted({"*": page()}) as one, scripted({"*": page()}, host="127.0.0.2") as two:
        strategy = TwoHosts(one.start, two.start)
        crawl_from(
            one.start,
            new_strategy=lambda: strategy,
            rules=Rules(one.start, Scope.ANY),
            one_site=False,
            concurrency=4,
            delay_seconds=0.3,
            robots=False,
        )
    for server in (one, two):
        assert len(server.asked) == 4
    assert min(departures.gaps(lambda url: url.startswith(one.base))) >= 0.3
    assert min(departures.gaps(lambda url: url.startswith(two.base))) >= 0.3
    # They rest at the same time, and not one after the other.
    first, second = departures.urls[:2]
    assert first.startswith(one.base)
    assert second.startswith(two.base)


def test_links_of_the_start_page_are_read_with_their_paths() -> None:
    seen: list[Link] = []

    class Reader(FrontierStrategy):
        def observe(self, request_id: int, outcome: Outcome, now: float) -> "tuple[Settlement, ...]":
            if isinstance(outcome, Page):
                seen.extend(outcome.links.link(index) for index in range(len(outcome.links.urls)))
                outcome = Page(200, 0, LinkList())
            return tuple(super().observe(request_id, outcome, now))

    with scripted({"/": page("/a")}) as server:
        strategy = Reader([server.start], Fifo())
        crawl_from(server.start, new_strategy=lambda: strategy)
    assert [link.tag_path for link in seen] == [("html", "body", "ul", "li", "a")]
