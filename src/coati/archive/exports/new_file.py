"""A file that an export makes: there whole or not at all, and in the place of another one only on demand."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from coati.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def new_file(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Give a place to write to; what is written there becomes ``path`` at the end, if all went well."""
    if path.is_dir() or (path.exists() and not overwrite):
        raise UsageError(f"{path} already exists")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    try:
        yield partial
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
