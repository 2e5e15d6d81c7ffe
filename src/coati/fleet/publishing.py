"""From a run folder to the store: a new generation of the run, complete for its readers.

The folder may be written meanwhile. Its database is copied as of one moment; everything that it names was
on the disk before. Target files are in the store before the generation that counts them.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from coati.fleet.generations import Chain, Manifest, Part, RunState, target_object
from coati.fleet.objects import ObjectStore
from coati.fleet.page_deltas import changed_pages, digests_of, pack_pages, split_pages
from coati.runs.layout import Layout
from coati.runs.reader import RunReader

_CHUNK_BYTES: Final = 1 << 20
_UPLOADS: Final = 8

# The database is sent whole again where the pages sent since are more than this share of it, or this many.
_WHOLE_SHARE: Final = 0.5
_MOST_DELTAS: Final = 16

_FILES = "SELECT name, sha256 FROM files"
_WARC_END = "SELECT coalesce(max(warc_offset + warc_length), 0) FROM pages"
_LAST_EVENT = "SELECT max(coalesce(max(chosen_event), 0), coalesce(max(observed_event), 0)) FROM requests"


@dataclass(slots=True)
class StoredRun:
    """What the store holds of a run already: its last generation, and by what its database is compared."""

    manifest: Manifest
    digests: list[bytes]
    targets: set[str]


class Publisher:
    """Publishes the run of one folder, one generation after the other."""

    def __init__(self, chain: Chain, folder: Path, scratch: Path, base: StoredRun) -> None:
        self._chain = chain
        self.store: ObjectStore = chain.store
        self.folder = folder
        self._layout = Layout(folder)
        self._copy = Layout(scratch / "copy")
        self._base = base
        # Pieces of the pages file that this publisher sent; at the end of a slice they become one.
        self._warc_before = base.manifest.warc

    @property
    def manifest(self) -> Manifest:
        """The last generation."""
        return self._base.manifest

    def claim(self, token: int, owner: str, now: float) -> None:
        """Make the run ours: a generation with nothing new, so that nobody else can publish that one."""
        self._add(replace(self.manifest, token=token, owner=owner, written_at=now))

    def publish_state(self, state: RunState, now: float) -> None:
        """Publish a generation with another state, and nothing else that is new."""
        self._add(replace(self.manifest, state=state, written_at=now))

    def _add(self, manifest: Manifest) -> None:
        added = replace(manifest, generation=self.manifest.generation + 1)
        self._chain.add(added)
        self._base.manifest = added

    def copy(self) -> Path:
        """Copy the log as it stands now into a folder: what `publish` sends, and what may be read."""
        self._copy.folder.mkdir(exist_ok=True)
        self._copy.database.unlink(missing_ok=True)
        shutil.copyfile(self._layout.settings, self._copy.settings)
        source = sqlite3.connect(f"{self._layout.database.absolute().as_uri()}?mode=ro", uri=True)
        with closing(source), closing(sqlite3.connect(self._copy.database)) as target:
            # Nobody needs the copy after a power cut.
            target.execute("PRAGMA synchronous = OFF")
            source.backup(target)
        return self._copy.folder

    def publish(self, run: RunReader, news: Manifest, *, ended: bool) -> Manifest:
        """Publish the run as a copy of its log has it, or the run's folder itself once it is closed.

        Of ``news``, the state, the time and what counts slices are taken.
        """
        database = run.layout.database
        targets: dict[str, str] = dict(map(tuple, run.connection.execute(_FILES)))
        (warc_end,) = run.connection.execute(_WARC_END).fetchone()
        (last_event,) = run.connection.execute(_LAST_EVENT).fetchone()
        self._put_targets(targets)
        digests = digests_of(split_pages(_chunks(database)))
        last = self.manifest
        manifest = replace(
            last,
            generation=last.generation + 1,
            written_at=news.written_at,
            database=self._database_parts(digests, database),
            warc=self._warc_parts(warc_end, ended=ended),
            files=dict(self._file_parts(last_event)),
            state=news.state,
            slices=news.slices,
            tables=news.tables,
        )
        self._chain.add(manifest)
        self._base.manifest, self._base.digests = manifest, digests
        self._base.targets |= set(targets.values())
        if ended:
            self._chain.prune(manifest.token)
        return manifest

    def _put_targets(self, targets: dict[str, str]) -> None:
        """Put the target files there that the store does not have yet."""
        new = {sha256: name for name, sha256 in targets.items() if sha256 not in self._base.targets}
        # On a disk one after the other is as fast.
        put = map if self.store.is_local else _uploads().map
        for _ in put(self._put_target, new.items()):
            pass

    def _put_target(self, target: tuple[str, str]) -> None:
        sha256, name = target
        self.store.put_file(target_object(sha256), self._layout.files / name)

    def _database_parts(self, digests: Sequence[bytes], database: Path) -> tuple[Part, ...]:
        """Send what changed in the database, or all of it where that costs little more."""
        before = self.manifest.database
        changed = changed_pages(self._base.digests, digests)
        if not changed:
            return before
        if not before or self._is_better_sent_whole(before, len(changed) / len(digests)):
            return (self._put_part(pack_pages(split_pages(_chunks(database)), range(len(digests)))),)
        return (*before, self._put_part(pack_pages(split_pages(_chunks(database)), set(changed))))

    @staticmethod
    def _is_better_sent_whole(before: tuple[Part, ...], share: float) -> bool:
        """Tell whether the database is better sent whole than a share of its pages."""
        sent = sum(part.size_bytes for part in before[1:]) + share * before[0].size_bytes
        return len(before) > _MOST_DELTAS or sent > _WHOLE_SHARE * before[0].size_bytes

    def _warc_parts(self, end: int, *, ended: bool) -> tuple[Part, ...]:
        """Send what was appended to the pages file since; at the end of a slice, as one piece."""
        before = self._warc_before if ended else self.manifest.warc
        start = sum(part.size_bytes for part in before)
        if end <= start:
            return before
        with self._layout.warc.open("rb") as file:
            file.seek(start)
            piece = self._put_part(file.read(end - start))
        if ended:
            self._warc_before = (*before, piece)
        return (*before, piece)

    def _file_parts(self, last_event: int) -> Iterator[tuple[str, Part]]:
        folder = self._layout.folder
        for path in sorted((*folder.iterdir(), *self._layout.snapshots.glob("*.snapshot"))):
            # Listings are made of the database, by whoever pulls.
            listed = path in {self._layout.listing, self._layout.datapackage}
            if listed or not path.is_file() or path.name.startswith("run.sqlite") or path.suffix == ".new":
                continue
            # Within a slice, what the strategy saved after the copy was made is not of this generation.
            if path.suffix == ".snapshot" and int(path.stem) > last_event:
                continue
            # An old snapshot goes when a new one comes.
            with suppress(FileNotFoundError):
                yield path.relative_to(folder).as_posix(), self._put_part(path.read_bytes())

    def _put_part(self, content: bytes) -> Part:
        """Put a part there, unless the last generation has it."""
        digest = hashlib.sha256(content).hexdigest()[:40]
        for part in self.manifest.parts():
            if part.name.endswith(digest):
                return part
        name = f"{self._chain.place}/parts/{self.manifest.token:012}-{digest}"
        self.store.replace(name, content)
        return Part(name, len(content))


@cache
def _uploads() -> ThreadPoolExecutor:
    """Return the threads of this process that wait for the store."""
    return ThreadPoolExecutor(_UPLOADS, thread_name_prefix="coati-uploads")


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk
