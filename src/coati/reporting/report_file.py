"""``report.html``, written into the folder of a run."""

from __future__ import annotations

from pathlib import Path

from coati.reporting.page import report_page
from coati.runs.durable import write_whole
from coati.runs.errors import explaining_errors
from coati.runs.reader import RunReader


def write_report(folder: Path) -> Path:
    """Write the report of a run in place of an older one, and return its path.

    The run may be going on meanwhile. Raises `coati.runs.RunError` if there is no run, or no room.
    """
    with RunReader(folder) as run, explaining_errors(folder):
        write_whole(run.layout.report, [report_page(run).encode()])
        return run.layout.report
