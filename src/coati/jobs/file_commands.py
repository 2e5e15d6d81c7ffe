"""``--exec``: run a command for each collected file, at least once, without delaying the crawl.

A file is on the disk and in the log before its command runs, and it is noted in ``commands.jsonl`` after the
command ended well. So after a kill a command may run once more, and none is left out: what is not noted, the
next session with a command makes up for. Commands run one after the other in a thread of their own.

The command is not kept in the run folder. A folder that somebody hands on must not bring commands along.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from coati.jobs.external_command import ExternalCommand
from coati.live.progress import Event, EventKind, OnEvent
from coati.runs.durable import append_lines
from coati.runs.layout import Layout, holds_run
from coati.runs.reader import RunReader
from coati.times import to_iso

PLACEHOLDERS = ("file", "url", "type", "run")

# Of what went wrong, this many are reported.
_TOLD = 5

_TAKEN = """
SELECT targets.file, targets.url, targets.media_type, targets.size_bytes FROM targets ORDER BY targets.request
"""


class _File(NamedTuple):
    folder: Path
    name: str
    url: str
    media_type: str
    size_bytes: int


class CommandCounts(NamedTuple):
    """What came of the commands of a session; ``left`` are those that did not run."""

    done: int
    failed: int
    left: int
    troubles: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it."""
        return self._asdict()


class FileCommands:
    """Runs a command for files, in the order in which they are named; each file of a run once per session."""

    def __init__(self, command: ExternalCommand) -> None:
        self._command = command
        self._waiting: deque[_File] = deque()
        self._met: set[tuple[Path, str]] = set()
        self._changed = threading.Condition()
        self._ends = self._stops = False
        self._done = self._failed = 0
        self._troubles: list[str] = []
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="coati-exec", daemon=True)
        self._thread.start()

    def add_missed(self, folder: Path) -> None:
        """Take the files of a run, except those whose command ended well in an earlier session."""
        if not holds_run(folder):
            return
        with RunReader(folder) as run:
            taken = [_File(folder, *row) for row in run.connection.execute(_TAKEN)]
        with self._changed:
            self._met.update((folder, name) for name in _noted(folder))
        for file in taken:
            self._take(file)

    def listener(self, folder: Path, on_event: OnEvent | None) -> OnEvent:
        """Return what a crawl into ``folder`` tells its events to; they are passed on."""

        def tell(event: Event) -> None:
            data = event.data
            if event.what is EventKind.OBSERVED and data.get("file"):
                name = str(data["file"]).partition("/")[2]
                size = data.get("size_bytes", 0)
                size = size if isinstance(size, int) else 0
                self._take(_File(folder, name, str(data["url"]), str(data.get("media_type", "")), size))
            if on_event is not None:
                on_event(event)

        return tell

    @property
    def waiting(self) -> int:
        """How many files wait for their command."""
        return len(self._waiting)

    def finish(self, *, at_once: bool = False) -> CommandCounts:
        """Wait for the last command; ``at_once``: for the one that runs, and leave the rest for next time.

        Ctrl-C has the same effect as ``at_once``.
        """
        self._end(at_once=at_once)
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self._end(at_once=True)
            self._thread.join()
        if self._error is not None:
            raise self._error
        return CommandCounts(self._done, self._failed, len(self._waiting), tuple(self._troubles))

    def _end(self, *, at_once: bool) -> None:
        with self._changed:
            self._ends, self._stops = True, self._stops or at_once
            self._changed.notify()

    def _take(self, file: _File) -> None:
        with self._changed:
            if (file.folder, file.name) not in self._met:
                self._met.add((file.folder, file.name))
                self._waiting.append(file)
                self._changed.notify()

    def _work(self) -> None:
        try:
            while (file := self._next()) is not None:
                self._run(file)
        except Exception as error:  # noqa: BLE001 - told by `finish`, in the thread that waits for it
            self._error = error

    def _next(self) -> _File | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ends)
            return None if self._stops or not self._waiting else self._waiting.popleft()

    def _run(self, file: _File) -> None:
        path = (Layout(file.folder).files / file.name).absolute()
        values = {
            "file": str(path),
            "url": file.url,
            # A server says it, and no command must take it for an option.
            "type": file.media_type if file.media_type[:1].isalnum() else "",
            "run": str(file.folder.absolute()),
        }
        payload = {**values, "size_bytes": file.size_bytes}
        trouble = self._command.run(values, payload) if path.is_file() else "the file is no longer there"
        if trouble:
            self._failed += 1
            if len(self._troubles) < _TOLD:
                self._troubles.append(f"{file.name}: {trouble}")
            return
        self._done += 1
        noted = {"file": file.name, "url": file.url, "ended_at": to_iso(time.time())}
        append_lines(_notes(file.folder), json.dumps(noted, ensure_ascii=False).encode() + b"\n")


@contextmanager
def running_commands(text: str, seconds: float) -> Iterator[FileCommands | None]:
    """Run a command for files until the block ends; None where there is none to run."""
    if not text:
        yield None
        return
    commands = FileCommands(ExternalCommand.parse(text, PLACEHOLDERS, seconds))
    try:
        yield commands
    finally:
        commands.finish(at_once=True)


def _notes(folder: Path) -> Path:
    return folder / "commands.jsonl"


def _noted(folder: Path) -> Iterator[str]:
    """Go through the files whose command ended well; half a line, left by a power cut, is ignored."""
    path = _notes(folder)
    if not path.is_file():
        return
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                note = json.loads(line)
            except ValueError:
                continue
            if isinstance(note, dict) and isinstance(note.get("file"), str):
                yield note["file"]
