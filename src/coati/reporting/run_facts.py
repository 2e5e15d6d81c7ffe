"""The facts about a run that the whole report needs, read once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from coati.file_lock import is_held
from coati.reporting.found_repositories import left_to_search, site_counts
from coati.reporting.start_page import failed_start
from coati.reporting.watched_pages import is_watch_run
from coati.runs.changes_file import read_changes
from coati.runs.errors import RunError
from coati.runs.layout import Layout
from coati.runs.reader import RunReader, SessionRow
from coati.runs.totals import Totals
from coati.stop_reasons import STOPPED_AT_START, StopText
from coati.times import from_iso
from coati.web.urls import host_of

_START = "SELECT url FROM requests ORDER BY chosen_event LIMIT 1"
_LAST_SIGN = """
SELECT max(coalesce((SELECT max(finished_at) FROM requests), ''),
           coalesce((SELECT max(chosen_at) FROM requests), ''))
"""
# No page need link to the start page, nor to where a redirect leads.
_KNOWN = """
SELECT (SELECT count(*) FROM links)
     + (SELECT count(DISTINCT url) FROM requests
        WHERE link IS NULL AND url NOT IN (SELECT url FROM links))
"""
_REQUESTED = "SELECT count(DISTINCT url) FROM requests WHERE kind NOT IN ('refused', 'deferred')"
_WAITING = "SELECT count(*) FROM links WHERE url NOT IN (SELECT url FROM requests)"
_UNREACHED = "SELECT count(DISTINCT url) FROM deferred"
_HOSTS = "SELECT count(DISTINCT host) FROM requests WHERE charged > 0"
_QUERIES = "SELECT count(*) FROM requests WHERE host LIKE 'search://%' AND charged > 0"
_FILES = "SELECT count(*), coalesce(sum(size_bytes), 0) FROM files"
_CHOSEN = "SELECT DISTINCT chosen_at FROM requests"


class RunStage(StrEnum):
    """Where a run stands."""

    RUNNING = "running"
    ENDED = "ended"
    CUT_OFF = "cut off"


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run in numbers.

    ``known`` counts the URLs that it came to know. Of these, ``requested`` were requested and answered, or
    failed: some of them may have been refused before. ``waiting`` were not requested, and ``unreached`` could
    not be reached;
    ``files`` are different contents, of which several targets may be copies. ``topic`` is that of a search
    for repositories, and empty for all other runs.
    """

    start_url: str
    stage: RunStage
    stop_reason: str | None
    sessions: tuple[SessionRow, ...]
    last_sign: str
    settings: Mapping[str, Any]
    totals: Totals
    known: int
    requested: int
    waiting: int
    unreached: int
    files: int
    file_bytes: int
    failed_start: StopText | None = None
    # Those that answered.
    hosts: int = 1
    topic: str = ""
    repositories: int = 0
    sites_checked: int = 0
    queries: int = 0
    queries_waiting: int = 0
    gave_up_after: int = 0
    # What a watch noticed, and in how many cycles; a session before the next one was due does not count.
    changes: int = 0
    cycles: int = 0

    @property
    def is_search(self) -> bool:
        """Whether the run is a search for repositories."""
        return bool(self.topic)

    @property
    def seeks_pages(self) -> bool:
        """Whether the run looks for pages that meet a goal, and for no files."""
        return bool(self.settings.get("goal")) and not self.files

    @property
    def watches(self) -> bool:
        """Whether the run is a watch, in cycles, of pages that are known."""
        return is_watch_run(self.settings)

    @property
    def target_noun(self) -> str:
        """What is counted: files, or pages."""
        return "relevant page" if self.seeks_pages else "file"

    @property
    def site(self) -> str:
        """The host that the run began at."""
        return host_of(self.start_url) if self.start_url.count("/") > 2 else self.start_url  # noqa: PLR2004

    @property
    def origin(self) -> str:
        """What all addresses of the site begin with."""
        return "/".join(self.start_url.split("/", 3)[:3])

    def on_site(self, url: str | None) -> str:
        """Return a URL as one writes it within the site: without what all its addresses begin with."""
        path = (url or "").removeprefix(self.origin)
        return path if path.startswith("/") else url or ""

    @property
    def began_at(self) -> str:
        return self.sessions[0].started_at if self.sessions else ""

    @property
    def seconds(self) -> float:
        """How long somebody worked on the run, pauses between sessions left out."""
        return sum(
            max(
                0.0,
                from_iso(session.ended_at or self.last_sign or session.started_at)
                - from_iso(session.started_at),
            )
            for session in self.sessions
        )


def read_facts(run: RunReader) -> RunFacts:
    """Ask for everything; the run may be written meanwhile."""
    query = run.connection.execute
    sessions = tuple(run.sessions())
    start = query(_START).fetchone()
    files, file_bytes = query(_FILES).fetchone()
    settings = _settings(run)
    stop_reason = sessions[-1].stop_reason if sessions else None
    repositories, checked = site_counts(run.connection)
    queries_waiting, gave_up_after = left_to_search(run.connection)
    return RunFacts(
        start_url=start[0] if start else str(next(iter(settings.get("urls", ())), "")),
        stage=_stage(run.layout, sessions),
        stop_reason=stop_reason,
        sessions=sessions,
        last_sign=query(_LAST_SIGN).fetchone()[0],
        settings=settings,
        totals=run.totals(),
        known=query(_KNOWN).fetchone()[0],
        requested=query(_REQUESTED).fetchone()[0],
        waiting=query(_WAITING).fetchone()[0],
        unreached=query(_UNREACHED).fetchone()[0],
        files=files,
        file_bytes=file_bytes,
        failed_start=failed_start(run.connection) if stop_reason in STOPPED_AT_START else None,
        hosts=query(_HOSTS).fetchone()[0],
        topic=str(settings.get("topic", "")),
        repositories=repositories,
        sites_checked=checked,
        queries=query(_QUERIES).fetchone()[0],
        queries_waiting=queries_waiting,
        gave_up_after=gave_up_after,
        changes=len(read_changes(run.layout.folder)) if is_watch_run(settings) else 0,
        cycles=_sessions_with_requests(run, sessions) if is_watch_run(settings) else 0,
    )


def _settings(run: RunReader) -> Mapping[str, Any]:
    try:
        return run.settings
    except RunError:
        # A report of what there is serves better than none.
        return {}


def _sessions_with_requests(run: RunReader, sessions: tuple[SessionRow, ...]) -> int:
    began = sorted(session.started_at for session in sessions)
    return len({bisect_right(began, at) for (at,) in run.connection.execute(_CHOSEN)})


def _stage(layout: Layout, sessions: tuple[SessionRow, ...]) -> RunStage:
    if sessions and sessions[-1].ended_at is not None:
        return RunStage.ENDED
    return RunStage.RUNNING if is_held(layout.lock) else RunStage.CUT_OFF
