"""The files of many sites for one budget: `coati harvest LIST --types data`.

Each site is crawled by its own strategy into its own run folder. `coati.bandits.site_choice` decides whose
turn it is. A harvest that was stopped or killed is resumed by the same call: every site stands where its own
run folder left it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree

from coati.assembly import stop_rule
from coati.budget import Budget, Limit
from coati.errors import ConfigError
from coati.harvesting.folder import HarvestLayout, SiteSummary, ranked, read_site, sums_of, write_summary
from coati.harvesting.seeds import WrongLine
from coati.harvesting.site_crawls import Standing, seconds_at_work, site_settings, standing_of
from coati.harvesting.sites import HarvestSite, is_excluded, sites_of
from coati.jobs.file_commands import CommandCounts, FileCommands, running_commands
from coati.jobs.notebook_tables import rows_table
from coati.jobs.progress_bar import PROGRESS_SECONDS, at_most_every
from coati.live.event_files import events_logged
from coati.live.event_lines import end_lines
from coati.live.plan import CrawlPlan
from coati.live.progress import Progress
from coati.live.site_turns import SiteTurns, Usage
from coati.live.stop_signal import StopSignal
from coati.reporting.many_sites import write_sites_report
from coati.reporting.report_file import write_report
from coati.runs.layout import holds_run, is_free
from coati.runs.reader import RunReader
from coati.runs.settings_file import read_settings, write_settings
from coati.runs.store import RunStore
from coati.settings.crawl_plan import CrawlResources, crawl_plan
from coati.settings.run_file import require_named_hosts, require_no_hidden, to_toml_values
from coati.settings.run_settings import RunSettings
from coati.stop_reasons import StopReason
from coati.units import format_count
from coati.version import __version__
from coati.web.rules import Scope
from coati.web.urls import host_of

# Sites that are crawled at once, unless the user says otherwise: a part of all, so that there is a choice.
_SITES_PER_TURN = 8
_MOST_AT_ONCE = 64

# What ends a site that had the most that one site may get.
_SHARE_SPENT = frozenset(map(StopReason.of_limit, Limit))

# What two harvests in one place must have in common.
_SAME = ("types", "strategy", "seed")

# What a harvest that was killed in its first moments leaves behind.
_BEGUN = frozenset({"sites", "harvest.toml.new"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesHarvest:
    """What is to be harvested. ``settings`` are a crawl's: its budget is that of all sites together.

    ``at_once`` is how many sites are crawled at the same time, a part of them unless given. ``per_site`` is
    the most that one site may get, and ``fair`` guarantees each a share of half the budget.
    """

    urls: tuple[str, ...]
    out: Path
    settings: RunSettings = field(default_factory=RunSettings)
    at_once: int | None = None
    per_site: Budget = field(default_factory=Budget)
    fair: bool = False
    exclude_hosts: frozenset[str] = frozenset()

    def stored_values(self) -> dict[str, object]:
        """Return what is kept of it where it is written, to be resumed."""
        return {
            **to_toml_values(self.settings),
            "urls": list(self.urls),
            "fair": self.fair,
            "sites_at_once": self.at_once or 0,
            "exclude_hosts": sorted(self.exclude_hosts),
        }

    def sites(self) -> list[HarvestSite]:
        """Return the sites, those left out that are excluded; raises `ConfigError` if none is left."""
        urls = [url for url in self.urls if not is_excluded(host_of(url), self.exclude_hosts)]
        if not urls:
            raise ConfigError("every address is on an excluded host: there is nothing to harvest")
        return sites_of(urls, Scope(self.settings.scope))

    def sites_at_once(self, sites: int) -> int:
        """Return how many of a number of sites are crawled at the same time."""
        return self.at_once or max(1, min(_MOST_AT_ONCE, math.ceil(sites / _SITES_PER_TURN)))

    def requests_left(self) -> int | None:
        """Return the requests that earlier sessions left of the budget; None without one."""
        if self.settings.max_requests is None:
            return None
        layout = HarvestLayout(self.out)
        begun = [found for site in self.sites() if (found := read_site(layout, site.name)) is not None]
        return max(0, self.settings.max_requests - sum(site.requests for site in begun))

    def estimated_seconds(self, requests: int) -> float:
        """Return how long a number of requests takes at a polite pace."""
        return requests * self.settings.delay / self.sites_at_once(len(self.sites()))


@dataclass(frozen=True, slots=True, repr=False)
class FilesHarvested:
    """How a harvest ended, and the requests and files of each site, most files first.

    ``commands`` says what came of the command for each file, if there was one. ``left_out`` are the lines of
    the list that give no address.
    """

    stop: StopReason
    sites: list[SiteSummary]
    layout: HarvestLayout
    resumed: bool
    commands: CommandCounts | None = None
    left_out: tuple[WrongLine, ...] = ()

    def __fspath__(self) -> str:
        return str(self.folder)

    def __repr__(self) -> str:
        """Show on one line what it found and why it ended; the fields are many."""
        targets = format_count(sum(site.targets for site in self.sites), "target")
        sites = format_count(len(self.sites), "site")
        return f"<FilesHarvested {str(self.folder)!r}: {targets} from {sites}; {self.stop.text.brief}>"

    @property
    def folder(self) -> Path:
        """The folder of the harvest."""
        return self.layout.folder

    @property
    def exit_code(self) -> int:
        """The exit status of a command that made this harvest."""
        return self.stop.exit_code

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it, all sites together."""
        return {
            "stop": self.stop.name.lower(),
            "stop_reason": self.stop.value,
            **sums_of(self.sites),
            "resumed": self.resumed,
            "commands": None if self.commands is None else self.commands.as_json(),
            "folder": str(self.folder),
        }

    def _repr_html_(self) -> str:
        rows: list[dict[str, object]] = [
            {
                "site": site.site,
                "targets": site.targets,
                "requests": site.requests,
                "ended": site.stop_reason or "not ended",
            }
            for site in self.sites
        ]
        return rows_table(f"Harvest in {self.layout.folder}: {self.stop.value}", rows)


