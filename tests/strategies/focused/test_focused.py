from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import SGDClassifier

from coati.learners.bags import bag_of
from coati.learners.url_bigrams import DIMENSIONS
from coati.model import (
    Failure,
    Link,
    LinkList,
    Method,
    Outcome,
    Page,
    Redirect,
    Refused,
    Request,
    Target,
)
from coati.strategies.baselines.simple_orders import breadth_first
from coati.strategies.focused.focused import FocusedSettings, focused
from coati.strategies.strategy import Strategy
from coati.testing.checks import check_strategy
from coati.testing.generator import generate_site
from coati.testing.responder import Responder
from coati.testing.site_parameters import SiteParameters
from tests.driving import ask

START = "http://a.test/"
SPARSE = CountVectorizer(analyzer=iter, vocabulary=[*map(str, range(2 * DIMENSIONS)), "depth"])


def order_of(strategy: Strategy, answer: Callable[[Request], Outcome]) -> list[str]:
    order = []
    while (request := ask(strategy)) is not None:
        order.append(request.url)
        strategy.observe(request.id, answer(request), 0.0)
    return order


class LiteralFocused:
    """FOCUSED as the text says it, with lists for the frontier and scikit-learn for the model."""

    def __init__(
        self, start_url: str, answer: Callable[[Request], Outcome], warm_up: int, batch: int
    ) -> None:
        self.model = SGDClassifier(loss="log_loss", random_state=42)
        self.trained = False
        self.order: list[str] = []
        known, answered = {start_url}, 0
        # (score, url, anchor, depth), in the order of meeting.
        frontier = [(0.0, start_url, "", 0)]
        labelled: list[tuple[list[str], bool]] = []
        while frontier:
            at = int(np.argmax([score for score, *_ in frontier])) if self.trained else 0
            _, url, anchor, depth = frontier.pop(at)
            self.order.append(url)
            outcome = answer(Request(0, Method.GET, url))
            found: list[tuple[str, str, int]] = []
            if isinstance(outcome, Redirect) and outcome.location not in known:
                known.add(outcome.location)
                frontier.append(
                    (self.score(outcome.location, anchor, depth), outcome.location, anchor, depth)
                )
            if isinstance(outcome, Refused):
                continue
            answered += 1
            if not isinstance(outcome, Failure):
                labelled.append((self.row(url, anchor, depth), isinstance(outcome, Target)))
            if answered == warm_up:
                self.train(labelled)
                frontier = [(self.score(u, a, d), u, a, d) for _, u, a, d in frontier]
            elif self.trained and len(labelled) >= batch:
                self.train(labelled)
            if isinstance(outcome, Page):
                links = [outcome.links.link(index) for index in range(len(outcome.links.urls))]
                found = [(link.url, link.anchor, depth + 1) for link in links]
            for link in found:
                if link[0] not in known:
                    known.add(link[0])
                    frontier.append((self.score(*link), *link))

    def row(self, url: str, anchor: str, depth: int) -> list[str]:
        return [*map(str, bag_of((url, anchor)).tolist()), *["depth"] * depth]

    def score(self, url: str, anchor: str, depth: int) -> float:
        if not self.trained:
            return 0.0
        rows = SPARSE.transform([self.row(url, anchor, depth)])
        return round(float(self.model.decision_function(rows)[0]), 6)

    def train(self, labelled: list[tuple[list[str], bool]]) -> None:
        rows = SPARSE.transform([row for row, _ in labelled])
        self.model.partial_fit(rows, [label for _, label in labelled], classes=[False, True])
        self.trained = True
        labelled.clear()


@pytest.mark.parametrize("seed", range(3))
def test_same_order_as_the_literal_text(seed: int) -> None:
    parameters = SiteParameters(pages=60, links_per_page=15, error_share=0.1, redirect_share=0.1)
    responder = Responder(generate_site(parameters, seed))
    start_url = generate_site(parameters, seed).start_url
    literal = LiteralFocused(start_url, responder.outcome, warm_up=30, batch=10)
    order = order_of(focused([start_url], FocusedSettings(30, 10)), responder.outcome)
    assert order == literal.order
    assert order != order_of(breadth_first([start_url]), responder.outcome)
    assert order[:30] == order_of(breadth_first([start_url]), responder.outcome)[:30]


@pytest.mark.parametrize("settings", [FocusedSettings(12, 3), FocusedSettings(0, 1)])
def test_keeps_the_contract(settings: FocusedSettings) -> None:
    check_strategy(lambda site, _seed: focused([site.start_url], settings), in_flight=[5])


def test_a_link_is_not_scored_again_after_the_first_training() -> None:
    """The first link with data in its name was scored when nothing spoke for it, and keeps that score."""
    strategy = focused([START], FocusedSettings(1, 1))

    def answer(request: Request) -> Outcome:
        if request.url == START:
            links = [Link(START + "x.html", ("html", "a")), Link(START + "data/1", ("html", "a"))]
            return Page(200, 1, LinkList(links))
        return Target(200, 1, "text/csv")

    first = ask(strategy)
    assert first is not None
    strategy.observe(first.id, answer(first), 0.0)
    scores = {}
    while (request := ask(strategy)) is not None:
        scores[request.url] = request.score
        strategy.observe(request.id, Target(200, 1, "text/csv"), 0.0)
    # Both were scored by the model that knew one page: a later, better score would be above zero.
    assert all(score is not None and score < 0 for score in scores.values())
    assert len(scores) == 2


def test_what_fails_is_not_an_example_and_what_is_refused_no_request() -> None:
    strategy = focused([START], FocusedSettings(2, 1))
    first = ask(strategy)
    assert first is not None
    urls = [START + name for name in ("dead", "barred", "b", "c")]
    strategy.observe(first.id, Page(200, 1, LinkList([Link(url, ("html", "a")) for url in urls])), 0.0)
    barred = ask(strategy)
    assert barred is not None
    strategy.observe(barred.id, Refused("robots.txt"), 0.0)
    assert strategy.save()["focused_counters"] == [1, False]
    dead = ask(strategy)
    assert dead is not None
    strategy.observe(dead.id, Failure(404, 0, "status 404"), 0.0)
    assert strategy.save()["focused_counters"] == [2, True]
    # One example, the start page, and one step of the model.
    assert strategy.save()["model_rest"][-1] == 1
