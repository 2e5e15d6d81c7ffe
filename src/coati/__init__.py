"""Coati acquires data from the web with few requests.

What each command does, a function does: `crawl`, `replay`, `open_run`, `explain` and so on. They return
result objects and take callbacks for progress.

>>> import coati
>>> coati.StopReason.FINISHED.exit_code
0
"""

from coati.lazy_names import names_from
from coati.version import __version__

# As `typing` has it, whose import would be most of the time that ours takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from coati.discovering.searching import SearchProgress
    from coati.errors import CoatiError
    from coati.harvesting.files import FilesHarvested
    from coati.harvesting.harvest import harvest
    from coati.harvesting.pages import PagesHarvested
    from coati.jobs.archives import (
        ArchiveSummary,
        ImportedArchive,
        describe_archive,
        export_archive,
        import_archive,
    )
    from coati.jobs.crawl_run import CrawlRun
    from coati.jobs.crawling import crawl, preview
    from coati.jobs.discovering import DiscoveryRun, discover
    from coati.jobs.experimenting import ExperimentResults, experiment
    from coati.jobs.inspecting import Inspection, inspect
    from coati.jobs.merging import Merged, merge
    from coati.jobs.options import CrawlOptions, DiscoverOptions
    from coati.jobs.preview import Preview
    from coati.jobs.replaying import ReplayResults, replay
    from coati.jobs.run_summary import RunSummary
    from coati.jobs.runs import Run, RunFile, explain, find_runs, open_run, report
    from coati.jobs.verifying import Verification, verify
    from coati.live.progress import Event, EventKind, Progress
    from coati.live.stop_signal import StopSignal
    from coati.reporting.explanation import Explanation
    from coati.stop_reasons import StopReason
    from coati.watching.cycle import CycleResult
    from coati.watching.watch_cycles import WatchResult, watch

__all__ = [
    "ArchiveSummary",
    "CoatiError",
    "CrawlOptions",
    "CrawlRun",
    "CycleResult",
    "DiscoverOptions",
    "DiscoveryRun",
    "Event",
    "EventKind",
    "ExperimentResults",
    "Explanation",
    "FilesHarvested",
    "ImportedArchive",
    "Inspection",
    "Merged",
    "PagesHarvested",
    "Preview",
    "Progress",
    "ReplayResults",
    "Run",
    "RunFile",
    "RunSummary",
    "SearchProgress",
    "StopReason",
    "StopSignal",
    "Verification",
    "WatchResult",
    "__version__",
    "crawl",
    "describe_archive",
    "discover",
    "experiment",
    "explain",
    "export_archive",
    "find_runs",
    "harvest",
    "import_archive",
    "inspect",
    "merge",
    "open_run",
    "preview",
    "replay",
    "report",
    "verify",
    "watch",
]

# Imported when they are asked for, so that `import coati` takes no time.
_PLACES = {
    "DiscoverOptions": "coati.jobs.options",
    "DiscoveryRun": "coati.jobs.discovering",
    "discover": "coati.jobs.discovering",
    "SearchProgress": "coati.discovering.searching",
    "CycleResult": "coati.watching.cycle",
    "WatchResult": "coati.watching.watch_cycles",
    "watch": "coati.watching.watch_cycles",
    "CoatiError": "coati.errors",
    "FilesHarvested": "coati.harvesting.files",
    "PagesHarvested": "coati.harvesting.pages",
    "harvest": "coati.harvesting.harvest",
    "ArchiveSummary": "coati.jobs.archives",
    "ImportedArchive": "coati.jobs.archives",
    "describe_archive": "coati.jobs.archives",
    "export_archive": "coati.jobs.archives",
    "import_archive": "coati.jobs.archives",
    "CrawlRun": "coati.jobs.crawl_run",
    "crawl": "coati.jobs.crawling",
    "preview": "coati.jobs.crawling",
    "Inspection": "coati.jobs.inspecting",
    "inspect": "coati.jobs.inspecting",
    "ExperimentResults": "coati.jobs.experimenting",
    "experiment": "coati.jobs.experimenting",
    "Merged": "coati.jobs.merging",
    "merge": "coati.jobs.merging",
    "CrawlOptions": "coati.jobs.options",
    "Preview": "coati.jobs.preview",
    "ReplayResults": "coati.jobs.replaying",
    "replay": "coati.jobs.replaying",
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