def require_same(
    stored: Mapping[str, object], values: Mapping[str, object], place: str, otherwise: str
) -> None:
    """Raise `ConfigError` where the harvest that was begun in a place is another one."""
    for name in _SAME:
        if stored.get(name) != values[name]:
            raise ConfigError(
                f"{place} holds a harvest with other settings: {name} is {stored.get(name)!r} there and"
                f" {values[name]!r} here. Leave it out to resume, or {otherwise}"
            )


def harvest_files(
    harvest: FilesHarvest,
    on_progress: Callable[[Progress], None] | None = None,
    stop: StopSignal | None = None,
) -> FilesHarvested:
    """Harvest, or resume it where the folder holds one; Ctrl-C saves everything and ends it.

    Raises `ConfigError` for a folder that holds something else, and what the disk raises.
    """
    settings = harvest.settings
    require_named_hosts(settings)
    require_no_hidden(settings)
    layout = HarvestLayout(harvest.out)
    sites = harvest.sites()
    with running_commands(settings.exec, settings.exec_timeout) as commands:
        resumed = _take_folder(layout, harvest)
        turns, stops = _crawl_sites(layout, harvest, commands, on_progress, stop)
        reason = _stop_reason(turns, stops)
        counts = None if commands is None else commands.finish(at_once=reason is StopReason.INTERRUPTED)
    return FilesHarvested(reason, _sum_up(layout, sites, reason), layout, resumed, counts)


def _crawl_sites(
    layout: HarvestLayout,
    harvest: FilesHarvest,
    commands: FileCommands | None,
    on_progress: Callable[[Progress], None] | None,
    stop: StopSignal | None,
) -> tuple[SiteTurns, list[StopReason]]:
    """Crawl all sites in turns; return what was spent, and why each crawl ended."""
    from coati.live.running import crawl_many

    sites, begun = harvest.sites(), time.monotonic()
    tell = None if on_progress is None else _teller(on_progress, begun)
    with ExitStack() as stack:
        turns = SiteTurns(
            harvest.settings.budget,
            harvest.sites_at_once(len(sites)),
            fair=harvest.fair,
            seconds=lambda: time.monotonic() - begun,
            seconds_before=_seconds_before(layout, harvest, sites),
            on_change=None if tell is None else at_most_every(PROGRESS_SECONDS, tell, at_once=True),
        )
        on_event, log = stack.enter_context(events_logged(harvest.settings.log_file, None))
        log(f"coati {__version__}: {format_count(len(sites), 'site')} into {harvest.out.absolute()}")
        plans = []
        for number, site in enumerate(sites):
            folder, listener = layout.site(site.name), on_event
            if commands is not None:
                commands.add_missed(folder)
                listener = commands.listener(folder, on_event)
            plan = _plan(layout, harvest, site, stack)
            if plan is not None:
                plans.append(replace(plan, turns=turns.of(number), on_event=listener, stop=stop))
            else:
                _count_done(layout, site, turns)
        results = crawl_many(plans) if plans and not turns.is_spent() else []
        for plan, result in zip(plans, results, strict=False):
            for line in end_lines(result):
                log(f"{host_of(plan.rules.start_url)}: {line}")
    if tell is not None:
        tell(turns)
    return turns, [result.stop for result in results]


