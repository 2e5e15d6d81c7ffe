"""Several archives side by side in one folder, read as one: a small web of many hosts."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from coati.archive.archive import Archive
from coati.archive.description import FILE_NAME
from coati.archive.record import Entry, Record
from coati.errors import NotArchivedError, UsageError


def archives_in(folder: Path) -> list[Path]:
    """Return the archive in a folder, or those in its subfolders; raise `UsageError` if there is none."""
    if (folder / FILE_NAME).is_file():
        return [folder]
    found = sorted(path.parent for path in folder.glob(f"*/{FILE_NAME}"))
    if not found:
        raise UsageError(f"there is no archive in {folder}, and none in its subfolders")
    return found


class FolderOfArchives:
    """Answers from the first of some archives that holds a URL; nothing is added to them."""

    def __init__(self, folders: list[Path]) -> None:
        with ExitStack() as stack:
            self._archives = [stack.enter_context(Archive.open(folder)) for folder in folders]
            self._closing = stack.pop_all()

    def entry(self, url: str) -> Entry | None:
        """Look a URL up; None where nothing is archived of it."""
        found = (archive.entry(url) for archive in self._archives)
        return next((entry for entry in found if entry is not None), None)

    def record(self, url: str) -> Record:
        """Return everything that is archived of a URL."""
        for archive in self._archives:
            if archive.entry(url) is not None:
                return archive.record(url)
        raise NotArchivedError(f"{url} is in none of the archives")

    def add(self, record: Record) -> NoReturn:
        """Refuse to add: it is not known to which of them."""
        raise UsageError(f"several archives are only read: {record.entry.url} cannot be added")

    def close(self) -> None:
        """Close them all."""
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
