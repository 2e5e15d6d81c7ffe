"""How long a killed crawl takes to go on, and what writing everything down costs while it runs.

    python -m benchmarks.resume                         100,000 known URLs, 20,000 requests
    python -m benchmarks.resume --strategy bfs --urls 1000000 --requests 200000

A made-up site is crawled into a run folder, with snapshots whenever the store finds one due, and the process
lets go without saving, as after a kill. Then the run is opened and the strategy restored twice: with its
snapshots and without. The promise: under 3 and under 15 seconds, opening included.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path

import click

from benchmarks.reporting import format_option, report
from coati.assembly import LIVE_STRATEGIES, build_strategy
from coati.model import EVERY_HOST, NO_LINKS, Link, LinkList, Method, Outcome, Page, Request, Target
from coati.runs import Fetched, Layout, RunStore, SnapshotForm
from coati.strategies.state import pack

_START = "http://site.example/"
_HEADERS = (("Content-Type", "text/html; charset=utf-8"), ("Server", "example"), ("Vary", "Accept"))
_LINKS = 100
_BODY_BYTES = 40_000
# Kept low, since waiting for the disk after each target is not what is measured.
_TARGET_SHARE = 0.02


class MadeUpSite:
    """Pages of 40 KB with a hundred links, of which as many are new as gives ``urls`` in ``requests``."""

    def __init__(self, urls: int, requests: int) -> None:
        self._rng = random.Random(1)
        self._urls = urls
        self._new = -(-urls // max(1, int(requests * (1 - _TARGET_SHARE))))
        self._met = 0
        self._menu = [self._link() for _ in range(_LINKS - self._new)]
        self._bodies = [self._body() for _ in range(16)]

    def answer(self, request: Request, at: float) -> Fetched:
        """Return a target for a .csv, else a page."""
        outcome: Outcome
        body: bytes | None = None
        if request.url.endswith(".csv"):
            body = f"name,value\n{request.url},{request.id}\n".encode()
            outcome = Target(200, len(body), "text/csv")
        elif request.method is Method.HEAD:
            outcome = Page(200, 0, NO_LINKS)
        else:
            new = [self._link() for _ in range(self._new)] if self._met < self._urls else []
            body = self._rng.choice(self._bodies)
            outcome = Page(200, len(body), LinkList([*self._menu, *new]))
        return Fetched(request, outcome, at, at, headers=_HEADERS, body=body)

    def _body(self) -> bytes:
        item = '<li class="item"><a href="/section-{}/topic-{}">Document {}</a> <em>and more text</em></li>\n'
        draw = self._rng.randrange
        return "".join(item.format(draw(20), draw(200), draw(10**6)) for _ in range(450)).encode()[
            :_BODY_BYTES
        ]

    def _link(self) -> Link:
        self._met += 1
        template = self._rng.randrange(200)
        ending = "csv" if self._rng.random() < _TARGET_SHARE else "html"
        url = f"{_START}section-{template % 20}/topic-{template}/document-with-a-name-{self._met}.{ending}"
        path = (
            "html",
            "body.site",
            "div#main",
            f"section.t{template % 40}",
            f"ul.list-{template}",
            "li",
            "a",
        )
        return Link(url, path, f"Document {self._met}", f"Document {self._met} and the text around it")


def _build(folder: Path, site: MadeUpSite, strategy: str, requests: int) -> dict[str, object]:
    """Crawl, and give the CPU time of the store's part in it."""
    form = _form(strategy)
    store = RunStore.create(folder, {"start_url": _START}, 0.0)
    crawler = store.restore(partial(build_strategy, strategy, [_START]), form).strategy
    spent = snapshots = 0.0
    for step in range(requests):
        # Two hundred requests per second: much faster than polite.
        now = step / 200
        request = crawler.choose(now, EVERY_HOST)
        if not isinstance(request, Request):
            break
        fetched = site.answer(request, now)
        begun = time.process_time()
        store.chosen(request, now)
        recorded = store.record(fetched)
        spent += time.process_time() - begun
        store.settled(crawler.observe(request.id, recorded.outcome, 0.0))
        if store.snapshot_due:
            begun = time.process_time()
            store.snapshot(crawler, form)
            snapshots += time.process_time() - begun
    row: dict[str, object] = {
        "what": "writing down, WARC included",
        "us per request": 1e6 * spent / requests,
        "us per request, snapshots": 1e6 * snapshots / requests,
    }
    _let_go(store)
    return row


def _resume(what: str, folder: Path, strategy: str, limit: float) -> tuple[dict[str, object], bytes]:
    """Open and restore; return the row and the state, to compare."""
    begun, cpu = time.perf_counter(), time.process_time()
    store = RunStore.open(folder, 1e6)
    opened = time.perf_counter()
    restored = store.restore(partial(build_strategy, strategy, [_START]), _form(strategy))
    done = time.perf_counter()
    row: dict[str, object] = {
        "what": what,
        "events redone": restored.events_redone,
        "open s": opened - begun,
        "restore s": done - opened,
        "total s": done - begun,
        "CPU s": time.process_time() - cpu,
        "limit s": limit,
    }
    state = pack(restored.strategy.save())
    _let_go(store)
    return row, state


def _let_go(store: RunStore) -> None:
    """Drop everything as a kill would, without saving."""
    store.log.connection.close()
    store._warc.close()  # noqa: SLF001
    store._lock.release()  # noqa: SLF001


def _form(strategy: str) -> SnapshotForm:
    return SnapshotForm(strategy, {"start_url": _START})


@click.command()
@click.option(
    "--strategy", type=click.Choice(list(LIVE_STRATEGIES)), default="sb-classifier", show_default=True
)
@click.option("--urls", default=100_000, show_default=True)
@click.option("--requests", default=20_000, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Build the run here and keep it.")
@format_option
def main(strategy: str, urls: int, requests: int, out: Path | None, form: str) -> None:
    """Build a run, let it go, and time how it is taken up again."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = out or Path(temporary) / "run"
        rows = [_build(folder, MadeUpSite(urls, requests), strategy, requests)]
        with_snapshot, state = _resume("resumed, from snapshot and tail", folder, strategy, 3.0)
        shutil.rmtree(Layout(folder).snapshots)
        from_log, same_state = _resume("resumed, from the log alone", folder, strategy, 15.0)
        if state != same_state:
            raise click.ClickException("the two ways to restore gave different states")
        rows += [with_snapshot, from_log]
        size = Layout(folder).database.stat().st_size
    title = f"resume of {strategy}, {urls:,} URLs, {requests:,} requests, {size / 1e6:,.0f} MB of log"
    report(title, rows, form)


if __name__ == "__main__":
    main()
