from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.model import (
    Failure,
    Link,
    LinkList,
    Method,
    Other,
    Outcome,
    Page,
    Redirect,
    Refused,
    Request,
    Target,
)
from coati.strategies.baselines.simple_orders import (
    FrontierStrategy,
    breadth_first,
    depth_first,
    uniformly_random,
)
from coati.strategies.state import pack, unpack
from tests.driving import ask

Graph = dict[int, list[int]]

MAKE: dict[str, Callable[[Sequence[str]], FrontierStrategy]] = {
    "bfs": breadth_first,
    "dfs": depth_first,
    "random": lambda starts: uniformly_random(starts, seed=5),
}

LEAVES: tuple[Outcome, ...] = (
    Target(200, 5, "text/csv"),
    Other(200, 5, "text/css"),
    Failure(404, 0, ""),
    Refused("x"),
)


def url(number: int) -> str:
    return f"http://a.test/{number}"


def page(links: list[int]) -> Page:
    return Page(200, 10, LinkList([Link(url(number), ("html", "body", "a")) for number in links]))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    count = draw(st.integers(1, 12))
    return {number: draw(st.lists(st.integers(0, count - 1), max_size=5)) for number in range(count)}


def answer(graph: Graph, request: Request) -> Outcome:
    number = int(request.url.rpartition("/")[2])
    # Every third URL is not a page, in ways that lead nowhere; every fifth leads to its first link.
    if number % 5 == 4:
        return Redirect(301, 0, url(graph[number][0])) if graph[number] else Failure(500, 0, "status 500")
    if number % 3 == 2:
        return LEAVES[number % 4]
    return page(graph[number])


def reached(graph: Graph) -> set[int]:
    found, waiting = {0}, [0]
    while waiting:
        number = waiting.pop()
        outcome = answer(graph, Request(0, Method.GET, url(number)))
        links = graph[number] if isinstance(outcome, Page) else []
        if isinstance(outcome, Redirect):
            links = graph[number][:1]
        for child in links:
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def crawl(strategy: FrontierStrategy, graph: Graph) -> list[str]:
    order = []
    while (request := ask(strategy)) is not None:
        assert request.method is Method.GET
        order.append(request.url)
        assert strategy.observe(request.id, answer(graph, request), 0.0) == ()
    return order


@pytest.mark.parametrize("kind", MAKE)
@given(graph=graphs())
def test_everything_that_can_be_reached_is_requested_once(kind: str, graph: Graph) -> None:
    order = crawl(MAKE[kind]([url(0)]), graph)
    assert Counter(order) == Counter(url(number) for number in reached(graph))
    assert crawl(MAKE[kind]([url(0)]), graph) == order


def test_the_orders_are_those_of_their_names() -> None:
    graph = {0: [1, 3, 1, 6], 1: [7, 9], 3: [10], 6: [12, 13], 7: [], 9: [], 10: [], 12: [], 13: []}
    assert crawl(breadth_first([url(0)]), graph) == [url(n) for n in (0, 1, 3, 6, 7, 9, 10, 12, 13)]
    assert crawl(depth_first([url(0)]), graph) == [url(n) for n in (0, 6, 13, 12, 3, 10, 1, 9, 7)]


def test_random_depends_on_the_seed_and_prefers_nothing() -> None:
    graph: Graph = {0: [1, 3, 6, 7], 1: [], 3: [], 6: [], 7: []}
    orders = Counter(tuple(crawl(uniformly_random([url(0)], seed), graph)) for seed in range(2400))
    assert len(orders) == 24
    assert sum((count - 100) ** 2 / 100 for count in orders.values()) < 60


@pytest.mark.parametrize("kind", MAKE)
@given(graph=graphs(), data=st.data())
def test_several_may_be_in_flight(kind: str, graph: Graph, data: st.DataObject) -> None:
    strategy = MAKE[kind]([url(0)])
    in_flight: list[Request] = []
    asked = []
    while True:
        request = ask(strategy) if data.draw(st.booleans()) or not in_flight else None
        if request is not None:
            asked.append(request)
            in_flight.append(request)
        elif in_flight:
            request = in_flight.pop(data.draw(st.integers(0, len(in_flight) - 1)))
            strategy.observe(request.id, answer(graph, request), 0.0)
        else:
            break
    assert [request.id for request in asked] == list(range(len(asked)))
    assert Counter(request.url for request in asked) == Counter(url(number) for number in reached(graph))


@pytest.mark.parametrize("kind", MAKE)
@given(graph=graphs(), data=st.data())
def test_a_crawl_that_was_saved_or_redone_continues_as_it_would_have(
    kind: str, graph: Graph, data: st.DataObject
) -> None:
    strategy = MAKE[kind]([url(0)])
    log: list[Request] = []
    in_flight: list[Request] = []
    observed: list[Request | None] = []
    for _ in range(data.draw(st.integers(0, 12))):
        request = ask(strategy)
        if request is None:
            break
        log.append(request)
        observed.append(None)
        in_flight.append(request)
        if data.draw(st.booleans()):
            done = in_flight.pop(0)
            strategy.observe(done.id, answer(graph, done), 0.0)
            observed[-1] = done
    saved = MAKE[kind]([url(0)])
    saved.load(unpack(pack(strategy.save())))
    redone = MAKE[kind]([url(0)])
    for chosen, finished in zip(log, observed, strict=True):
        redone.redo(chosen, 0.0)
        if finished is not None:
            redone.observe(finished.id, answer(graph, finished), 0.0)
    for other in (saved, redone):
        for request in in_flight:
            other.observe(request.id, answer(graph, request), 0.0)
    for request in in_flight:
        strategy.observe(request.id, answer(graph, request), 0.0)
    rest = crawl(strategy, graph)
    assert crawl(saved, graph) == rest
    assert crawl(redone, graph) == rest


@pytest.mark.parametrize("kind", MAKE)
def test_a_logged_choice_that_another_version_made_is_redone_all_the_same(kind: str) -> None:
    strategy = MAKE[kind]([url(0)])
    first = ask(strategy)
    assert first is not None
    strategy.observe(first.id, page([1, 2, 3]), 0.0)
    for turn, number in enumerate((2, 1, 3), start=1):
        strategy.redo(Request(turn, Method.GET, url(number)), 0.0)
    assert ask(strategy) is None
    with pytest.raises(ValueError, match="not known"):
        strategy.redo(Request(4, Method.GET, url(99)), 0.0)
    with pytest.raises(ValueError, match="not in"):
        strategy.redo(Request(4, Method.GET, url(2)), 0.0)


def test_a_request_is_observed_once_and_only_if_it_was_made() -> None:
    strategy = breadth_first([url(0)])
    request = ask(strategy)
    assert request is not None
    strategy.observe(request.id, page([]), 0.0)
    with pytest.raises(KeyError):
        strategy.observe(request.id, page([]), 0.0)


def test_a_redirect_loop_ends() -> None:
    strategy = breadth_first([url(0)])
    hops = {url(0): url(1), url(1): url(2), url(2): url(0)}
    asked = []
    while (request := ask(strategy)) is not None:
        asked.append(request.url)
        strategy.observe(request.id, Redirect(302, 0, hops[request.url]), 0.0)
    assert asked == [url(0), url(1), url(2)]
