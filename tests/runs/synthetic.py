"""A website that exists as arithmetic, and the loop of a driver over it: same seed, same everything."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from coati.assembly import build_strategy
from coati.model import (
    NO_LINKS,
    Failure,
    Link,
    LinkList,
    Method,
    Outcome,
    Page,
    Redirect,
    Request,
    Target,
)
from coati.runs.fetched import Fetched
from coati.runs.restoring import Restored
from coati.runs.snapshots import SnapshotForm
from coati.runs.store import RunStore
from coati.strategies.strategy import Strategy
from coati.web.rules import Refusal
from tests.driving import ask

HOST = "http://site.example"
START = f"{HOST}/"
HTML = (("Content-Type", "text/html; charset=utf-8"), ("Content-Encoding", "gzip"))
CSV = (("Content-Type", "text/csv"), ("Content-Disposition", 'attachment; filename="table.csv"'))


def number(*parts: object) -> int:
    """Draw a number from what is given, the same in every process."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=6).digest(), "big")


@dataclass(frozen=True)
class Site:
    """``size`` URLs: pages that link to some others, and targets, redirects and errors among them."""

    seed: int
    size: int
    links: int = 8

    def url(self, n: int) -> str:
        return START if n == 0 else f"{HOST}/{n}"

    def answer(self, request: Request) -> Fetched:
        """Return what the site answers; times follow from the request's id."""
        path = request.url.removeprefix(START)
        n = int(path or 0)
        outcome, headers, body = self._content(n)
        if request.method is Method.HEAD:
            body = None
            outcome = Page(200, 0, NO_LINKS) if isinstance(outcome, Page) else outcome
        return Fetched(
            request,
            outcome,
            started_at=1000.0 + request.id / 1000,
            finished_at=1000.5 + request.id / 1000,
            headers=headers,
            body=body,
            sent=(("User-Agent", "Coati/test"),),
            refused=((f"http://elsewhere.example/{n % 7}", Refusal.SCOPE),) if body else (),
        )

    def _content(self, n: int) -> tuple[Outcome, tuple[tuple[str, str], ...], bytes | None]:
        kind = number(self.seed, "kind", n) % 10 if n else 9
        if kind <= 2:
            # Some bodies are equal under different URLs.
            body = f"a,b\n{number(self.seed, 'body', n) % self.size},{self.seed}\n".encode() * 9
            return Target(200, len(body), "text/csv"), CSV, body
        if kind == 3:
            return Redirect(302, 0, self.url(number(self.seed, "to", n) % self.size)), (), None
        if kind == 4:
            return Failure(404, 9, "404"), (), None
        links = LinkList([self._link(n, i) for i in range(self.links)])
        body = "".join(f"<a href='{url}'>x</a>" for url in links.urls).encode()
        return Page(200, len(body), links), HTML, body

    def _link(self, n: int, i: int) -> Link:
        to = self.url(number(self.seed, "link", n, i) % self.size)
        return Link(
            to, ("html", "body", f"div.c{i % 3} > odd\\", "a"), f"link {i} ü", f"context of {n}" * (i % 2)
        )


def form(strategy: str, seed: int = 0) -> SnapshotForm:
    return SnapshotForm(strategy, {"start": START, "seed": seed})


class Loop:
    """What a live driver does, without a network: ``width`` in flight, answered in a fixed disorder."""

    def __init__(
        self,
        store: RunStore,
        site: Site,
        strategy: str,
        width: int,
        seed: int = 0,
        on_send: Callable[[Request], None] = lambda _: None,
    ) -> None:
        self.store = store
        self.site = site
        self.width = width
        self.form = form(strategy, seed)
        self.restored: Restored[Strategy] = store.restore(
            lambda: build_strategy(strategy, [START], seed), self.form
        )
        self.strategy = self.restored.strategy
        self.open: list[Request] = []
        self.sent: list[Request] = []
        self._on_send = on_send
        for request in self.restored.in_flight:
            self._send(request)

    def steps(self, limit: int = 1_000_000) -> int:
        """Observe up to ``limit`` answers; returns how many there were."""
        for done in range(limit):
            while len(self.open) < self.width:
                now = 1000.0 + self.store.totals.requests / 1000
                chosen = ask(self.strategy, now)
                if chosen is None:
                    break
                self.store.chosen(chosen, now)
                self._send(chosen)
            if not self.open:
                return done
            observed = sum(self.store.totals.by_kind.values())
            self.finish(self.open.pop(number(observed) % len(self.open)))
        return limit

    def _send(self, request: Request) -> None:
        self._on_send(request)
        self.open.append(request)
        self.sent.append(request)

    def finish(self, request: Request) -> None:
        recorded = self.store.record(self.site.answer(request))
        self.store.settled(self.strategy.observe(request.id, recorded.outcome, 0.0))


TABLES = {
    "requests": "id, url, method, kind, status, size_bytes, media_type, location, reason, arm, score, reward,"
    " charged, link, redirected_from, chosen_event, observed_event",
    "links": "id, page, url, anchor, context",
    "pages": "request, url, links, new_links, sha256",
    "targets": "request, url, file, size_bytes, anchor, found_on, tag_path, redirects, sha256, fetched_at",
    "files": "name, sha256, size_bytes",
    "skipped": "url, reason",
}


def rows(store: RunStore, query: str) -> list[Any]:
    """Ask the database of a run that is being written."""
    return store.log.connection.execute(query).fetchall()


def dump(store: RunStore) -> dict[str, list[Any]]:
    """Return everything that the log says, to compare two runs."""
    store.finish(3000.0, "compared")  # rewards wait for the next write
    return {
        table: rows(store, f"SELECT {columns} FROM {table} ORDER BY 1")  # noqa: S608 - constants
        for table, columns in TABLES.items()
    }


def new_store(folder: Path) -> RunStore:
    return RunStore.create(folder, {"start_url": START}, 1000.0)


def abandon(store: RunStore) -> None:
    """Let go of everything as a kill would: nothing more is written."""
    store._closed = True  # noqa: SLF001
    store.log.connection.close()
    store._warc.close()  # noqa: SLF001
    store._lock.release()  # noqa: SLF001


def check_files(store: RunStore) -> int:
    """Compare every target that the database knows with the bytes on disk; returns how many there are."""
    targets = rows(store, "SELECT file, sha256, size_bytes FROM targets")
    for name, sha256, size in targets:
        body = (store.folder / "files" / name).read_bytes()
        assert len(body) == size
        assert hashlib.sha256(body).hexdigest() == sha256
    return len(targets)


@contextmanager
def fast_folder() -> Iterator[Path]:
    """Return a folder in memory where there is one: many small runs mostly wait for the disk."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of a name of its own is made in it
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)
