"""No strategy decides otherwise than it did, unless somebody meant it to.

`decisions.json` holds a digest of everything that each strategy asks for on generated sites, one request at a
time and with four in flight. A digest that changes by accident is a bug. One that changes on purpose is
stored again by

    python -m tests.test_decisions

and the change says why. With the names of a site and a strategy and the number in flight, the same command
prints the requests instead, so that those of two checkouts can be compared line by line.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from coati.assembly import REGISTRY, SITE_STRATEGIES, Need, StrategySettings, build_strategy
from coati.model import EVERY_HOST, Kind, Outcome, Request, Target
from coati.strategies.chance import draw
from coati.strategies.strategy import Strategy
from coati.strategies.tres.tres import TresExamples
from coati.strategies.truth import SiteTruth
from coati.testing.generator import generate_site
from coati.testing.responder import Responder
from coati.testing.site import Site
from coati.testing.site_parameters import SiteParameters
from coati.web.page_text import text_of
from tests.strategies.truths import truth_of

FILE = Path(__file__).with_name("decisions.json")
AGAIN = "python -m tests.test_decisions"

# The neural one needs PyTorch, whose sums differ between machines.
NAMES = [name for name in SITE_STRATEGIES if name != "tres"]
SEED = 1
IN_FLIGHT = (1, 4)
# TP-OFF stops learning within the smallest of the sites.
SETTINGS = StrategySettings(warm_up=60)

SITES = {
    # TRES draws its first 300 pages at random, so one site has more.
    "large": (SiteParameters(pages=420, links_per_page=20, target_share=0.35), 1),
    "wasteful": (
        SiteParameters(pages=160, links_per_page=15, error_share=0.25, redirect_share=0.2, other_share=0.05),
        2,
    ),
    "traps": (
        SiteParameters(
            pages=140,
            links_per_page=15,
            target_depth=9,
            calendar_pages=60,
            concatenating_pages=12,
            session_pages=40,
        ),
        3,
    ),
}
EXAMPLES = (SiteParameters(pages=60, links_per_page=15), 4)
CASES = list(product(SITES, NAMES, IN_FLIGHT))


@dataclass(frozen=True, slots=True)
class KnownSite:
    """A site, and all that a strategy may be told about it."""

    site: Site
    truth: SiteTruth
    answer: Callable[[Request], Outcome]

    def page_text(self, url: str) -> str:
        response = self.site.get(url)
        return text_of(response.body or b"", response.media_type)


@cache
def known_site(parameters: SiteParameters, seed: int) -> KnownSite:
    site = generate_site(parameters, seed)
    return KnownSite(site, truth_of(site), Responder(site).outcome)


@cache
def examples() -> TresExamples:
    known = known_site(*EXAMPLES)
    truth = known.truth
    texts: dict[bool, list[str]] = {True: [], False: []}
    for url, kind, children in zip(truth.urls, truth.kinds, truth.children, strict=True):
        if kind is Kind.PAGE:
            leads = any(truth.kinds[child] is Kind.TARGET for child in children)
            texts[leads].append(known.page_text(url))
    return TresExamples(texts[True], texts[False])


def build(name: str, known: KnownSite) -> Strategy:
    given = examples() if Need.EXAMPLES in REGISTRY[name].needs else None
    return build_strategy(name, [known.site.start_url], SEED, known.truth, SETTINGS, given)


def crawl(strategy: Strategy, known: KnownSite, in_flight: int) -> Iterator[tuple[Request, Outcome]]:
    """Crawl a site to its end; yields the requests in the order of their answers.

    Which of those in flight is answered next depends on nothing but how many were.
    """
    waiting: list[Request] = []
    answered = 0
    while True:
        while len(waiting) < in_flight:
            request = strategy.choose(float(answered), EVERY_HOST)
            if not isinstance(request, Request):
                break
            waiting.append(request)
        if not waiting:
            return
        request = waiting.pop(draw(in_flight, answered, len(waiting)))
        outcome = known.answer(request)
        strategy.observe(request.id, outcome, float(answered))
        answered += 1
        yield request, outcome


def steps(site: str, name: str, in_flight: int) -> Iterator[tuple[str, str, int | None, str]]:
    """Tell a crawl: method, URL and arm of each request, and what kind of answer came."""
    known = known_site(*SITES[site])
    for request, outcome in crawl(build(name, known), known, in_flight):
        yield request.method.value, request.url, request.arm, type(outcome).__name__


def decisions(site: str, name: str, in_flight: int) -> str:
    """Sum up a crawl: a digest of its steps, and two numbers that tell roughly what changed."""
    digest = hashlib.sha256()
    requests, targets = 0, set()
    for step in steps(site, name, in_flight):
        digest.update(line(step))
        requests += 1
        if step[-1] == Target.__name__:
            targets.add(step[1])
    return f"{digest.hexdigest()[:16]}, {requests} requests, {len(targets)} targets"


def line(step: tuple[str, str, int | None, str]) -> bytes:
    return f"{json.dumps(step)}\n".encode()


def contents(site: str) -> str:
    """Sum up what a site answers: where that changes, every decision may."""
    made = known_site(*SITES[site]).site
    digest = hashlib.sha256()
    for url in made:
        response = made.get(url)
        digest.update(f"{url} {response.status} {response.headers} {response.size_bytes}\n".encode())
        digest.update(response.body or b"")
    return f"{digest.hexdigest()[:16]}, {len(made)} URLs"


def case(name: str, in_flight: int) -> str:
    return f"{name}, {in_flight} in flight"


def stored() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def store() -> None:
    """Write the digests of the code as it is."""
    found = {site: {"the site": contents(site)} for site in SITES}
    for site, name, in_flight in CASES:
        found[site][case(name, in_flight)] = decisions(site, name, in_flight)
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


@pytest.mark.parametrize("site", SITES)
def test_a_generated_site_is_the_one_that_was_crawled(site: str) -> None:
    assert contents(site) == stored()[site]["the site"]


@pytest.mark.parametrize(("site", "name", "in_flight"), CASES)
def test_a_strategy_decides_as_it_did(site: str, name: str, in_flight: int) -> None:
    expected = stored()[site].get(case(name, in_flight))
    assert decisions(site, name, in_flight) == expected, f"if that is meant: {AGAIN}"


def test_nothing_is_stored_that_no_strategy_is_held_to() -> None:
    cases = {"the site", *(case(name, in_flight) for name, in_flight in product(NAMES, IN_FLIGHT))}
    assert {site: set(digests) for site, digests in stored().items()} == dict.fromkeys(SITES, cases)


if __name__ == "__main__":
    match sys.argv[1:]:
        case [site, name, in_flight]:
            sys.stdout.buffer.writelines(map(line, steps(site, name, int(in_flight))))
        case _:
            store()
