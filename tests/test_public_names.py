"""What `import coati` offers, and what it costs."""

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import coati
from coati.cli.discover import discover as discover_command
from coati.cli.inspect import inspect as inspect_command
from coati.cli.main import coati as coati_command
from coati.cli.watch import watch as watch_command
from coati.jobs.options import CrawlOptions, DiscoverOptions, InspectOptions, RequestOptions
from coati.settings.run_settings import SETTINGS
from coati.settings.setting import Section
from coati.watching.watch_options import WATCH_OPTIONS, CycleOptions, WatchKeywords

PUBLIC = [
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

# What each command does, a function does. The rest is about the command line alone.
FUNCTIONS = {
    "archive export": "export_archive",
    "archive import": "import_archive",
    "archive info": "describe_archive",
    "archive reindex": "reindex_archive",
    "archive verify": "verify_archive",
    "crawl": "crawl",
    "discover": "discover",
    "experiment": "experiment",
    "explain": "explain",
    "export": "export_statements",
    "fleet free": "free_site",
    "fleet log": "store_log",
    "fleet status": "describe_store",
    "harvest": "harvest",
    "inspect": "inspect",
    "learn pages": "learn_pages",
    "merge": "merge",
    "pull": "pull",
    "replay": "replay",
    "report": "report",
    "runs": "find_runs",
    "sample": "sample",
    "search query": "SearchIndex",
    "search engines": "list_engines",
    "search index": "index_archives",
    "show": "open_run",
    "strategies": "list_strategies",
    "types": "list_types",
    "verify": "verify",
    "watch": "watch",
}
ABOUT_COMMANDS = {"completion", "man"}

# How a command says and shows things is its own business; a function returns and calls back.
OF_COMMANDS = {"urls", "format", "quiet", "verbose", "dry_run"}

# Options that functions take by another name, or that another function stands for; the reference says so.
OTHERWISE = {
    ("crawl", "dry_run"): "coati.preview(",
    ("crawl", "from_file"): "coati.crawl_each(",
    ("crawl", "no_stop_when_dry"): 'stop_when_dry="off"',
    ("fleet status", "every"): "coati.describe_store(",
    ("fleet status", "follow"): "coati.describe_store(",
    ("harvest", "cluster"): "coati.harvest_into_store(",
    ("harvest", "from"): "`discovery`",
    ("harvest", "no_stop_when_dry"): 'stop_when_dry="off"',
    ("harvest", "store"): "coati.harvest_into_store(",
    ("watch", "cluster"): "coati.watch_store(",
    ("watch", "diff"): "coati.past_changes(",
    ("watch", "once"): "`cycles=1`",
    ("watch", "store"): "coati.watch_store(",
}


def test_the_public_names_are_these() -> None:
    assert coati.__all__ == PUBLIC
    assert all(getattr(coati, name).__doc__ for name in PUBLIC if name != "__version__")


def commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} ")
        else:
            yield before + name, command


COMMANDS = dict(commands(coati_command))


def test_each_command_has_a_function() -> None:
    assert COMMANDS.keys() == FUNCTIONS.keys() | ABOUT_COMMANDS
    assert set(FUNCTIONS.values()) <= set(PUBLIC)


def arguments_of(function: object) -> set[str]:
    """Name what a function takes, those of its typed keywords among them."""
    called = function.search if function is coati.SearchIndex else function
    assert callable(called)
    names = set()
    for parameter in inspect.signature(called).parameters.values():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            names.add(parameter.name)
            continue
        keywords = str(parameter.annotation).removeprefix("Unpack[").removesuffix("]")
        names |= set(getattr(sys.modules[called.__module__], keywords).__annotations__)
    return names


@pytest.mark.parametrize(("command", "function"), FUNCTIONS.items(), ids=FUNCTIONS)
def test_a_function_takes_every_option_of_its_command_by_name(command: str, function: str) -> None:
    taken = arguments_of(getattr(coati, function))
    missing = set()
    for option in COMMANDS[command].params:
        if not isinstance(option, click.Option) or option.name in {*OF_COMMANDS - {"dry_run"}, "form"}:
            continue
        names = [name.lstrip("-").replace("-", "_") for name in (*option.opts, *option.secondary_opts)]
        if not taken & set(names):
            missing.add(names[0])
    assert missing == {option for name, option in OTHERWISE if name == command}


def test_the_reference_says_what_is_called_otherwise() -> None:
    page = (Path(__file__).parents[1] / "docs" / "reference" / "python-api.md").read_text(encoding="utf-8")
    assert [words for words in OTHERWISE.values() if words not in page] == []


# What is given to functions or called back, what lists are made of, and what is asked further.
NO_RESULTS = {
    *("CoatiError", "CrawlOptions", "DiscoverOptions", "EngineSummary", "Event", "EventKind"),
    *("InspectOptions", "Progress", "RunFile", "SearchIndex", "SearchProgress", "StopReason", "StopSignal"),
    "StrategySummary",
}


def test_every_result_shows_itself_in_a_notebook() -> None:
    classes = {name for name in PUBLIC if inspect.isclass(getattr(coati, name))}
    assert {name for name in classes if not hasattr(getattr(coati, name), "_repr_html_")} == NO_RESULTS


def test_names_that_are_imported_late_are_those_that_are_declared() -> None:
    tree = ast.parse(Path(str(coati.__file__)).read_text(encoding="utf-8"))
    declared = {
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in PUBLIC and alias.name != "__version__"
    }
    places = coati._PLACES  # noqa: SLF001 - what is compared
    assert declared == {(module, name) for module, names in places.items() for name in names}


def test_importing_coati_imports_nothing_heavy() -> None:
    code = "import sys, coati; print({'numpy', 'scrapy', 'rich', 'click'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_a_crawl_takes_every_setting_by_name() -> None:
    # A new setting is added to `coati.jobs.options.CrawlOptions`, with its type.
    of_crawls = {name for name, setting in SETTINGS.items() if setting.group is not Section.DISCOVER}
    assert set(CrawlOptions.__annotations__) == of_crawls - OF_COMMANDS


def test_a_search_takes_every_setting_of_its_command_by_name() -> None:
    offered = {option.name for option in discover_command.params} & set(SETTINGS)
    assert set(DiscoverOptions.__annotations__) == offered - OF_COMMANDS


def test_a_watch_asks_as_its_command_does() -> None:
    options = {option.name for option in watch_command.params}
    assert set(RequestOptions.__annotations__) == options & set(SETTINGS) - {"out"} - OF_COMMANDS


def test_a_watch_takes_every_option_by_name() -> None:
    # A new option is added to `coati.watching.watch_options.CycleOptions`, with its type.
    assert set(CycleOptions.__annotations__) == WATCH_OPTIONS.keys() - {"every"}
    assert set(WatchKeywords.__annotations__) == WATCH_OPTIONS.keys() | set(RequestOptions.__annotations__)


def test_an_inspection_takes_every_setting_of_its_command_by_name() -> None:
    offered = {option.name for option in inspect_command.params} & set(SETTINGS)
    assert set(InspectOptions.__annotations__) == offered - OF_COMMANDS
