"""A file that an export writes: complete or absent, and never in place of another one unless requested."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coati.errors import UsageError
from coati.machine_errors import writing_to


@contextmanager
def new_file(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a path to write to; what is written there becomes ``path`` at the end, if nothing was raised."""
    if path.exists() and not (overwrite and path.is_file()):
        # A device or a pipe is not a file to be replaced, even on demand.
        raise UsageError(f"{path} already exists" + (" and is not a file" if overwrite else ""))
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    try:
        with writing_to(path):
            yield partial
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
