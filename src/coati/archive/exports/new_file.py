"""A file that an export makes: there whole or not at all, and never in the place of another one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from coati.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a place to write to; what is written there becomes ``path`` at the end, if all went well."""
    if path.exists():
        raise UsageError(f"{path} already exists")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    try:
        yield partial
        partial.rename(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
