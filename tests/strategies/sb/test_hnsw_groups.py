from __future__ import annotations

import random

from coati.assembly import StrategySettings, build_strategy
from coati.strategies.sb.hnsw_groups import HnswGroups
from coati.strategies.sb.path_groups import PathGroups
from coati.strategies.sb.tag_path_vectors import TagPathSpace
from coati.testing.generator import generate_site
from coati.testing.responder import Responder
from coati.testing.site_parameters import SiteParameters
from tests.driving import ask


def test_finds_what_the_exact_search_finds() -> None:
    """It is approximate: of 1,500 paths in over 300 groups it may miss the nearest in two of a hundred."""
    missed = 0
    rng = random.Random(5)
    space, exact, hnsw = TagPathSpace(), PathGroups(), HnswGroups()
    tokens = [f"div.c{i}" for i in range(40)]
    for _ in range(1500):
        path = ("html", "body", *rng.choices(tokens, k=rng.randint(1, 4)), "ul", "li", "a")
        vector = space.vector(path)
        mine = hnsw.join(vector)
        best = exact.nearest(vector)
        if best is None:
            assert mine == len(exact)
        elif mine == len(exact) or exact.similarity(mine, vector) < exact.similarity(best, vector) - 1e-6:
            missed += 1
        exact.put(mine, vector)
    assert len(exact) > 300
    assert missed <= 30


def test_a_crawl_over_hnsw_makes_the_same_requests() -> None:
    site = generate_site(SiteParameters(pages=120), 3)
    orders = []
    for index in ("exact", "hnsw"):
        responder = Responder(site)
        settings = StrategySettings(group_index=index)
        strategy = build_strategy("sb-classifier", [site.start_url], 3, settings=settings)
        order = []
        while (request := ask(strategy)) is not None:
            order.append(request.url)
            strategy.observe(request.id, responder.outcome(request), 0.0)
        orders.append(order)
    assert orders[0] == orders[1]
