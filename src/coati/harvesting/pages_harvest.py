"""Pages that meet a goal, on any host, for one budget: `coati harvest LIST --goal structured-data`.

One crawl over many hosts into one run folder, like any crawl's. A strategy over hosts decides where to send
next; the detector of `coati.web.markup` labels each page, and the goal makes it relevant or not. Afterwards
the relevant pages are read in full (`coati.harvesting.extraction`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from coati.errors import ConfigError
from coati.harvesting.exports import export_statements
from coati.harvesting.extraction import Extraction, extract_run
from coati.harvesting.seeds import WrongLine
from coati.harvesting.sites import is_excluded
from coati.jobs.notebook_tables import rows_table
from coati.live.event_files import events_logged
from coati.live.event_lines import end_lines
from coati.live.plan import CrawlResult
from coati.live.progress import Progress
from coati.live.stop_signal import StopSignal
from coati.reporting.report_file import write_report
from coati.runs.layout import holds_run, is_free
from coati.runs.reader import RunReader
from coati.runs.store import RunStore
from coati.runs.totals import Totals
from coati.settings.crawl_plan import CrawlResources, crawl_plan
from coati.settings.run_file import (
    read_values,
    require_named_hosts,
    require_no_hidden,
    to_toml_values,
    with_values,
)
from coati.settings.run_settings import SETTINGS, RunSettings
from coati.stop_reasons import StopReason
from coati.units import format_count
from coati.version import __version__
from coati.web.urls import host_of

DEFAULT_STRATEGY = "host-yield"

# Requests in flight at once, unless the user says otherwise: hosts are many, and each has one at most.
PAGES_AT_ONCE = 64

# The statements of all pages, a JSON-LD document per page and line.
JSON_LD = "pages.jsonl"

_HOSTS = """
SELECT host, requests, pages, targets, failures, ended FROM host_totals
ORDER BY targets DESC, requests = 0, requests, host
"""
_BROKEN_SCRIPTS = "SELECT coalesce(sum(json_extract(facts, '$.markup.broken')), 0) FROM pages"


class HostSummary(NamedTuple):
    """The requests to one host, and what they found; ``ended`` says why it got no more, if so."""

    host: str
    requests: int
    pages: int
    relevant: int
    failures: int
    ended: str | None


def usual_settings(urls: Sequence[str], given: Mapping[str, object], excluded: frozenset[str]) -> RunSettings:
    """Return the settings of a new harvest of pages; raises `ConfigError` if every address is excluded."""
    kept = tuple(url for url in urls if not is_excluded(host_of(url), excluded))
    if not kept:
        raise ConfigError("every address is on an excluded host: there is nothing to harvest")
    usual = {
        "types": "none",
        "strategy": DEFAULT_STRATEGY,
        "scope": "any",
        "concurrency": PAGES_AT_ONCE,
        "exclude_host": tuple(sorted(excluded)),
    }
    return with_values(RunSettings(), {**usual, **given, "urls": kept})


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesHarvest:
    """What is to be harvested; ``extract``: read relevant pages in full, in this many ``processes``."""

    settings: RunSettings
    out: Path
    extract: bool = True
    processes: int | None = None

    def requests_left(self) -> int | None:
        """Return the requests that earlier sessions left of the budget; None without one."""
        if self.settings.max_requests is None or not holds_run(self.out):
            return self.settings.max_requests
        with RunReader(self.out) as run:
            return max(0, self.settings.max_requests - run.totals().requests)

    def estimated_seconds(self, requests: int) -> float:
        """Return how long a number of requests takes, if the hosts of the list share them."""
        hosts = len({host_of(url) for url in self.settings.urls})
        return requests * max(self.settings.delay / hosts, 1 / _FASTEST)


# Pages per second that one process reads at most, whatever the hosts allow.
_FASTEST = 100.0


@dataclass(frozen=True, slots=True, repr=False)
class PagesHarvested:
    """How a harvest ended; ``broken_scripts`` of JSON-LD could not be read.

    ``left_out`` are the lines of the list that give no address.
    """

    stop: StopReason
    totals: Totals
    broken_scripts: int
    hosts: list[HostSummary]
    extraction: Extraction | None
    folder: Path
    resumed: bool
    messages: tuple[str, ...] = ()
    left_out: tuple[WrongLine, ...] = ()

    def __fspath__(self) -> str:
        return str(self.folder)

    def __repr__(self) -> str:
        """Show on one line what it found and why it ended; the fields are many."""
        pages = format_count(self.totals.relevant_pages, "relevant page")
        hosts = format_count(len(self.hosts), "host")
        return f"<PagesHarvested {str(self.folder)!r}: {pages} from {hosts}; {self.stop.text.brief}>"

    @property
    def exit_code(self) -> int:
        """The exit status of a command that made this harvest."""
        return self.stop.exit_code

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it, all hosts together."""
        totals = self.totals
        return {
            "stop": self.stop.name.lower(),
            "stop_reason": self.stop.value,
            "sites": len(self.hosts),
            "requests": totals.requests,
            "pages": totals.pages,
            "relevant": totals.relevant_pages,
            "relevant_share": round(totals.relevant_pages / totals.pages, 4) if totals.pages else None,
            "bytes": totals.bytes,
            "failures": totals.failures,
            "broken_scripts": self.broken_scripts,
            "extraction": None if self.extraction is None else asdict(self.extraction),
            "resumed": self.resumed,
            "folder": str(self.folder),
        }

    def _repr_html_(self) -> str:
        rows: list[dict[str, object]] = [
            {
                "host": host.host,
                "relevant pages": host.relevant,
                "requests": host.requests,
                "ended": host.ended,
            }
            for host in self.hosts
        ]
        return rows_table(f"Harvest in {self.folder}: {self.stop.value}", rows)


