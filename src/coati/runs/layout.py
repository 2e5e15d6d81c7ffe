"""Where each file of a run folder is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coati.runs.errors import NoRunError
from coati.runs.schema import APPLICATION_ID

# Where SQLite's file header keeps the application id: big-endian, four bytes.
_APPLICATION_ID_AT = 68

# Runs stand in a folder, or in folders of projects; deeper than this nobody means to look.
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of one run folder.

    ``state`` is ours: a lock, snapshots, and bodies on their way to ``files``. All else is for people and
    other tools.
    """

    folder: Path

    @property
    def settings(self) -> Path:
        return self.folder / "run.toml"

    @property
    def database(self) -> Path:
        return self.folder / "run.sqlite"

    @property
    def files(self) -> Path:
        return self.folder / "files"

    @property
    def warc(self) -> Path:
        return self.folder / "warc" / "pages.warc.gz"

    @property
    def listing(self) -> Path:
        return self.folder / "files.csv"

    @property
    def datapackage(self) -> Path:
        return self.folder / "datapackage.json"

    @property
    def report(self) -> Path:
        return self.folder / "report.html"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def incoming(self) -> Path:
        return self.state / "incoming"

    @property
    def snapshots(self) -> Path:
        return self.state / "snapshots"

    @property
    def lock(self) -> Path:
        return self.state / "lock"


def holds_run(folder: Path) -> bool:
    """Tell whether a folder holds a run that can be opened.

    A process that was killed while it began a run leaves none: `RunStore.create` may then be called again.
    """
    try:
        with Layout(folder).database.open("rb") as file:
            header = file.read(_APPLICATION_ID_AT + 4)
    except OSError:
        return False
    return header[_APPLICATION_ID_AT:] == APPLICATION_ID.to_bytes(4, "big")


def run_folders(folder: Path, depth: int = _DEPTH) -> Iterator[Path]:
    """Go through the folders of runs at and below a folder."""
    if holds_run(folder):
        yield folder
        return
    if depth == 0:
        return
    try:
        inner = sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.is_symlink())
    except OSError:
        return
    for entry in inner:
        yield from run_folders(entry, depth - 1)


def require_run(folder: Path) -> None:
    """Raise `NoRunError` for a folder without a run; it names one of those that a harvest has in it."""
    if holds_run(folder):
        return
    below = sorted(place for place in folder.glob("sites/*") if holds_run(place))
    more = f", but one for each site of a harvest: name one of these, such as {below[0]}" if below else ""
    raise NoRunError(f"there is no run in {folder}{more}")


# What a run that was killed in its first moments leaves behind.
_BEGUN = frozenset(
    {
        "run.toml",
        "run.toml.new",
        "run.sqlite",
        "run.sqlite.new",
        "run.sqlite-journal",
        "run.sqlite-wal",
        "run.sqlite-shm",
        "state",
    }
)


def is_free(folder: Path, begun: frozenset[str] = _BEGUN) -> bool:
    """Tell whether a run can begin in a folder: there is none, or nothing in it but what a kill may leave.

    ``begun`` names what something else than a run has in its first moments.
    """
    if not folder.is_dir():
        return not folder.exists()
    return not holds_run(folder) and {entry.name for entry in folder.iterdir()} <= begun
