"""Repairs a run when it is opened again, so that the database and the WARC file agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.runs.page_warc import PagePlace, PageWarc

if TYPE_CHECKING:
    from coati.runs.log import RunLog

_SYNCED = "SELECT value FROM about WHERE name = 'warc_synced'"
_KEEP_SYNCED = "INSERT OR REPLACE INTO about VALUES ('warc_synced', ?)"
_SAFE_END = """
SELECT coalesce(max(warc_offset + warc_length), 0) FROM pages WHERE warc_offset + warc_length <= ?
"""
_LATE_RECORDS = """
SELECT request, warc_offset, warc_length FROM pages WHERE warc_offset + warc_length > ? ORDER BY warc_offset
"""
_STRIKE = "UPDATE pages SET warc_offset = NULL, warc_length = NULL WHERE request = ?"


def note_synced(log: RunLog, warc: PageWarc) -> None:
    """Note within a transaction how far the WARC file is safe from a power cut."""
    log.connection.execute(_KEEP_SYNCED, (str(warc.synced),))


def repair_warc(log: RunLog, warc: PageWarc) -> list[str]:
    """Cut off what no page knows, strike what did not reach the disk; says what was lost, if anything."""
    (synced,) = log.connection.execute(_SYNCED).fetchone() or ("0",)
    (end,) = log.connection.execute(_SAFE_END, (min(int(synced), warc.end),)).fetchone()
    lost: list[tuple[int]] = []
    for request, offset, length in log.connection.execute(_LATE_RECORDS, (end,)).fetchall():
        # What stands after a gap would be out of reach of every reader of the file.
        if not lost and warc.holds(PagePlace(offset, length), after=end):
            end = offset + length
        else:
            lost.append((request,))
    warc.cut(end)
    warc.sync()
    with log.transaction(durable=True):
        log.connection.executemany(_STRIKE, lost)
        note_synced(log, warc)
    if not lost:
        return []
    return [f"{len(lost)} pages are missing from the WARC file; their links are in the log"]