def harvest_pages(
    harvest: PagesHarvest,
    on_progress: Callable[[Progress], None] | None = None,
    on_extracted: Callable[[int, int], None] | None = None,
    stop: StopSignal | None = None,
) -> PagesHarvested:
    """Harvest, or resume it where the folder holds one; Ctrl-C saves everything and ends it."""
    resumed = holds_run(harvest.out)
    result = _crawl(harvest, on_progress, stop, resumed=resumed)
    extraction = None
    if harvest.extract:
        extraction = extract_run(harvest.out, harvest.processes, on_extracted)
        export_statements(harvest.out, harvest.out / JSON_LD)
    write_report(harvest.out)
    with RunReader(harvest.out) as run:
        hosts = [HostSummary(*row) for row in run.connection.execute(_HOSTS)]
        totals = run.totals()
        (broken,) = run.connection.execute(_BROKEN_SCRIPTS).fetchone()
    return PagesHarvested(
        result.stop, totals, broken, hosts, extraction, harvest.out, resumed, result.messages
    )


def _crawl(
    harvest: PagesHarvest,
    on_progress: Callable[[Progress], None] | None,
    stop: StopSignal | None,
    *,
    resumed: bool,
) -> CrawlResult:
    from coati.live.running import crawl

    settings = harvest.settings
    require_named_hosts(settings)
    require_no_hidden(settings)
    if settings.exec:
        raise ConfigError("exec: a harvest with a goal takes pages and no files; leave it out")
    if resumed:
        _check_same(harvest.out, settings)
    elif not is_free(harvest.out):
        raise ConfigError(f"{harvest.out} holds something that is not a run; choose a new folder with --out")
    values = to_toml_values(settings)
    with (
        events_logged(settings.log_file, None) as (on_event, log),
        RunStore.begin(harvest.out, values, time.time(), resumed=resumed) as store,
    ):
        resources = CrawlResources(store=store, on_progress=on_progress, on_event=on_event, stop=stop)
        log(f"coati {__version__}: {' and '.join(settings.goal)} into {harvest.out.absolute()}")
        result = crawl(crawl_plan(settings, resources))
        for line in end_lines(result):
            log(line)
        return result


def _check_same(folder: Path, settings: RunSettings) -> None:
    """Refuse to resume settings that would make it another run."""
    with RunReader(folder) as run:
        stored = read_values({name: value for name, value in run.settings.items() if name in SETTINGS})
    for name, setting in SETTINGS.items():
        if setting.decides and name in stored and stored[name] != getattr(settings, name):
            raise ConfigError(
                f"{folder} holds a run with another {name}: leave it out to resume, or choose another folder"
                " with --out"
            )
