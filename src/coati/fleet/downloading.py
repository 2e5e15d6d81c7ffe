"""From the store to a folder: what the next slice of a run needs, or all of it."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Final

from coati.errors import ConfigError
from coati.fleet.generations import Chain, Manifest, Part, target_object
from coati.fleet.objects import DamagedObjectError, ObjectStore
from coati.fleet.page_deltas import PAGE_BYTES, apply, digests_of
from coati.fleet.publishing import StoredRun
from coati.machine_errors import writing_to
from coati.reporting.report_file import write_report
from coati.runs.datapackage import datapackage_lines
from coati.runs.durable import write_synced, write_whole
from coati.runs.files_csv import listing_lines
from coati.runs.layout import Layout

_DOWNLOADS: Final = 8
_ALL_FILES = "SELECT name, sha256 FROM files"
# There as long as a run is not whole.
_UNFINISHED: Final = "pull.unfinished"
_SAFE = "INSERT OR REPLACE INTO about VALUES ('warc_synced', ?)"


def download_for_crawl(chain: Chain, manifest: Manifest, folder: Path) -> StoredRun:
    """Write what a crawl needs to continue: the log, the strategy's state and the settings.

    Target files and pages that are in the store already stay there. The pages file has its length and a hole.
    """
    layout = Layout(folder)
    image = _image(chain.store, manifest)
    _write_small_files(chain.store, manifest, folder)
    layout.warc.parent.mkdir(parents=True, exist_ok=True)
    size = sum(part.size_bytes for part in manifest.warc)
    with layout.warc.open("wb") as file:
        file.truncate(size)
    write_synced(layout.database, (bytes(image),))
    with closing(sqlite3.connect(layout.database)) as connection:
        # The pages are safe where they are; nobody need look for them in the hole.
        with connection:
            connection.execute(_SAFE, (str(size),))
        targets = {sha256 for _, sha256 in connection.execute(_ALL_FILES)}
    return StoredRun(manifest, digests_of(_pages(image)), targets)


def download_run(
    store: ObjectStore, place: str, folder: Path, on_progress: Callable[[int, int], None] | None = None
) -> Manifest:
    """Make an ordinary run folder of the last generation of a run; returns that generation.

    ``on_progress`` is told how many of the files are there. Raises `ConfigError` if there is no such run, or
    if the folder holds something else than what an earlier attempt left.
    """
    chain = Chain(store, place)
    manifest = chain.newest()
    if manifest is None or not manifest.database:
        raise ConfigError(f"{store.url} holds no run of {place.partition('/')[2]}")
    layout = Layout(folder)
    unfinished = layout.state / _UNFINISHED
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not unfinished.exists())):
        raise ConfigError(f"{folder} holds something already; choose a new folder with --out")
    with writing_to(folder):
        layout.state.mkdir(parents=True, exist_ok=True)
        unfinished.touch()
        while True:
            try:
                _write_run(store, manifest, layout, on_progress)
                break
            except DamagedObjectError:
                # A harvest that is running removes what its newest generations do not need.
                newest = chain.newest()
                if newest is None or newest.generation == manifest.generation:
                    raise
                manifest = newest
        # A folder with a database is a run.
        (layout.state / "run.sqlite").replace(layout.database)
        unfinished.unlink()
    write_report(folder)
    return manifest


def _write_run(
    store: ObjectStore, manifest: Manifest, layout: Layout, on_progress: Callable[[int, int], None] | None
) -> None:
    """Write all of a run; its database is where nobody takes it for one yet."""
    layout.files.mkdir(exist_ok=True)
    _write_small_files(store, manifest, layout.folder)
    layout.warc.parent.mkdir(exist_ok=True)
    write_synced(layout.warc, (_content(store, part) for part in manifest.warc))
    image = _image(store, manifest)
    draft = layout.state / "run.sqlite"
    write_synced(draft, (bytes(image),))
    with closing(sqlite3.connect(f"{draft.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        files = dict(connection.execute(_ALL_FILES))
        write_whole(layout.listing, listing_lines(connection))
        write_whole(layout.datapackage, datapackage_lines(connection))
    _get_targets(store, layout, files, on_progress)


def _write_small_files(store: ObjectStore, manifest: Manifest, folder: Path) -> None:
    (folder / "state" / "snapshots").mkdir(parents=True, exist_ok=True)
    for name, part in manifest.files.items():
        if ".." in PurePosixPath(name).parts or PurePosixPath(name).is_absolute():
            raise DamagedObjectError(part.name, f"is to be a file outside of its run: {name}")
        write_whole(folder / name, (_content(store, part),))


def _get_targets(
    store: ObjectStore,
    layout: Layout,
    files: dict[str, str],
    on_progress: Callable[[int, int], None] | None,
) -> None:
    with ThreadPoolExecutor(_DOWNLOADS) as pool:
        waiting = [
            pool.submit(_get_target, store, sha256, layout.files / name) for name, sha256 in files.items()
        ]
        for done, got in enumerate(waiting, 1):
            got.result()
            if on_progress is not None:
                on_progress(done, len(waiting))


def _get_target(store: ObjectStore, sha256: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    store.get_file(target_object(sha256), path)
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            raise DamagedObjectError(target_object(sha256), "is damaged")


def _image(store: ObjectStore, manifest: Manifest) -> bytearray:
    image = bytearray()
    for part in manifest.database:
        try:
            image = apply(image, _content(store, part))
        except ValueError as error:
            raise DamagedObjectError(part.name, f"is damaged: {error}") from None
    return image


def _content(store: ObjectStore, part: Part) -> bytes:
    content = store.read(part.name)
    digest = part.name.rpartition("-")[2]
    if content is None or hashlib.sha256(content).hexdigest()[: len(digest)] != digest:
        raise DamagedObjectError(part.name, "is missing or damaged")
    return content


def _pages(image: bytearray) -> Iterator[bytes]:
    return (bytes(image[at : at + PAGE_BYTES]) for at in range(0, len(image), PAGE_BYTES))