def _take_folder(layout: HarvestLayout, harvest: FilesHarvest) -> bool:
    """Make the folder, or check that it holds a harvest like this one; tells whether it was there."""
    folder = layout.folder
    resumed = layout.settings.is_file()
    if not resumed and not (is_free(folder, _BEGUN) and not any(layout.sites.glob("*"))):
        raise ConfigError(f"{folder} holds something that is not a harvest; choose a new folder with --out")
    values = harvest.stored_values()
    if resumed:
        stored = read_settings(layout.settings)
        require_same(stored, values, str(folder), "choose another folder with --out")
    layout.sites.mkdir(parents=True, exist_ok=True)
    write_settings(layout.settings, values)
    return resumed


def _plan(
    layout: HarvestLayout, harvest: FilesHarvest, site: HarvestSite, stack: ExitStack
) -> CrawlPlan | None:
    """Plan the crawl of one site, from where its run folder stands; None if nothing is left there."""
    folder = layout.site(site.name)
    settings = site_settings(harvest.settings, site, harvest.per_site)
    early_stop = stop_rule(settings.stop_when_dry)
    standing = standing_of(folder, harvest.per_site, early_stop)
    if standing is Standing.DONE:
        return None
    if standing is Standing.FAILED_START:
        rmtree(folder)
    values, resumed = to_toml_values(settings), standing is Standing.UNDER_WAY
    store = stack.enter_context(RunStore.begin(folder, values, time.time(), resumed=resumed))
    return crawl_plan(settings, CrawlResources(store=store, early_stop=early_stop))


def _seconds_before(layout: HarvestLayout, harvest: FilesHarvest, sites: Sequence[HarvestSite]) -> float:
    """Return what earlier sessions took, those of finished and of failed sites included."""
    if harvest.settings.budget.max_seconds is None:
        return 0.0
    return seconds_at_work(layout.site(site.name) for site in sites)


def _count_done(layout: HarvestLayout, site: HarvestSite, turns: SiteTurns) -> None:
    with RunReader(layout.site(site.name)) as run:
        totals = run.totals()
    turns.count(Usage(totals.requests, totals.bytes, totals.targets, totals.pages, totals.failures))


def _teller(on_progress: Callable[[Progress], None], begun: float) -> Callable[[SiteTurns], None]:
    """Tell how far all sites together are."""

    def tell(turns: SiteTurns) -> None:
        spent = turns.spent
        on_progress(
            Progress(
                requests=spent.requests,
                pages=spent.pages,
                targets=spent.targets,
                failures=spent.failures,
                bytes=spent.bytes,
                in_flight=turns.in_flight,
                seconds=time.monotonic() - begun,
                session_requests=turns.session_requests,
            )
        )

    return tell


def _stop_reason(turns: SiteTurns, stops: Sequence[StopReason]) -> StopReason:
    if StopReason.INTERRUPTED in stops:
        return StopReason.INTERRUPTED
    if turns.limit is not None:
        return StopReason.of_limit(turns.limit)
    # Where no site is left that could get requests, the exit code tells.
    if stops and all(stop.exit_code for stop in stops):
        return stops[0]
    # Sites that had their share have something left.
    return next((stop for stop in stops if stop in _SHARE_SPENT), StopReason.FINISHED)


def _sum_up(layout: HarvestLayout, sites: Sequence[HarvestSite], stop: StopReason) -> list[SiteSummary]:
    for site in sites:
        folder = layout.site(site.name)
        if holds_run(folder):
            write_report(folder)
    found = ranked(summary for site in sites if (summary := read_site(layout, site.name)) is not None)
    write_summary(layout, found, stop.value)
    write_sites_report(layout.report, found, stop.value)
    return found
