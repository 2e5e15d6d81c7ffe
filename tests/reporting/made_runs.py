"""Run folders for tests of what reads them: crawls of sites that are values, without a network."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from coati.model import Deferred, Outcome, Page, Refused, Request, Target
from coati.runs.fetched import Fetched
from coati.runs.store import RunStore
from coati.settings.crawl_plan import new_strategy, snapshot_form
from coati.settings.run_settings import RunSettings
from coati.strategies.strategy import Strategy
from coati.testing.responder import Responder
from coati.testing.site import Response, Site, body_of
from coati.web.links import LinkExtractor
from coati.web.rules import Refusal, Rules
from tests.driving import ask
from tests.runs.synthetic import abandon

BEGIN = 1_772_355_907.0  # 1 March 2026, 09:05 UTC
TIME = "2026-03-01T09:05:07.000Z"


class MadeRun:
    """A crawl of a site into a folder, one request at a time and one second each."""

    def __init__(
        self,
        folder: Path,
        site: Site,
        strategy: str = "sb-classifier",
        settings: Mapping[str, object] | None = None,
        seed: int = 0,
    ) -> None:
        self.site = site
        given = {"urls": [site.start_url], "strategy": strategy, "seed": seed, **(settings or {})}
        self.store = RunStore.create(folder, given, BEGIN)
        chosen = RunSettings(urls=(site.start_url,), strategy=strategy, seed=seed)
        self.form = snapshot_form(chosen)
        self._new_strategy = lambda: new_strategy(chosen)
        self.strategy: Strategy = self.store.restore(self._new_strategy, self.form).strategy
        self._responder = Responder(site)
        self._extractor = LinkExtractor(Rules(site.start_url))
        self.now = BEGIN
        # What meets an outage when it is requested next.
        self.out_of_reach: set[str] = set()

    def steps(self, limit: int = 1_000_000) -> int:
        """Make so many requests, or as many as there are."""
        for done in range(limit):
            request = ask(self.strategy, self.now)
            if request is None:
                return done
            self.store.chosen(request, self.now)
            self.now += 1.0
            outcome = self._outcome(request)
            response = self.site.get(request.url)
            body = body_of(request.url, response) if isinstance(outcome, Page | Target) else None
            fetched = Fetched(
                request,
                outcome,
                self.now - 0.5,
                self.now,
                charged=0 if isinstance(outcome, Refused | Deferred) else 1,
                headers=response.headers,
                body=body,
                refused=self._refused(request.url, response) if isinstance(outcome, Page) else (),
            )
            recorded = self.store.record(fetched)
            self.store.settled(self.strategy.observe(request.id, recorded.outcome, 0.0))
        return limit

    def _outcome(self, request: Request) -> Outcome:
        if request.url not in self.out_of_reach:
            return self._responder.outcome(request)
        self.out_of_reach.remove(request.url)
        return Deferred(0, 0, "no answer", self.now)

    def finish(self, reason: str = "nothing was left to request") -> Path:
        """End the session as a driver does."""
        self.store.finish(self.now, reason, self.strategy, self.form)
        self.store.close()
        return self.store.folder

    def abandon(self) -> None:
        """Let go of everything as a kill would: nothing more is written."""
        abandon(self.store)

    def reopened(self) -> MadeRun:
        """Resume a run that was let go of."""
        self.store = RunStore.open(self.store.folder, self.now + 3600)
        self.now += 3600
        self.strategy = self.store.restore(self._new_strategy, self.form).strategy
        return self

    def _refused(self, url: str, response: Response) -> tuple[tuple[str, Refusal], ...]:
        return tuple(self._extractor.extract(response.body or b"", url, response.media_type).refused)


def fill_run(folder: Path, requests: int) -> Path:
    """Write the log of a long run straight into its database; every third request brought a file."""
    start = "http://long.test/"
    with RunStore.create(folder, {"url": start}, BEGIN) as store:
        store.finish(BEGIN + requests, "the limit of requests was reached")
    connection = sqlite3.connect(folder / "run.sqlite")
    with connection:
        connection.executemany(
            "INSERT INTO requests (id, strategy, strategy_id, purpose, host, url, method, kind, status,"
            " size_bytes, arm, score, reward, charged, new_target, chosen_at, started_at, finished_at,"
            " chosen_event, observed_event) VALUES"
            " (?, '', ?, 'link', 'long.test', ?, 'GET', ?, 200, 1000, ?, 1.0, 1.0, 1, ?, ?, ?, ?, ?, ?)",
            (
                (
                    n,
                    n,
                    f"{start}{n}",
                    "page" if n % 3 else "target",
                    n % 2000,
                    n % 3 == 0,
                    TIME,
                    TIME,
                    TIME,
                    2 * n + 1,
                    2 * n + 2,
                )
                for n in range(requests)
            ),
        )
        connection.executemany(
            "INSERT INTO links VALUES (?, 1, ?, 'a link', NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
            ((n, f"{start}{n}") for n in range(2 * requests)),
        )
        connection.executemany(
            "INSERT INTO targets VALUES"
            " (?,?,1,?,1000,'text/csv','a file',?,1,'html > a','[]','[]',?,1,1.0,?,'a file',"
            " NULL,NULL,NULL,NULL,NULL)",
            (
                (n, f"{start}{n}", f"{n}.csv", f"{start}{n + 1}", TIME, f"{n:064}")
                for n in range(0, requests, 3)
            ),
        )
        connection.executemany(
            "INSERT INTO groups VALUES (?, 'html > a', 50, 50, 1.0, 50.0, 16, 0, '[]')",
            ((n,) for n in range(2000)),
        )
    connection.close()
    return folder
