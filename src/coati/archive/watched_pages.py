"""Which pages of a history are watched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.archive.link_cache import is_page
from coati.errors import UsageError

if TYPE_CHECKING:
    from coati.archive.archive import Archive


def pages_to_watch(archive: Archive) -> list[str]:
    """Return the pages that the archive holds at several moments, or all pages where there are none."""
    newest = list(archive.entries())
    several = {entry.url for entry in archive.older_entries() if is_page(entry)}
    pages = [entry.url for entry in newest if entry.url in several] or [
        entry.url for entry in newest if is_page(entry)
    ]
    if not pages:
        raise UsageError(f"the archive {archive.meta.name} holds no page that could be watched")
    return pages
