"""Facts about pages: the same live, in memory and after a run was restored from its log."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from coati.model import Hosts, Later, Method, Outcome, Page, Request, Settlement
from coati.runs.store import RunStore
from coati.strategies.baselines.simple_orders import FrontierStrategy
from coati.strategies.frontier import Fifo
from coati.testing.responder import Responder
from coati.testing.sample_site import sample_site
from coati.testing.server import serve
from coati.web.facts import EXTRACTORS
from tests.live.crawling import FORM, crawl_from, crawl_into

TEXT = {"text": EXTRACTORS["text"]}


class Reads(FrontierStrategy):
    """Breadth-first, and keeps what it reads."""

    def __init__(self, start_url: str) -> None:
        super().__init__([start_url], Fifo())
        self.read: list[tuple[str, object]] = []
        self._urls: dict[int, str] = {}

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        request = super().choose(now, hosts)
        if isinstance(request, Request):
            self._urls[request.id] = request.url
        return request

    def redo(self, request: Request, now: float) -> None:
        super().redo(request, now)
        self._urls[request.id] = request.url

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        if isinstance(outcome, Page):
            self.read.append((self._urls[request_id], outcome.facts.get("text")))
        return super().observe(request_id, outcome, now)


def test_a_strategy_reads_the_same_live_in_memory_and_restored(tmp_path: Path) -> None:
    with serve(sample_site) as server:
        strategy = Reads(server.url)
        crawl_into(
            tmp_path / "run",
            server.url,
            new_strategy=lambda: strategy,
            extractors=TEXT,
            robots=False,
            max_requests=40,
        )
        responder = Responder(server.site)
    assert len(strategy.read) > 10
    assert all(text for _, text in strategy.read)
    for url, text in strategy.read:
        in_memory = responder.outcome(Request(0, Method.GET, url))
        assert isinstance(in_memory, Page)
        assert in_memory.facts["text"] == text
    (tmp_path / "run" / "state" / "snapshots").rename(tmp_path / "snapshots")
    with RunStore.open(tmp_path / "run", 2e9) as store:
        restored = store.restore(lambda: Reads(server.url), FORM).strategy
    assert restored.read == strategy.read


def test_facts_are_found_and_logged_only_where_the_plan_names_them(tmp_path: Path) -> None:
    with serve(sample_site) as server:
        strategy = Reads(server.url)
        crawl_from(server.url, new_strategy=lambda: strategy, robots=False, max_requests=3)
        assert {text for _, text in strategy.read} == {None}
        crawl_into(tmp_path / "plain", server.url, robots=False, max_requests=3)
        crawl_into(tmp_path / "read", server.url, robots=False, max_requests=3, extractors=TEXT)
    logged = {}
    for name in ("plain", "read"):
        connection = sqlite3.connect(tmp_path / name / "run.sqlite")
        logged[name] = [facts for (facts,) in connection.execute("SELECT facts FROM pages")]
        connection.close()
    assert set(logged["plain"]) == {None}
    assert all(json.loads(facts)["text"] for facts in logged["read"])
