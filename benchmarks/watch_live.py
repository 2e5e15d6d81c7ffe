"""Watch a site that publishes for two weeks, over HTTP on loopback, with a clock that runs fast.

    python -m benchmarks.watch_live [--seeds 0,1,2,3,4] [--schedulers arrivals,rr]

A thousand pages, two hundred new files: half of them on section pages, the others on news items that a
section lists, or on old items. Each simulated hour the watch has twenty requests. Beside it, a crawl from
scratch every night with as many requests as the watch has in a day. Printed are the share of the new files
that each found, and how long after publication.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from coati.budget import Budget
from coati.live import crawl
from coati.live.outcomes import FetchResult
from coati.model import Request, Target
from coati.runs.store import RunStore
from coati.settings.crawl_plan import CrawlResources, crawl_plan
from coati.settings.run_file import to_toml_values
from coati.settings.run_settings import RunSettings
from coati.watching.watch import find_watch, watch_once
from coati.web.urls import path_of

HOUR = 3600.0
BEGIN = 1_767_571_200.0  # a Monday, 00:00 UTC
SECTIONS, ITEMS, FILES, HOURS = 40, 24, 200, 14 * 24
PER_HOUR = 20
WORKING_DAYS, WORKING_HOURS = range(5), range(8, 18)
# Where new files hang: on the page of a section, on a news item that it lists; else on an old item.
ON_SECTION, ON_NEWS = 0.5, 0.3


def _is_working(hour: int) -> bool:
    return (hour // 24) % 7 in WORKING_DAYS and hour % 24 in WORKING_HOURS


@dataclass
class PublishingSite:
    """What is on the site at an hour; pages are made when they are requested."""

    published: dict[str, float]
    on_page: dict[str, list[tuple[float, str]]]
    now: float = BEGIN
    requests: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def make(cls, seed: int) -> PublishingSite:
        rng = random.Random(seed)
        published: dict[str, float] = {}
        on_page: dict[str, list[tuple[float, str]]] = {}

        def link(page: str, url: str, at: float) -> None:
            on_page.setdefault(page, []).append((at, url))

        for section in range(SECTIONS):
            link("/", f"/s{section}/", 0.0)
            for item in range(ITEMS):
                link(f"/s{section}/", f"/s{section}/item-{item}.html", 0.0)
                if item % 3 == 0:
                    link(f"/s{section}/item-{item}.html", f"/files/old-{section}-{item}.csv", 0.0)
            for old in range(5):
                link(f"/s{section}/", f"/files/table-{section}-{old}.csv", 0.0)
        # Few sections publish most, on working days, in the daytime.
        weights = [1 / (section + 1) for section in range(SECTIONS)]
        working = [hour for hour in range(24, HOURS - 24) if _is_working(hour)]
        for number in range(FILES):
            at = BEGIN + rng.choice(working) * HOUR
            section = rng.choices(range(SECTIONS), weights)[0]
            url = f"/files/new-{number}.csv"
            published[url] = at
            where = rng.random()
            if where < ON_SECTION:
                link(f"/s{section}/", url, at)
            elif where < ON_SECTION + ON_NEWS:
                news = f"/s{section}/news-{number}.html"
                link(f"/s{section}/", news, at)
                link(news, url, at)
            else:
                link(f"/s{section}/item-{rng.randrange(ITEMS)}.html", url, at)
        return cls(published, on_page)

    def answer(self, path: str) -> tuple[int, str, bytes]:
        with self.lock:
            self.requests += 1
        if path.startswith("/files/"):
            there = self.published.get(path, 0.0) <= self.now
            return (
                (200, "text/csv", f"name,value\n{path},1\n".encode()) if there else (404, "text/plain", b"")
            )
        links = [url for at, url in self.on_page.get(path, ()) if at <= self.now]
        if not links and path not in self.on_page and not path.startswith("/s"):
            return 404, "text/plain", b""
        body = "".join(f'<li><a href="{url}">{url}</a></li>' for url in links)
        return 200, "text/html", f"<title>{path}</title><ul>{body}</ul>".encode()


@contextmanager
def _served(site: PublishingSite) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            status, media_type, body = site.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def _settings_of(start: str) -> RunSettings:
    return RunSettings(urls=(start,), delay=0.0, concurrency=4, strategy="scent")


def _crawl_once(site: PublishingSite, start: str, folder: Path, budget: int | None) -> set[str]:
    """Crawl from scratch; returns the new files that it took."""
    settings = _settings_of(start)
    found: set[str] = set()

    def see(request: Request, result: FetchResult) -> None:
        if isinstance(result.outcome, Target):
            found.add(path_of(request.url))

    with RunStore.create(folder, to_toml_values(settings), site.now) as store:
        plan = crawl_plan(settings, CrawlResources(store=store, on_fetched=see))
        crawl(replace(plan, clock=lambda: site.now, budget=Budget(max_requests=budget)))
    return found & set(site.published)


def _watched(seed: int, scheduler: str, hours: int) -> dict[str, object]:
    site = PublishingSite.make(seed)
    found_at: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name, _served(site) as start:
        folder = Path(name) / "site"
        _crawl_once(site, start, folder, None)
        options = {"per_cycle": 16, "follow": 3, "check": 1, "scheduler": scheduler}
        place = find_watch([folder], options, None)
        watch_once(place, lambda: site.now)
        requests_before = site.requests
        for hour in range(1, hours):
            site.now = BEGIN + hour * HOUR
            for change in watch_once(place, lambda: site.now).changes:
                if change.what == "new":
                    found_at.setdefault(path_of(change.url), site.now)
        requests = site.requests - requests_before
    return {"what": "watch", "by": scheduler, "seed": seed, **_summary(site, found_at, requests, hours)}


def _nightly(seed: int, hours: int) -> dict[str, object]:
    site = PublishingSite.make(seed)
    found_at: dict[str, float] = {}
    requests = 0
    with tempfile.TemporaryDirectory() as name, _served(site) as start:
        for day in range(1, hours // 24 + 1):
            site.now = BEGIN + day * 24 * HOUR
            before = site.requests
            for url in _crawl_once(site, start, Path(name) / f"night-{day}", 24 * PER_HOUR):
                found_at.setdefault(url, site.now)
            requests += site.requests - before
    return {"what": "nightly crawl", "by": "scent", "seed": seed, **_summary(site, found_at, requests, hours)}


def _summary(
    site: PublishingSite, found_at: dict[str, float], requests: int, hours: int
) -> dict[str, object]:
    end = BEGIN + hours * HOUR
    published = {url: at for url, at in site.published.items() if at < end}
    delays = [(at - published[url]) / HOUR for url, at in found_at.items() if url in published]
    return {
        "published": len(published),
        "found": len(delays),
        "share": round(len(delays) / max(len(published), 1), 3),
        "median_delay_hours": round(statistics.median(delays), 1) if delays else None,
        "mean_delay_hours": round(statistics.mean(delays), 1) if delays else None,
        "requests": requests,
        "hours": hours,
    }


def main() -> None:
    """Print one JSON object per run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--hours", type=int, default=HOURS)
    parser.add_argument("--schedulers", default="arrivals")
    chosen = parser.parse_args()
    for seed in map(int, chosen.seeds.split(",")):
        for scheduler in chosen.schedulers.split(","):
            print(json.dumps(_watched(seed, scheduler, chosen.hours)), flush=True)
        print(json.dumps(_nightly(seed, chosen.hours)), flush=True)


if __name__ == "__main__":
    main()
