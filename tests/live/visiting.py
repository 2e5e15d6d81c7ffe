"""A site whose pages change from visit to visit, and crawls of it that come back."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta
from coati.assembly import Need, StrategyRow
from coati.replaying.clock import SimulatedClock
from coati.testing.revisiting import RevisitInTurn
from coati.times import from_iso
from coati.web.media import PRESETS
from tests.live.crawling import Crawled, crawl_into
from tests.live.scripted import Exchange, Route

ROOT = Path(__file__).parents[2]

EVERY_SECONDS = 0.05
VISITS = 4


def versions(*bodies: str, media_type: str = "text/html", etags: bool = True) -> Route:
    """Answer each visit with the next body, the last for ever; unchanged ones by 304, with ``etags``."""
    visits = Counter[str]()
    lock = threading.Lock()

    def route(exchange: Exchange) -> None:
        with lock:
            number = min(visits[exchange.path], len(bodies) - 1)
            visits[exchange.path] += 1
        body = bodies[number]
        tag = f'"{bodies.index(body)}"'
        if etags and exchange.headers.get("If-None-Match") == tag:
            exchange.answer(304, ETag=tag)
        else:
            exchange.answer(200, body, media_type, **({"ETag": tag} if etags else {}))

    return route


def links(*paths: str) -> str:
    return "".join(f"<a href='{path}'>{path}</a>" for path in paths)


def changing_site() -> dict[str, Route]:
    """Make pages that gain and lose links, stay as they are, and vanish; files that change or do not."""
    gone = lambda exchange: exchange.answer(404, "gone")  # noqa: E731 - a route like the others
    return {
        "/": versions(links("/a", "/b", "/x.csv"), links("/a", "/b", "/x.csv", "/c"), links("/a", "/c")),
        "/a": versions(links("/", "/y.csv"), links("/", "/y.csv"), links("/y.csv")),
        # It has no tags, so it is sent whole each time.
        "/b": versions(links("/"), links("/"), links("/", "/old"), etags=False),
        "/c": versions(links("/z.csv")),
        "/old": lambda exchange: exchange.answer(301, Location="/a"),
        "/x.csv": versions("1,2", "1,2", "3,4", "3,4", media_type="text/csv"),
        "/y.csv": versions("5", "6", "6", media_type="text/csv", etags=False),
        "/z.csv": gone,
    }


def round_robin(start_url: str) -> RevisitInTurn:
    return RevisitInTurn([start_url], EVERY_SECONDS, VISITS)


ROW = StrategyRow(
    "visits every page again",
    lambda given: RevisitInTurn(given.start_urls, EVERY_SECONDS, VISITS),
    ("coati.testing.revisiting",),
    needs=frozenset({Need.OUT_LINKS}),
    seeded=False,
)


def visit_into(folder: Path, start_url: str, **changes: Any) -> Crawled:  # noqa: ANN401 - fields of a plan
    return crawl_into(
        folder, start_url, new_strategy=lambda: round_robin(start_url), out_links=True, **changes
    )


def open_archive(folder: Path, start_url: str) -> Archive:
    if folder.exists():
        return Archive.open(folder, writable=True)
    return Archive.create(folder, ArchiveMeta("changing", start_url, PRESETS["data"]))


def decisions(folder: Path, base: str) -> list[tuple[str, str, float, float | None]]:
    """Read what a run asked for, what came of it, and with what score and reward."""
    query = "SELECT url, kind, score, reward FROM requests ORDER BY chosen_event"
    with closing(sqlite3.connect(folder / "run.sqlite")) as run:
        return [(url.removeprefix(base), *rest) for url, *rest in run.execute(query)]


class LoggedTimes(SimulatedClock):
    """The times of a run, in the order of its requests."""

    def __init__(self, folder: Path) -> None:
        query = "SELECT chosen_at, finished_at FROM requests ORDER BY chosen_event"
        with closing(sqlite3.connect(folder / "run.sqlite")) as run:
            self._times = [(from_iso(chosen), from_iso(finished)) for chosen, finished in run.execute(query)]
        super().__init__(self._times[0][0])
        self._turn = 0

    def answered(self) -> float:
        return self._times[self._turn][1]

    def spend(self) -> None:
        self._turn += 1
        self.now = self._times[min(self._turn, len(self._times) - 1)][0]


class Killer:
    """Kills a process when a request arrives for the n-th time, before it is counted or answered."""

    def __init__(self, routes: dict[str, Route], at: Sequence[int]) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.asked = 0
        self._at = set(at)
        # Nothing is killed before it is known which process asks.
        self._starting = threading.Lock()
        self.routes = {path: self._watched(route) for path, route in routes.items()}

    def _watched(self, route: Route) -> Route:
        def watched(exchange: Exchange) -> None:
            self.asked += 1
            with self._starting:
                process = self.process
            if self.asked in self._at and process is not None:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
                exchange.close_connection = True
            else:
                route(exchange)

        return watched

    def crawl(self, folder: Path, start_url: str) -> int:
        """Crawl in a process of its own; gives its exit code."""
        command = (
            "import sys; from pathlib import Path; from tests.live.visiting import visit_into;"
            f"visit_into(Path({str(folder)!r}), {start_url!r})"
        )
        with self._starting:
            self.process = subprocess.Popen([sys.executable, "-c", command], cwd=ROOT)
        return self.process.wait()
