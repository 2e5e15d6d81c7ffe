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
    from coati.fleet.fleet_watch import FleetCycle
    from coati.fleet.status import FleetStatus
    from coati.fleet.store_access import PulledSite, describe_store, free_site, pull, store_log
    from coati.fleet.store_jobs import StoreHarvest, harvest_into_store, watch_store
    from coati.harvesting.exports import export_statements
    from coati.harvesting.files_harvest import FilesHarvested
    from coati.harvesting.harvest import crawl_each, harvest
    from coati.harvesting.pages_harvest import PagesHarvested
    from coati.jobs.archive_checks import (
        ArchiveVerification,
        ReindexedArchive,
        reindex_archive,
        verify_archive,
    )
    from coati.jobs.archives import (
        ArchiveSummary,
        ImportedArchive,
        describe_archive,
        export_archive,
        import_archive,
    )
    from coati.jobs.choices import EngineSummary, StrategySummary, list_engines, list_strategies, list_types
    from coati.jobs.crawl_run import CrawlRun
    from coati.jobs.crawling import crawl, preview
    from coati.jobs.discovering import DiscoveryRun, discover
    from coati.jobs.experimenting import ExperimentResults, experiment
    from coati.jobs.inspecting import Inspection, inspect
    from coati.jobs.learning import LearntModel, learn_pages
    from coati.jobs.merging import Merged, merge
    from coati.jobs.options import CrawlOptions, DiscoverOptions, InspectOptions
    from coati.jobs.preview import Preview
    from coati.jobs.replay_results import ReplayResults, WatchReplayResults
    from coati.jobs.replaying import replay
    from coati.jobs.run_details import RunDetails
    from coati.jobs.run_summary import RunSummary
    from coati.jobs.runs import Run, RunFile, explain, find_runs, open_run, report
    from coati.jobs.sampling import Sample, sample
    from coati.jobs.search_index import IndexedArchives, SearchIndex, index_archives
    from coati.jobs.verifying import Verification, verify
    from coati.live.progress import Event, EventKind, Progress
    from coati.live.stop_signal import StopSignal
    from coati.reporting.explanation import Explanation
    from coati.stop_reasons import StopReason
    from coati.watching.cycle import CycleResult
    from coati.watching.past_changes import PastChanges, past_changes
    from coati.watching.watch_cycles import WatchResult, watch

__all__ = [
    "ArchiveSummary",
    "ArchiveVerification",
    "CoatiError",
    "CrawlOptions",
    "CrawlRun",
    "CycleResult",
    "DiscoverOptions",
    "DiscoveryRun",
    "EngineSummary",
    "Event",
    "EventKind",
    "ExperimentResults",
    "Explanation",
    "FilesHarvested",
    "FleetCycle",
    "FleetStatus",
    "ImportedArchive",
    "IndexedArchives",
    "InspectOptions",
    "Inspection",
    "LearntModel",
    "Merged",
    "PagesHarvested",
    "PastChanges",
    "Preview",
    "Progress",
    "PulledSite",
    "ReindexedArchive",
    "ReplayResults",
    "Run",
    "RunDetails",
    "RunFile",
    "RunSummary",
    "Sample",
    "SearchIndex",
    "SearchProgress",
    "StopReason",
    "StopSignal",
    "StoreHarvest",
    "StrategySummary",
    "Verification",
    "WatchReplayResults",
    "WatchResult",
    "__version__",
    "crawl",
    "crawl_each",
    "describe_archive",
    "describe_store",
    "discover",
    "experiment",
    "explain",
    "export_archive",
    "export_statements",
    "find_runs",
    "free_site",
    "harvest",
    "harvest_into_store",
    "import_archive",
    "index_archives",
    "inspect",
    "learn_pages",
    "list_engines",
    "list_strategies",
    "list_types",
    "merge",
    "open_run",
    "past_changes",
    "preview",
    "pull",
    "reindex_archive",
    "replay",
    "report",
    "sample",
    "store_log",
    "verify",
    "verify_archive",
    "watch",
    "watch_store",
]

# Imported on first use, so that `import coati` takes no time.
_PLACES = {
    "coati.discovering.searching": ["SearchProgress"],
    "coati.errors": ["CoatiError"],
    "coati.fleet.fleet_watch": ["FleetCycle"],
    "coati.fleet.status": ["FleetStatus"],
    "coati.fleet.store_access": ["PulledSite", "describe_store", "free_site", "pull", "store_log"],
    "coati.fleet.store_jobs": ["StoreHarvest", "harvest_into_store", "watch_store"],
    "coati.harvesting.exports": ["export_statements"],
    "coati.harvesting.files_harvest": ["FilesHarvested"],
    "coati.harvesting.harvest": ["crawl_each", "harvest"],
    "coati.harvesting.pages_harvest": ["PagesHarvested"],
    "coati.jobs.archive_checks": [
        "ArchiveVerification",
        "ReindexedArchive",
        "reindex_archive",
        "verify_archive",
    ],
    "coati.jobs.archives": [
        "ArchiveSummary",
        "ImportedArchive",
        "describe_archive",
        "export_archive",
        "import_archive",
    ],
    "coati.jobs.choices": [
        "EngineSummary",
        "StrategySummary",
        "list_engines",
        "list_strategies",
        "list_types",
    ],
    "coati.jobs.crawl_run": ["CrawlRun"],
    "coati.jobs.crawling": ["crawl", "preview"],
    "coati.jobs.discovering": ["DiscoveryRun", "discover"],
    "coati.jobs.experimenting": ["ExperimentResults", "experiment"],
    "coati.jobs.inspecting": ["Inspection", "inspect"],
    "coati.jobs.learning": ["LearntModel", "learn_pages"],
    "coati.jobs.merging": ["Merged", "merge"],
    "coati.jobs.options": ["CrawlOptions", "DiscoverOptions", "InspectOptions"],
    "coati.jobs.preview": ["Preview"],
    "coati.jobs.replay_results": ["ReplayResults", "WatchReplayResults"],
    "coati.jobs.replaying": ["replay"],
    "coati.jobs.run_details": ["RunDetails"],
    "coati.jobs.run_summary": ["RunSummary"],
    "coati.jobs.runs": ["Run", "RunFile", "explain", "find_runs", "open_run", "report"],
    "coati.jobs.sampling": ["Sample", "sample"],
    "coati.jobs.search_index": ["IndexedArchives", "SearchIndex", "index_archives"],
    "coati.jobs.verifying": ["Verification", "verify"],
    "coati.live.progress": ["Event", "EventKind", "Progress"],
    "coati.live.stop_signal": ["StopSignal"],
    "coati.reporting.explanation": ["Explanation"],
    "coati.stop_reasons": ["StopReason"],
    "coati.watching.cycle": ["CycleResult"],
    "coati.watching.past_changes": ["PastChanges", "past_changes"],
    "coati.watching.watch_cycles": ["WatchResult", "watch"],
}

__getattr__ = names_from(__name__, _PLACES)
