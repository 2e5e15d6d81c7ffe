"""Target files: from a response body to a file with a readable name, complete or absent.

The order makes the database's word good: the bytes reach the disk under a name of our own, then get their
name in ``files``, and only then does the database say that they are there. A name is noted as unfinished
before it is given, so that a file that was never recorded can be told from one that a user put there.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from coati.errors import UsageError
from coati.runs.durable import sync_file, sync_folder, write_synced
from coati.runs.file_names import file_name, folder_name, name_key, numbered
from coati.runs.outcome_rows import storable
from coati.web.own_titles import own_title

if TYPE_CHECKING:
    from coati.runs.fetched import Fetched
    from coati.runs.layout import Layout
    from coati.runs.log import RunLog

_CHUNK_BYTES = 1 << 20


class StoredBody(NamedTuple):
    """A file in ``files``; ``duplicate`` says that these bytes were there already.

    ``title`` is the one that the file states about itself.
    """

    name: str
    name_key: str
    sha256: str
    size_bytes: int
    title: str
    duplicate: bool


class TargetFiles:
    """The folder ``files`` and what is on its way there; ``by_folder`` keeps the site's folders in it."""

    def __init__(self, layout: Layout, log: RunLog) -> None:
        self.by_folder = False
        self._files = layout.files
        self._incoming = layout.incoming
        self._log = log
        # The last number given to a name that many files propose; others need not be remembered.
        self._numbers: dict[str, int] = {}
        self._files.mkdir(exist_ok=True)

    def remove_unfinished(self) -> int:
        """Remove what a killed process left on its way, and count the files that it had not recorded."""
        shutil.rmtree(self._incoming, ignore_errors=True)
        self._incoming.mkdir(parents=True, exist_ok=True)
        query = "SELECT name FROM unfinished_files WHERE name NOT IN (SELECT name FROM files)"
        removed = 0
        for (name,) in self._log.connection.execute(query).fetchall():
            with suppress(FileNotFoundError):
                (self._files / name).unlink()
                removed += 1
        with self._log.transaction():
            self._log.connection.execute("DELETE FROM unfinished_files")
        return removed

    def store(self, fetched: Fetched, media_type: str) -> StoredBody:
        """Put a body in its place; it is on the disk when this returns. The caller then records it."""
        sha256, size, title = _examined(fetched)
        found = self._log.connection.execute("SELECT name FROM files WHERE sha256 = ?", (sha256,)).fetchone()
        if found is not None:
            path = self._files / found[0]
            if path.is_file() and path.stat().st_size == size:
                discard(fetched)
                return StoredBody(found[0], name_key(found[0]), sha256, size, title, duplicate=True)
            # Somebody deleted or changed it; these are the bytes that the database names.
            name = found[0]
        else:
            disposition = fetched.header("content-disposition")
            folder = self._folder_for(fetched.request.url) if self.by_folder else ""
            name = self._free_name(folder + file_name(fetched.request.url, media_type, disposition))
        self._place(fetched, name)
        return StoredBody(name, name_key(name), sha256, size, title, duplicate=False)

    def _place(self, fetched: Fetched, name: str) -> None:
        draft = self._incoming / f"{fetched.request.id}.body"
        place = self._files / name
        if fetched.body is not None:
            write_synced(draft, (fetched.body,))
        elif fetched.body_file is not None:
            _move(fetched.body_file, draft)
        try:
            with self._log.transaction():
                self._log.connection.execute("INSERT OR REPLACE INTO unfinished_files VALUES (?)", (name,))
            if place.parent != self._files:
                place.parent.mkdir(parents=True, exist_ok=True)
            draft.replace(place)
        except BaseException:
            # On a full disk it would only be in the way; the request is made again.
            draft.unlink(missing_ok=True)
            raise
        folder = place.parent
        sync_folder(folder)
        while folder != self._files:
            folder = folder.parent
            sync_folder(folder)

    def _folder_for(self, url: str) -> str:
        """Return the folder of a URL; none where a file has taken the name of one of its folders."""
        name = folder_name(url)
        folder = self._files / name
        taken = any(above.is_file() for above in (folder, *folder.parents))
        return "" if taken or not name else f"{name}/"

    def _free_name(self, name: str) -> str:
        """Return a name that no file has, on no file system: as proposed, else with a number."""
        if self._is_free(name):
            return name
        key = name_key(name)
        number = self._numbers.get(key) or self._first_guess(name)
        while not self._is_free(candidate := numbered(name, number)):
            number += 1
        self._numbers[key] = number + 1
        return candidate

    def _first_guess(self, name: str) -> int:
        """Find about where the taken numbers end, in few steps: a run that was resumed has forgotten it."""
        high = 2
        while not self._is_free(numbered(name, high)):
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            if self._is_free(numbered(name, middle)):
                high = middle
            else:
                low = middle
        return high

    def _is_free(self, name: str) -> bool:
        query = "SELECT 1 FROM files WHERE name_key = ?"
        taken = self._log.connection.execute(query, (name_key(name),)).fetchone()
        return taken is None and not os.path.lexists(self._files / name)


def discard(fetched: Fetched) -> None:
    """Remove a streamed body that nobody needs."""
    if fetched.body_file is not None:
        fetched.body_file.unlink(missing_ok=True)


def _examined(fetched: Fetched) -> tuple[str, int, str]:
    """Return the SHA-256 of a body, its size, and the title that it states about itself."""
    if fetched.body is not None:
        body = fetched.body
        return hashlib.sha256(body).hexdigest(), len(body), storable(own_title(io.BytesIO(body)))
    if fetched.body_file is None:
        raise UsageError(f"the target {fetched.request.url} was handed over without its body")
    with fetched.body_file.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = file.tell()
        file.seek(0)
        return digest, size, storable(own_title(file))


def _move(source: Path, draft: Path) -> None:
    try:
        source.replace(draft)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # Another file system: the bytes have to be copied.
        with source.open("rb") as file:
            write_synced(draft, iter(lambda: file.read(_CHUNK_BYTES), b""))
        source.unlink()
    else:
        sync_file(draft)
