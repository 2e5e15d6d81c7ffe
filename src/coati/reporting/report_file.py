"""``report.html``, written into the folder of a run."""

from __future__ import annotations

from pathlib import Path

from coati.errors import UsageError
from coati.machine_errors import writing_to
from coati.reporting.page import report_page
from coati.runs.durable import write_whole
from coati.runs.errors import explaining_errors
from coati.runs.reader import RunReader


def write_report(folder: Path, out: Path | None = None) -> Path:
    """Write the report of a run in place of an older one, and return its path.

    ``out`` is another file than ``report.html`` of the run, whose folder is not written then. The run may
    still be running. Raises `coati.runs.RunError` if there is no run, or no room, and
    `coati.errors.UsageError` if the folder of ``out`` does not exist.
    """
    with RunReader(folder) as run:
        if out is None:
            with explaining_errors(folder):
                write_whole(run.layout.report, [report_page(run).encode()])
            return run.layout.report
        if not out.absolute().parent.is_dir():
            raise UsageError(f"there is no folder {out.parent} to write the report to")
        apart = out.absolute().parent.resolve() != folder.resolve()
        page = report_page(run, apart=apart).encode()
    with writing_to(out):
        write_whole(out, [page])
    return out
