"""The same strategy, seed and site: the same requests, live over HTTP and in memory."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from coati.assembly import LIVE_STRATEGIES, build_strategy
from coati.model import Refused
from coati.strategies.strategy import Strategy
from coati.testing.generator import generate_site
from coati.testing.responder import Responder
from coati.testing.server import serve
from coati.testing.site import Site
from coati.testing.site_parameters import SiteParameters
from tests.driving import ask
from tests.live.crawling import crawl_from, crawl_into
from tests.live.steady_sites import without_outages
from tests.site_lists import with_lists

Asked = list[tuple[str, str]]


def in_memory(site: Site, strategy: Strategy, more_start_urls: Sequence[str] = ()) -> Asked:
    """Ask, answer, tell: what a strategy asks of a site without any engine."""
    responder = Responder(site, more_start_urls=more_start_urls)
    asked: Asked = []
    while (request := ask(strategy)) is not None:
        outcome = responder.outcome(request)
        if not isinstance(outcome, Refused):
            asked.append((request.method.value, request.url))
        strategy.observe(request.id, outcome, 0.0)
    return asked


def over_http(
    make: Callable[[str], Site], name: str, seed: int, *, kept: bool, lists: Sequence[str] = ()
) -> tuple[Asked, Asked]:
    """Crawl a site live, into a run folder or not; gives what was asked, and what would be in memory.

    ``lists`` are the paths of further start URLs.
    """
    with serve(lambda base_url: without_outages(make(base_url))) as server, TemporaryDirectory() as folder:
        start = server.url
        more = tuple(start + path for path in lists)
        crawl = partial(crawl_into, Path(folder) / "run") if kept else crawl_from
        crawl(
            start,
            new_strategy=lambda: build_strategy(name, [start, *more], seed),
            more_start_urls=more,
            robots=False,
        )
        live = [(seen.method, seen.url) for seen in server.requests]
        return live, in_memory(server.site, build_strategy(name, [start, *more], seed), more)


sites = st.builds(
    SiteParameters,
    pages=st.integers(2, 30),
    target_share=st.sampled_from([0.0, 0.2, 0.5]),
    pages_with_targets=st.just(0.2),
    target_depth=st.sampled_from([1.5, 3.0]),
    error_share=st.sampled_from([0.0, 0.2]),
    redirect_share=st.sampled_from([0.0, 0.2]),
    other_share=st.sampled_from([0.0, 0.1]),
    templates=st.integers(1, 3),
    links_per_page=st.just(8),
    page_bytes=st.just(1500),
    target_bytes=st.just(500),
    target_bytes_sd=st.just(100),
)


@pytest.mark.parametrize("name", sorted(LIVE_STRATEGIES))
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(parameters=sites, seed=st.integers(0, 1000), kept=st.booleans())
@example(parameters=SiteParameters(pages=60, target_bytes=500, target_bytes_sd=100), seed=1, kept=True)
# Errors have a size over HTTP and none in memory, which nothing may depend on.
@example(
    parameters=SiteParameters(pages=14, target_bytes=500, error_share=0.2, templates=1), seed=0, kept=False
)
def test_live_and_memory_decide_alike(
    name: str, parameters: SiteParameters, seed: int, *, kept: bool
) -> None:
    live, memory = over_http(lambda base: generate_site(parameters, seed, base), name, seed, kept=kept)
    assert live == memory
    assert live


@pytest.mark.parametrize("name", LIVE_STRATEGIES)
@settings(max_examples=4, suppress_health_check=[HealthCheck.too_slow])
@given(parameters=sites, seed=st.integers(0, 1000), kept=st.booleans())
@example(parameters=SiteParameters(pages=60, target_bytes=500, target_bytes_sd=100), seed=1, kept=True)
def test_lists_of_links_are_met_alike(
    name: str, parameters: SiteParameters, seed: int, *, kept: bool
) -> None:
    def make(base: str) -> Site:
        return with_lists(generate_site(parameters, seed, base))

    live, memory = over_http(make, name, seed, kept=kept, lists=["robots.txt", "feed"])
    assert live == memory
    assert {url.rpartition("/")[2] for _, url in live} >= {
        "robots.txt",
        "feed",
        "sitemaps.xml",
        "sitemap-0.xml",
    }
