"""Coati acquires data from the web with few requests.

What each command does, a function does: `crawl`, `preview`, `open_run`, `explain` and so on. They return
result objects and take callbacks for progress.

>>> import coati
>>> coati.StopReason.FINISHED.exit_code
0
"""

from typing import TYPE_CHECKING

from coati.lazy_names import names_from
from coati.version import __version__

if TYPE_CHECKING:
    from coati.errors import CoatiError
    from coati.jobs.crawl_run import CrawlRun
    from coati.jobs.crawling import crawl, preview
    from coati.jobs.options import CrawlOptions
    from coati.jobs.preview import Preview
    from coati.jobs.run_summary import RunSummary
    from coati.jobs.runs import Run, RunFile, explain, find_runs, open_run, report
    from coati.jobs.verifying import Verification, verify
    from coati.live.progress import Event, EventKind, Progress
    from coati.live.stop_signal import StopSignal
    from coati.reporting.explanation import Explanation
    from coati.stop_reasons import StopReason

__all__ = [
    "CoatiError",
    "CrawlOptions",
    "CrawlRun",
    "Event",
    "EventKind",
    "Explanation",
    "Preview",
    "Progress",
    "Run",
    "RunFile",
    "RunSummary",
    "StopReason",
    "StopSignal",
    "Verification",
    "__version__",
    "crawl",
    "explain",
    "find_runs",
    "open_run",
    "preview",
    "report",
    "verify",
]

# Imported when they are asked for, so that `import coati` takes no time.
_PLACES = {
    "CoatiError": "coati.errors",
    "CrawlRun": "coati.jobs.crawl_run",
    "crawl": "coati.jobs.crawling",
    "preview": "coati.jobs.crawling",
    "CrawlOptions": "coati.jobs.options",
    "Preview": "coati.jobs.preview",
    "RunSummary": "coati.jobs.run_summary",
    "Run": "coati.jobs.runs",
    "RunFile": "coati.jobs.runs",
    "explain": "coati.jobs.runs",
    "find_runs": "coati.jobs.runs",
    "open_run": "coati.jobs.runs",
    "report": "coati.jobs.runs",
    "Verification": "coati.jobs.verifying",
    "verify": "coati.jobs.verifying",
    "Event": "coati.live.progress",
    "EventKind": "coati.live.progress",
    "Progress": "coati.live.progress",
    "StopSignal": "coati.live.stop_signal",
    "Explanation": "coati.reporting.explanation",
    "StopReason": "coati.stop_reasons",
}

__getattr__ = names_from(__name__, _PLACES)
