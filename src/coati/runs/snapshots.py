"""Snapshots: a strategy's whole state at one event of the log, so that only the rest is redone.

A snapshot is an aid and never the truth. One that is damaged, was made by another version or under other
settings, or is ahead of the log, is left aside with a message, and the log alone is used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from coati.runs.durable import write_whole
from coati.strategies.state import State, pack, unpack
from coati.version import __version__

_MAGIC = b"coati-snapshot-1\n"
_MAX_HEAD_BYTES = 1 << 16
_SUFFIX = ".snapshot"
_KEPT = 2


@dataclass(frozen=True, slots=True)
class SnapshotForm:
    """What a snapshot belongs to, and how a strategy's state becomes bytes.

    ``settings`` are those that the strategy was built from (start URL, seed and parameters; no budgets): a
    snapshot that was made under others is left aside.
    """

    strategy: str
    settings: Mapping[str, object]
    pack: Callable[[State], bytes] = pack
    unpack: Callable[[bytes], State] = unpack

    def digest(self) -> str:
        """Return what differs between two sets of settings."""
        text = json.dumps(self.settings, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class SnapshotHead:
    """What a snapshot says of itself; ``event`` and ``link`` are the last of the log that it includes."""

    event: int
    link: int
    strategy: str
    settings: str
    coati: str
    sha256: str


class SnapshotFiles:
    """The snapshots of one run, newest first; the last two are kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, event: int, link: int, state: bytes, form: SnapshotForm) -> None:
        """Add a snapshot and drop the oldest."""
        head = SnapshotHead(
            event, link, form.strategy, form.digest(), __version__, hashlib.sha256(state).hexdigest()
        )
        path = self._folder / f"{event:012}{_SUFFIX}"
        write_whole(path, (_MAGIC, json.dumps(asdict(head)).encode() + b"\n", state))
        for old in self._paths()[_KEPT:]:
            old.unlink()

    def usable(
        self, last_event: int, form: SnapshotForm, messages: list[str]
    ) -> Iterator[tuple[SnapshotHead, bytes]]:
        """Return the snapshots that fit the log and the strategy; ``messages`` gets why another does not."""
        for path in self._paths():
            try:
                head, state = _read(path)
                _check(head, last_event, form)
            except (OSError, ValueError, TypeError) as error:
                messages.append(f"snapshot {path.name} is ignored: {error}")
            else:
                yield head, state

    def _paths(self) -> list[Path]:
        return sorted(self._folder.glob("*" + _SUFFIX), reverse=True)


def _read(path: Path) -> tuple[SnapshotHead, bytes]:
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise ValueError("it is not a snapshot of this version")
        head = SnapshotHead(**json.loads(file.readline(_MAX_HEAD_BYTES)))
        state = file.read()
    if hashlib.sha256(state).hexdigest() != head.sha256:
        raise ValueError("it is damaged")
    return head, state


def _check(head: SnapshotHead, last_event: int, form: SnapshotForm) -> None:
    if head.coati != __version__:
        raise ValueError(f"it was made by Coati {head.coati}, and this is {__version__}")
    if (head.strategy, head.settings) != (form.strategy, form.digest()):
        raise ValueError(f"it was made by {head.strategy} under other settings")
    if head.event > last_event:
        raise ValueError("it is ahead of the log")
