"""The URLs that have answered a run, so that it knows when it requests one again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.model import Deferred, Method, Other, Outcome, Page, Refused, Request, Target, Unchanged, is_wanted
from coati.runs.last_visit import LastVisit
from coati.runs.seen_urls import SeenUrls

if TYPE_CHECKING:
    from collections.abc import Callable

    from coati.runs.store import RunStore

    EarlierVisit = Callable[[str], LastVisit | None]


class AnsweredUrls:
    """Asks the log of a run; without a run folder, remembers a few bytes per URL.

    ``earlier`` tells what an earlier run got from a URL that this one has not requested yet.
    """

    def __init__(self, store: RunStore | None, earlier: EarlierVisit | None) -> None:
        self._store = store
        self._earlier = earlier
        # By hash, as `SeenUrls` has them: whether the last answer was something that may be unchanged.
        self._gave: dict[int, bool] = {}
        self._targets = SeenUrls()
        # What is requested for the first time, until it is answered: no need to query the log.
        self._first: set[str] = set()

    def begin(self, url: str) -> None:
        """Take note of the first request for a URL."""
        self._first.add(url)

    def end(self, url: str) -> None:
        """Take note that a URL was answered."""
        self._first.discard(url)

    def last(self, url: str) -> LastVisit | None:
        """Return what the last answer to a GET was like; None where the run has had none."""
        last = None if url in self._first else self._last_of_run(url)
        return self._earlier(url) if last is None and self._earlier is not None else last

    def _last_of_run(self, url: str) -> LastVisit | None:
        if self._store is not None:
            return self._store.log.last_visit(url)
        gave = self._gave.get(hash(url))
        return None if gave is None else LastVisit(gave)

    def note(self, request: Request, outcome: Outcome) -> bool:
        """Remember an answer that no store keeps; tells whether it is a target that was not there before."""
        if request.method is not Method.GET or isinstance(outcome, Deferred | Refused | Unchanged):
            return False
        self._gave[hash(request.url)] = isinstance(outcome, Page | Target | Other)
        if not is_wanted(outcome) or request.url in self._targets:
            return False
        self._targets.add((request.url,))
        return True
