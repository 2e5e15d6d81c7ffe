"""One cycle of a watch: a session of its run that ends when nothing is left to request before the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from coati.jobs.notebook_tables import pairs_table
from coati.live.event_files import events_logged
from coati.live.event_lines import end_lines
from coati.live.plan import CrawlPlan
from coati.live.progress import OnProgress
from coati.readers.entry_dates import ENTRY_DATES, entry_dates
from coati.runs.changes_file import Change, read_changes, write_new
from coati.runs.reader import RunReader
from coati.runs.snapshots import SnapshotForm
from coati.runs.store import RunStore
from coati.settings.crawl_plan import CrawlResources, crawl_plan
from coati.settings.relevance_model import relevance_model
from coati.settings.run_file import to_toml_values
from coati.settings.run_settings import RunSettings
from coati.stop_reasons import StopReason
from coati.strategies.revisits.file_checks import MISSES_UNTIL_GONE
from coati.strategies.revisits.relevance import parse_relevance
from coati.strategies.revisits.schedulers import SCHEDULERS, SchedulerInputs
from coati.strategies.revisits.site_watch import CHECK, FOLLOW, SiteWatch, SiteWatchSettings
from coati.strategies.revisits.watch import Watch, WatchSettings
from coati.strategies.state import pack, unpack
from coati.strategies.stopping.stop_when_dry import OFF
from coati.times import to_iso
from coati.version import __version__
from coati.watching.atom_feed import write_feed
from coati.watching.changes import find_changes
from coati.watching.known_pages import MOST_PAGES, KnownPages
from coati.watching.one_cycle import OneCycle
from coati.watching.watch_options import WatchOptions
from coati.web.facts import EXTRACTORS, FEEDS
from coati.web.likely_extensions import likely_extensions
from coati.web.media import parse_types

# Of this many pages that were visited in a cycle, a site whose pages are nearly all gone has moved.
_ENOUGH_PAGES = 10
_NEARLY_ALL = 0.8

_THIS_SESSION = """
SELECT arm, kind, status, count(*) AS requests, total(charged) AS charged FROM requests
WHERE observed_event IS NOT NULL AND chosen_event > ? AND kind IS NOT 'deferred'
AND url NOT LIKE '%/robots.txt' GROUP BY arm, kind, status
"""
# Pages that were not there at their last three visits, the last of them in this session.
_PAGES_GONE = """
SELECT url FROM (
    SELECT url, kind IS 'failure' AND status IN (404, 410) AS missing, chosen_event,
           row_number() OVER (PARTITION BY url ORDER BY observed_event DESC) AS place
    FROM requests WHERE observed_event IS NOT NULL AND arm NOT IN (?, ?) AND kind IS NOT 'deferred'
) WHERE place <= ? GROUP BY url HAVING sum(missing) = ? AND max(chosen_event) > ?
"""
_NAMED = 3
# New links that wait for more cycles than this are many.
_MANY_CYCLES = 24
_NONE_LEFT = "no page is left to visit, so no cycle begins, and the known files are not checked either"
_LAST_EVENT = "SELECT max(coalesce(max(chosen_event), 0), coalesce(max(observed_event), 0)) FROM requests"
_RUN_ID = "SELECT value FROM about WHERE name = 'run_id'"


@dataclass(frozen=True, slots=True)
class CycleResult:
    """What one cycle did. ``moved``: nearly all watched pages are gone, so the site has other addresses.

    So it is where no page is left to visit, however few they were.
    """

    stop: StopReason
    requests: int
    pages: int
    unchanged: int
    followed: int
    checked: int
    changes: tuple[Change, ...]
    moved: bool = False
    messages: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return it as one JSON object."""
        kinds = [change.what for change in self.changes]
        return {
            "what": "cycle",
            "stop": self.stop.name.lower(),
            "requests": self.requests,
            "pages": self.pages,
            "unchanged": self.unchanged,
            "followed": self.followed,
            "checked": self.checked,
            **{kind: kinds.count(kind) for kind in ("new", "changed", "gone")},
            "moved": self.moved,
        }

    def _repr_html_(self) -> str:
        return pairs_table("A cycle", self.as_json().items())


def run_cycle(
    folder: Path,
    known: KnownPages,
    options: WatchOptions,
    clock: Callable[[], float],
    on_progress: OnProgress | None = None,
    planned: Callable[[CrawlPlan], CrawlPlan] = lambda plan: plan,
) -> CycleResult:
    """Visit, follow and check what the present cycle allows; then write down what changed.

    The first cycle of a watch only looks: it brings no change. ``clock`` tells the time. ``planned`` may add
    to the plan what whoever runs it needs.
    """
    # Scrapy takes a second to import, and nobody who reads the help should wait for it.
    from coati.live.running import crawl as crawl_live

    settings = _settings(known, options)
    begun = (folder / "run.sqlite").is_file()
    values = to_toml_values(settings)
    # The strategy of this cycle, which the crawl builds when it has read what there is to restore.
    watching: list[SiteWatch] = []

    def new_strategy() -> OneCycle:
        watching[:] = [new_site_watch(known, options)]
        return OneCycle(watching[0])

    store = RunStore.open(folder, clock()) if begun else RunStore.create(folder, values, clock())
    with store, events_logged(settings.log_file, None) as (on_event, log):
        before = _last_event(folder)
        trouble = _clock_behind(store.log.last_time(), clock(), options.every)
        log(f"coati {__version__}: a cycle in {folder.absolute()}")
        resources = CrawlResources(store=store, on_progress=on_progress, on_event=on_event)
        plan = replace(_plan(settings, known, options, resources), new_strategy=new_strategy, clock=clock)
        result = crawl_live(planned(plan))
        for line in end_lines(result):
            log(line)
        if options.keep_versions is not None:
            store.keep_versions(options.keep_versions)
    counted = _counts(folder, before)
    none_left = any(not _has_pages(site.watch, known) for site in watching)
    return replace(
        counted,
        stop=result.stop,
        moved=counted.moved or none_left,
        messages=(
            *trouble,
            *result.messages,
            *_pages_gone(folder, before),
            *([_NONE_LEFT] if none_left else []),
            *_backlog(sum(site.links_waiting for site in watching), options.follow),
        ),
        changes=tuple(publish(folder, known)),
    )


