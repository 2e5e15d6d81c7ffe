"""The folder that a run writes: everything that it did, in order, so that it can be read and resumed.

A driver uses it like this, in one thread, one step at a time::

    with RunStore.create(folder, settings, now) as store:        # or RunStore.open(folder, now)
        restored = store.restore(new_strategy, form)             # on a new run too
        strategy = restored.strategy
        ...                                                      # send restored.in_flight again
        request = strategy.choose(now, hosts)                    # times: `coati.times.logged`
        store.chosen(request, now)                               # before it is sent
        recorded = store.record(fetched)                         # when it came back; safe when this returns
        settlements = strategy.observe(request.id, recorded.outcome, fetched.finished_at)
        store.settled(settlements)
        if store.snapshot_due:
            store.snapshot(strategy, form)
        ...
        store.finish(now, "nothing left", strategy, form)

The order of `record` calls is the log's order, so it must be the order in which the strategy observes; and
`snapshot` is called between steps, when everything that was recorded has been observed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

from coati.errors import UsageError
from coati.file_lock import FileLock
from coati.model import LinkList, Method, Outcome, Page, Refused, Request, Settlement, Target
from coati.pacing.host_pace import HostPause
from coati.runs.background_sync import BackgroundSync
from coati.runs.datapackage import datapackage_lines
from coati.runs.durable import write_whole
from coati.runs.errors import RunWriteError, explaining_errors
from coati.runs.fetched import Fetched
from coati.runs.files_csv import listing_lines
from coati.runs.group_table import write_groups
from coati.runs.host_pauses import HostPauses
from coati.runs.layout import Layout, holds_run, require_run
from coati.runs.lock import lock_run
from coati.runs.log import LoggedPage, RunLog, storable_texts, whole_links
from coati.runs.old_versions import delete_old_versions
from coati.runs.out_links import OutLinks
from coati.runs.outcome_rows import OutcomeRow, from_row, storable, to_row
from coati.runs.page_warc import PagePlace, PageWarc
from coati.runs.restoring import LogTail, Restored, S, in_flight, load_newest
from coati.runs.schema import create_database, open_version
from coati.runs.seen_urls import SeenUrls
from coati.runs.sessions import Session
from coati.runs.settings_file import read_settings, write_settings
from coati.runs.skip_reasons import reason_of
from coati.runs.skips import Skips
from coati.runs.snapshots import SnapshotFiles, SnapshotForm
from coati.runs.target_files import TargetFiles, discard
from coati.runs.totals import Totals, read_totals
from coati.runs.warc_repair import note_synced, repair_warc
from coati.strategies.strategy import Strategy
from coati.version import __version__

__all__ = ["Recorded", "Restored", "RunStore", "SnapshotForm", "Totals", "holds_run"]

# A page is always safe from a kill. Against a power cut the disk is waited for at most this often, in the
# background, so that a crawl loses at most the last second.
_SYNC_SECONDS = 1.0

# A snapshot is due after this many events (two per request), and after this share of all events: so snapshots
# cost a constant share of the run, however long it gets, and the tail to redo stays short.
_SNAPSHOT_EVENTS = 2_000
_SNAPSHOT_SHARE = 0.1

_BY_HOST = "SELECT host, sum(charged) FROM requests WHERE charged > 0 GROUP BY host"
_URLS_WITHOUT_LINK = "SELECT url FROM requests WHERE link IS NULL"


@dataclass(frozen=True, slots=True)
class Recorded:
    """What came of recording.

    ``outcome`` is what the strategy should observe: of a page, only those links whose URLs are new to the
    run. A restored strategy gets exactly the same, and one that was never interrupted saves the work.
    ``file`` is the target's path within the run folder; ``duplicate`` says that its bytes were there already.
    ``new_target`` says that this URL was no target and no relevant page before: one that is visited again
    counts once.
    """

    outcome: Outcome
    file: str | None = None
    duplicate: bool = False
    new_target: bool = False


class RunStore:
    """One run folder, open for writing; no other process can write it meanwhile.

    ``incoming`` is where a driver streams large bodies to; it is emptied when the run is opened.
    ``totals`` is kept up to date by `record`. ``seconds_spent`` is the time of earlier sessions. ``messages``
    say what was put right when the folder was opened.
    """

    def __init__(self, layout: Layout, lock: FileLock, now: float) -> None:
        self.folder = layout.folder
        self.incoming = layout.incoming
        self.messages: list[str] = []
        self._layout = layout
        self._lock = lock
        self._last_time = self._synced_at = now
        self._failure: str | None = None
        self._closed = False
        self._settlements: list[tuple[str, Settlement]] = []
        with explaining_errors(self.folder), ExitStack() as undo:
            self.log = RunLog(layout.database)
            undo.callback(self.log.connection.close)
            self._warc = PageWarc(layout.warc, f"coati {__version__}")
            undo.callback(self._warc.close)
            self._files = TargetFiles(layout, self.log)
            self._files.by_folder = _keeps_folders(self.settings)
            self._background = BackgroundSync(self._sync_pages)
            self._repair()
            connection = self.log.connection
            with self.log.transaction():
                self._session = Session(connection, now)
            self.seconds_spent = self._session.seconds_before
            self.totals = read_totals(connection)
            self._skips = Skips(connection)
            self._seen = SeenUrls(chain.from_iterable(connection.execute("SELECT url FROM links")))
            # A request with a link has the link's URL.
            self._seen.add(chain.from_iterable(connection.execute(_URLS_WITHOUT_LINK)))
            self._pauses = HostPauses(connection)
            self._out_links = OutLinks(connection)
            self._snapshots = SnapshotFiles(layout.snapshots)
            self._snapshot_event = self.log.last_event
            undo.pop_all()

    @classmethod
    def create(cls, folder: Path, settings: Mapping[str, object], now: float) -> Self:
        """Begin a run in a folder that holds none; ``settings`` go into ``run.toml``."""
        layout = Layout(folder)
        with explaining_errors(folder):
            layout.state.mkdir(parents=True, exist_ok=True)
        with _locked(layout) as lock:
            if holds_run(folder):
                raise UsageError(f"{folder} holds a run already; resume it, or choose another folder")
            with explaining_errors(folder):
                write_settings(layout.settings, settings)
                create_database(layout.database, now)
            return cls(layout, lock, now)

    @classmethod
    def open(cls, folder: Path, now: float) -> Self:
        """Resume a run: puts right what a kill left behind. Raises `coati.runs.errors.RunError`."""
        require_run(folder)
        layout = Layout(folder)
        with explaining_errors(folder):
            layout.state.mkdir(exist_ok=True)
        with _locked(layout) as lock:
            open_version(layout.database)
            return cls(layout, lock, now)

    @classmethod
    def begin(cls, folder: Path, settings: Mapping[str, object], now: float, *, resumed: bool) -> Self:
        """Begin a run, or resume the one in the folder under these settings."""
        if not resumed:
            return cls.create(folder, settings, now)
        store = cls.open(folder, now)
        try:
            store.change_settings(settings)
        except BaseException:
            store.close()
            raise
        return store

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the run, as ``run.toml`` has them."""
        return read_settings(self._layout.settings)

    def change_settings(self, settings: Mapping[str, object]) -> None:
        """Write ``run.toml`` again: a run may be resumed with another budget."""
        with self._writing():
            write_settings(self._layout.settings, settings)
        self._files.by_folder = _keeps_folders(settings)

    def restore(self, new_strategy: Callable[[], S], form: SnapshotForm, strategy: str = "") -> Restored[S]:
        """Bring a new strategy to where the run was, from the newest good snapshot and the log's tail.

        ``new_strategy`` is called once, and once more for each snapshot that does not load. Works on a new
        run too. Where a run has several strategies, ``strategy`` names one, which gets its own events only.
        Raises `coati.runs.errors.RunMismatchError` if the log was made by another strategy.
        """
        messages: list[str] = []
        connection = self.log.connection
        usable = self._snapshots.usable(self.log.last_event, form, messages)
        start = load_newest(usable, new_strategy, form.unpack, messages)
        tail = LogTail(connection, start.event, start.link, strategy=strategy)
        tail.redo(start.strategy)
        with self._writing(), self.log.transaction():
            # Those that became final just before a kill were not written yet.
            self.log.settle(tail.settlements, strategy)
        self._snapshot_event = start.event
        return Restored(
            strategy=start.strategy,
            in_flight=in_flight(connection, strategy),
            totals=replace(self.totals, by_kind=dict(self.totals.by_kind)),
            from_snapshot=start.event > 0,
            events_redone=tail.length,
            messages=tuple(messages),
        )

    def chosen(self, request: Request, now: float, strategy: str = "") -> bool:
        """Log a choice, before it is sent; tells whether such a request was observed before.

        ``strategy`` names who made it, where a run has several.
        """
        self._last_time = now
        with self._writing(), self.log.transaction():
            observed = self.log.choose(request, now, strategy)
        self._seen.add((request.url,))
        return observed

    def record(self, fetched: Fetched) -> Recorded:
        """Write one finished request down; when this returns, no kill of the process can lose it.

        A target is then safe from a power cut too. A `Refused` needs a reason of
        `coati.runs.skip_reasons.REASONS`, and is listed as skipped. Raises `RunWriteError` if the disk is
        full: nothing was counted, the request is still in flight, and the run can be opened again.
        """
        self._last_time = fetched.finished_at
        is_get = fetched.request.method is Method.GET
        with self._writing():
            number = self.log.number(fetched.request.id, fetched.strategy)
            for url, reason in (*fetched.refused, *fetched.skipped):
                self._skips.add(url, reason, number)
            match fetched.outcome:
                case Page() as page if is_get:
                    return self._record_page(fetched, page, number)
                case Target() as target if is_get:
                    return self._record_target(fetched, target)
                case Refused(why):
                    self._skips.add(fetched.request.url, reason_of(why), None)
            outcome = from_row(to_row(fetched.outcome), [])
            with self._transaction():
                row = self.log.observe(fetched, outcome)
            discard(fetched)
            self._count(fetched, row)
            return Recorded(outcome)

    def settled(self, settlements: Iterable[Settlement], strategy: str = "") -> None:
        """Keep rewards that became final; they are written with the next record."""
        self._settlements.extend((strategy, settlement) for settlement in settlements)

    def keep_pauses(self, pauses: Mapping[str, HostPause]) -> None:
        """Keep the delays of hosts, and until when they rest."""
        with self._writing(), self.log.transaction():
            self._pauses.keep(pauses)

    def end_hosts(self, reasons: Mapping[str, str]) -> None:
        """Keep which hosts got no more requests at the end of the session, and why."""
        with self._writing(), self.log.transaction():
            self._pauses.end(reasons)

    def requests_by_host(self) -> dict[str, int]:
        """Count the requests to each host, attempts included."""
        return dict(self.log.connection.execute(_BY_HOST))

    def keep_rules(self, url: str, status: int, size_bytes: int, reason: str, now: float) -> None:
        """Log what came for a robots.txt; ``reason`` says why it is as if everything were forbidden."""
        with self._writing(), self.log.transaction():
            self.log.add_robots(url, status, size_bytes, reason, now)

    def host_pauses(self) -> dict[str, HostPause]:
        """Return what earlier sessions kept of hosts."""
        return self._pauses.known()

    def fresh(self, urls: Sequence[str]) -> list[int]:
        """Return the places of the URLs that the run has not met, the first of each."""
        return self._seen.fresh(urls)

    def lists(self) -> list[str]:
        """Return the addresses that the run reads as lists of links, beside those that it began at."""
        return [url for (url,) in self.log.connection.execute("SELECT url FROM lists")]

    def links_of(self, url: str) -> list[str]:
        """Return the links that were new when the run was answered by an address."""
        found = "SELECT links.url FROM requests JOIN links ON links.page = requests.id WHERE requests.url = ?"
        return [link for (link,) in self.log.connection.execute(found, (url,))]

    @property
    def snapshot_due(self) -> bool:
        """Whether enough has happened since the last snapshot to be worth one."""
        events = self.log.last_event
        return events >= self._snapshot_event + max(_SNAPSHOT_EVENTS, _SNAPSHOT_SHARE * events)

    def snapshot(self, strategy: Strategy, form: SnapshotForm) -> None:
        """Save the strategy, and bring the groups, ``files.csv`` and ``datapackage.json`` up to date.

        Call it between steps: when everything that was recorded has been observed.
        """
        state = form.pack(strategy.save())
        with self._writing():
            self._publish(strategy)
            (link,) = self.log.connection.execute("SELECT coalesce(max(id), 0) FROM links").fetchone()
            self._snapshots.write(self.log.last_event, link, state, form)
        self._snapshot_event = self.log.last_event

    def finish(
        self,
        now: float,
        stop_reason: str,
        strategy: Strategy | None = None,
        form: SnapshotForm | None = None,
    ) -> None:
        """Note why the session ended, and bring everything that people read up to date; then `close`."""
        self._last_time = now
        if strategy is not None and form is not None:
            self.snapshot(strategy, form)
        else:
            with self._writing():
                self._publish(strategy)
        with self._writing(), self.log.transaction(durable=True):
            self._session.end(now, stop_reason)

    def keep_versions(self, count: int) -> int:
        """Remove the files of all but the newest versions of each target; returns how many were removed."""
        with self._writing():
            removed = delete_old_versions(self.log, self._layout.files, count)
            if removed:
                self._publish(None)
        return removed

    def close(self) -> None:
        """Write what is pending to disk and release the folder; the database is a single file then."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._failure is None:
                with explaining_errors(self.folder):
                    self._warc.sync()
                    with self._transaction(durable=True):
                        note_synced(self.log, self._warc)
                        self._session.end(self._last_time, None)
                    # Fails while somebody reads; then the next to close it does it.
                    with suppress(sqlite3.OperationalError):
                        self.log.connection.execute("PRAGMA journal_mode = DELETE")
        finally:
            self._background.close()
            self.log.connection.close()
            self._warc.close()
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _record_page(self, fetched: Fetched, page: Page, number: int) -> Recorded:
        request, body = fetched.request, fetched.body
        urls = page.links.urls
        fresh = self._seen.fresh(urls)
        new = whole_links(page.links, fresh)
        nearby_texts = storable_texts(page.links, fresh)
        title = storable(page.links.title)
        place: PagePlace | None = None
        sha256: str | None = None
        if body is not None:
            place, sha256 = self._warc.append(fetched, page.status, body)
        changes = None
        if page.out_links is not None:
            changes = self._out_links.difference(request.url, number, page.out_links)
        new_target = page.relevant and not self.log.was_relevant(request.url)
        with self._transaction():
            row = self.log.observe(fetched, page, new_target=new_target)
            self.log.add_page(
                LoggedPage(
                    number,
                    request.url,
                    len(urls),
                    title,
                    new,
                    nearby_texts,
                    sha256,
                    place,
                    page.facts,
                    changes,
                    page.relevant,
                    fetched.missing,
                )
            )
        discard(fetched)
        self._seen.add(link.url for link in new)
        self._count(fetched, row, new_target=new_target)
        return Recorded(replace(page, links=LinkList(new)), new_target=new_target)

    def _record_target(self, fetched: Fetched, target: Target) -> Recorded:
        body = self._files.store(fetched, target.media_type)
        last, sha256 = self.log.last_version(fetched.request.url)
        new = last == 0
        with self._transaction(durable=True):
            row = self.log.observe(fetched, target, new_target=new)
            if not body.duplicate:
                self.log.add_file(body, row.media_type or "")
            if body.sha256 != sha256:
                self.log.add_target(fetched, row.media_type or "", body, last + 1)
        self._count(fetched, row, new_target=new)
        return Recorded(from_row(row, []), f"files/{body.name}", body.duplicate, new_target=new)

    def _count(self, fetched: Fetched, row: OutcomeRow, *, new_target: bool = False) -> None:
        method = fetched.request.method.value
        self.totals.add(row.kind, method, fetched.charged, row.size_bytes, new_target=new_target)

    def _repair(self) -> None:
        self.messages += repair_warc(self.log, self._warc)
        removed = self._files.remove_unfinished()
        if removed:
            self.messages.append(
                f"{removed} files were not recorded before the crawl ended and will be fetched again"
            )

    def _publish(self, strategy: Strategy | None) -> None:
        """Bring what people read up to date."""
        self._warc.sync()
        with self._transaction(durable=True):
            note_synced(self.log, self._warc)
            if strategy is not None:
                write_groups(self.log.connection, strategy.arm_label)
        write_whole(self._layout.listing, listing_lines(self.log.connection))
        write_whole(self._layout.datapackage, datapackage_lines(self.log.connection))

    @contextmanager
    def _transaction(self, *, durable: bool = False) -> Iterator[None]:
        """Write all that is pending and what the block writes, together; ``durable``: wait for the disk."""
        self._background.check()
        due = abs(self._last_time - self._synced_at) >= _SYNC_SECONDS
        with self.log.transaction(durable=durable):
            for strategy, settled in groupby(self._settlements, itemgetter(0)):
                self.log.settle((settlement for _, settlement in settled), strategy)
            self._skips.write(self.log.connection)
            yield
            if due:
                note_synced(self.log, self._warc)
        self._settlements.clear()
        self._skips.written()
        if due:
            self._synced_at = self._last_time
            self._background.sync_soon()

    def _sync_pages(self) -> None:
        # In this order: what the database knows of a page is then mostly there.
        self._warc.sync()
        self.log.sync()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Stop for good where writing fails: what is in memory may then be ahead of what is on disk."""
        if self._closed:
            raise UsageError(f"{self.folder} was closed")
        if self._failure is not None:
            raise RunWriteError(self._failure)
        try:
            with explaining_errors(self.folder):
                yield
        except UsageError:
            raise
        except BaseException as error:
            self._failure = str(error) or "writing was interrupted"
            raise


def _keeps_folders(settings: Mapping[str, object]) -> bool:
    return settings.get("folders") == "site"


@contextmanager
def _locked(layout: Layout) -> Iterator[FileLock]:
    """Hold the lock while a run is being opened, and keep it if that goes well."""
    lock = lock_run(layout)
    try:
        yield lock
    except BaseException:
        lock.release()
        raise
