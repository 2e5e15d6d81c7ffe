"""Delete the bytes of old versions of files; their rows in ``targets`` stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from coati.runs.log import RunLog

_OLD = """
SELECT request, file FROM (
    SELECT request, file, row_number() OVER (PARTITION BY url ORDER BY version DESC) AS place
    FROM targets WHERE file <> ''
) WHERE place > ?
"""
_LET_GO = "UPDATE targets SET file = '' WHERE request = ?"
_IS_USED = "SELECT 1 FROM targets WHERE file = ? LIMIT 1"


def delete_old_versions(log: RunLog, files: Path, keep: int) -> int:
    """Keep the files of the newest versions of each target; returns how many files were removed.

    A file that another target has as well stays. The names are noted as unfinished first, so that a kill
    before the files are removed leaves none behind: the next to open the run removes them.
    """
    connection = log.connection
    old = connection.execute(_OLD, (keep,)).fetchall()
    if not old:
        return 0
    with log.transaction(durable=True):
        connection.executemany(_LET_GO, [(request,) for request, _ in old])
        names = dict.fromkeys(name for _, name in old)
        unused = [name for name in names if connection.execute(_IS_USED, (name,)).fetchone() is None]
        connection.executemany(
            "INSERT OR REPLACE INTO unfinished_files VALUES (?)", [(name,) for name in unused]
        )
        connection.executemany("DELETE FROM files WHERE name = ?", [(name,) for name in unused])
    for name in unused:
        (files / name).unlink(missing_ok=True)
    with log.transaction():
        connection.executemany("DELETE FROM unfinished_files WHERE name = ?", [(name,) for name in unused])
    return len(unused)
