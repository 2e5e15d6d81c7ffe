"""What `import coati` offers, and what it costs."""

import ast
import subprocess
import sys
from pathlib import Path

import coati
from coati.cli.discover import discover as discover_command
from coati.cli.watch import watch as watch_command
from coati.jobs.options import AskingOptions, CrawlOptions, DiscoverOptions
from coati.settings.run_settings import SETTINGS, Group

PUBLIC = [
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

# How a command says and shows things is its own business; a function returns and calls back.
OF_COMMANDS = {"urls", "format", "quiet", "verbose", "dry_run"}


def test_the_public_names_are_these() -> None:
    assert coati.__all__ == PUBLIC
    assert all(getattr(coati, name).__doc__ for name in PUBLIC if name != "__version__")


def test_names_that_are_imported_late_are_those_that_are_declared() -> None:
    tree = ast.parse(Path(str(coati.__file__)).read_text(encoding="utf-8"))
    declared = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in PUBLIC and alias.name != "__version__"
    }
    assert declared == coati._PLACES  # noqa: SLF001 - what is compared


def test_importing_coati_imports_nothing_heavy() -> None:
    code = "import sys, coati; print({'numpy', 'scrapy', 'rich', 'click'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_a_crawl_takes_every_setting_by_name() -> None:
    # A new setting is added to `coati.jobs.options.CrawlOptions`, with its type.
    of_crawls = {name for name, setting in SETTINGS.items() if setting.group is not Group.DISCOVER}
    assert set(CrawlOptions.__annotations__) == of_crawls - OF_COMMANDS


def test_a_search_takes_every_setting_of_its_command_by_name() -> None:
    offered = {option.name for option in discover_command.params} & set(SETTINGS)
    assert set(DiscoverOptions.__annotations__) == offered - OF_COMMANDS


def test_a_watch_asks_as_its_command_does() -> None:
    options = {option.name for option in watch_command.params}
    assert set(AskingOptions.__annotations__) == options & set(SETTINGS) - {"out"} - OF_COMMANDS