def publish(folder: Path, known: KnownPages) -> list[Change]:
    """Append the changes that are in the log and not yet in the changes file; return them."""
    with RunReader(folder) as run:
        new = write_new(folder, find_changes(run, known.files))
        (run_id,) = run.connection.execute(_RUN_ID).fetchone()
    hosts = ", ".join(sorted({url.split("/")[2] for url in known.settings.urls})[:3])
    write_feed(folder, f"New files on {hosts}", run_id, read_changes(folder))
    return new


def _settings(known: KnownPages, options: WatchOptions) -> RunSettings:
    """Send requests as the crawl did, without its limits: a watch has limits per cycle."""
    return replace(
        known.settings,
        strategy=options.scheduler,
        seed=options.seed,
        out="",
        archive="",
        offline=False,
        sitemaps=False,
        stop_when_dry=OFF,
        max_requests=None,
        max_bytes=None,
        max_time=None,
        max_targets=None,
    )


def _plan(
    settings: RunSettings, known: KnownPages, options: WatchOptions, resources: CrawlResources
) -> CrawlPlan:
    belongs = {"pages": len(known.pages), "seed": options.seed, "scheduler": options.scheduler}
    plan = crawl_plan(settings, resources)
    return replace(
        plan,
        form=SnapshotForm("watch", belongs, pack, unpack),
        out_links=True,
        extractors={FEEDS: EXTRACTORS[FEEDS], ENTRY_DATES: entry_dates} if known.whole_site else {},
        earlier=known.earlier,
        more_start_urls=(*plan.more_start_urls, *known.lists),
    )


def new_site_watch(known: KnownPages, options: WatchOptions) -> SiteWatch:
    """Build the strategy of a watch as it stands before its first choice."""
    extensions = likely_extensions(parse_types(known.settings.types))
    watch = Watch(
        known.pages,
        SCHEDULERS[options.scheduler].build(SchedulerInputs(options.seed)),
        WatchSettings(
            per_cycle=options.per_cycle,
            every_seconds=options.every,
            per_site=options.per_site,
            misses_until_gone=MISSES_UNTIL_GONE,
        ),
        parse_relevance(options.relevant, extensions, relevance_model(options.relevant)),
    )
    limits = SiteWatchSettings(options.follow, options.check, MOST_PAGES)
    return SiteWatch(watch, known.value, limits, known.files, known.met)


def _clock_behind(last_logged: float, now: float, every: float) -> list[str]:
    """Say why no cycle begins: the times of a run only rise, and it was last at a later one."""
    if last_logged - now < every:
        return []
    then, here = to_iso(last_logged), to_iso(now)
    message = f"the last cycle was at {then}, and the clock says {here}: nothing is visited before that time."
    return [message + " If the clock was wrong then, begin another watch with --out"]


def _backlog(waiting: int, follow: int) -> list[str]:
    """Say that more new links come than are followed."""
    if not follow or waiting <= _MANY_CYCLES * follow:
        return []
    message = f"{waiting:,} new links wait to be followed, for more than {waiting // follow:,} cycles."
    return [message + " Pages take turns, so that none is left out; raise --follow to keep up"]


def _last_event(folder: Path) -> int:
    with RunReader(folder) as run:
        (event,) = run.connection.execute(_LAST_EVENT).fetchone()
    return int(event)


def _pages_gone(folder: Path, before: int) -> list[str]:
    times = MISSES_UNTIL_GONE
    with RunReader(folder) as run:
        gone = [url for (url,) in run.connection.execute(_PAGES_GONE, (FOLLOW, CHECK, times, times, before))]
    if not gone:
        return []
    more = f" and {len(gone) - _NAMED:,} more" if len(gone) > _NAMED else ""
    return [f"not there in {times} visits in a row, so no longer visited: {', '.join(gone[:_NAMED])}{more}"]


def _has_pages(watch: Watch, known: KnownPages) -> bool:
    """Tell whether a page is left to visit; a robots.txt, which names sitemaps, brings nothing by itself."""
    robots = {url for url in known.lists if url.endswith("/robots.txt")}
    return watch.watched_count > sum(watch.last_visit(url) is not None for url in robots)


def _counts(folder: Path, before: int) -> CycleResult:
    pages = unchanged = followed = checked = requests = gone = 0
    with RunReader(folder) as run:
        for arm, kind, status, count, charged in run.connection.execute(_THIS_SESSION, (before,)):
            requests += int(charged)
            followed += count if arm == FOLLOW else 0
            checked += count if arm == CHECK else 0
            if arm not in {FOLLOW, CHECK}:
                pages += count
                unchanged += count if kind == "unchanged" else 0
                gone += count if kind == "failure" and status in {404, 410} else 0
    moved = pages >= _ENOUGH_PAGES and gone >= _NEARLY_ALL * pages
    return CycleResult(StopReason.FINISHED, requests, pages, unchanged, followed, checked, (), moved=moved)
