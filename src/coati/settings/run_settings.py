"""Every setting of a live crawl, declared once.

Options, environment variables, the keys of a run file and the reference pages are all made from the fields
of `RunSettings`, so none of them can be forgotten. A field's name is the key in the run file; with dashes it
is the option (``--max-requests``), in capitals the variable (``COATI_MAX_REQUESTS``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from coati.assembly import (
    DISCOVERY,
    LIVE_STRATEGIES,
    REGISTRY,
    SHORTCUTS,
    SITE_STRATEGIES,
    build_goal,
    strategy_row,
    unknown_strategy,
)
from coati.budget import Budget
from coati.errors import ConfigError, unknown_name
from coati.live.settings import LiveSettings, RenderMode
from coati.readers.robots import robots_url
from coati.search.web_archives import HINTS
from coati.settings.limits import LIMITS
from coati.settings.setting import Section, Setting, settings_of
from coati.settings.setting_types import (
    BYTES,
    FLAG,
    INTEGER,
    PATH,
    SECONDS,
    STOP_LEVEL,
    TEXT,
    TEXTS,
    URLS,
    SettingType,
    above_zero,
    at_least,
    choice,
)
from coati.strategies.discovery.prospect_settings import OffTopic
from coati.strategies.stopping.stop_when_dry import NORMAL
from coati.web.likely_extensions import likely_extensions
from coati.web.media import parse_types
from coati.web.queries import Ability, Query
from coati.web.rules import Rules, Scope
from coati.web.urls import is_query, resolve

_POLITE = LiveSettings()

DEFAULT_STRATEGY = "scent"

_WHAT, _DISCOVER, _WHERE, _HOW_MUCH, _HOW, _KEEP = Section

_SCOPES = {
    "host": "the hosts of the start URLs (with or without www)",
    "domain": "these hosts and their subdomains",
    "path": "these hosts, below the folders of the start URLs",
    "any": "any host at all",
}
_ARCHIVE_MODES = {
    "read-through": "uses archived responses where it can, and stores the rest",
    "record": "stores what is fetched, and uses no archived response",
}
_RENDER = {
    "never": "pages as the server sends them",
    "auto": "only pages with next to no links",
    "always": "every page",
}
_OFF_TOPIC = {
    OffTopic.LATER.value: "after those on the topic",
    OffTopic.NEVER.value: "not at all",
    OffTopic.EQUAL.value: "like those on the topic",
}
_FOLDERS = {"flat": "side by side in files/", "site": "in folders named after the site's hosts and folders"}
_FORMATS = {"table": "for people", "json": "one JSON object on stdout"}
_LIMIT_COUNT = above_zero(INTEGER)


def _archive_mode() -> SettingType:
    """Make the kind of archive modes; the error says how to use the archive alone."""
    known = choice("archive mode", _ARCHIVE_MODES)

    def read(value: object) -> object:
        try:
            return known.read(value)
        except ConfigError as error:
            raise ConfigError(f"{error}. To use only the archive, add --offline") from None

    return replace(known, read=read)


def _live_strategy() -> SettingType:
    """Make the kind of the strategies that a live crawl can run; the others say where they can be run."""
    rows = {name: REGISTRY[name] for name in LIVE_STRATEGIES} | dict(DISCOVERY)
    live = choice("strategy", {name: row.summary for name, row in rows.items()})

    def read(value: object) -> object:
        if not isinstance(value, str):
            return live.read(value)
        name = value.strip()
        if ":" in name:
            # By its path: whether there is one is seen when it is built.
            return name
        if "." in name:
            raise unknown_strategy(name, rows)
        name = name.lower()
        if name in REGISTRY and name not in LIVE_STRATEGIES:
            if name not in SITE_STRATEGIES:
                raise ConfigError(f"{name} watches known pages: use `coati watch`")
            raise ConfigError(
                f"{name} must know the site beforehand, so it works only in `coati replay`; strategies for"
                f" crawls: {', '.join(LIVE_STRATEGIES)}"
            )
        return live.read(value)

    return replace(live, read=read)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The settings of one crawl; only ``urls`` has no default.

    >>> RunSettings(urls=("https://www.example.org/",)).budget.max_requests is None
    True
    """

    urls: tuple[str, ...] = _WHAT.setting(
        (), URLS, "The URLs to start from: pages, sitemaps or feeds.", decides=True
    )
    types: str = _WHAT.setting(
        "data",
        TEXT,
        "The file types to collect: presets (`coati types` lists them), media types and .extensions,"
        " separated by commas.",
        decides=True,
    )
    goal: tuple[str, ...] = _WHAT.setting(
        (),
        TEXTS,
        "Collect pages that meet this goal: `structured-data`, `microdata>=5`, `type=Dataset,Product` or"
        " `module:function`. If repeated, all goals must be met.",
        decides=True,
    )
    strategy: str = _WHAT.setting(
        DEFAULT_STRATEGY,
        _live_strategy(),
        "How to choose the next link; `coati strategies` lists the strategies, and my_module:MyStrategy is"
        " your own.",
        decides=True,
    )
    seed: int = _WHAT.setting(
        0,
        INTEGER,
        "Seed of the random choices: the same seed on the same site gives the same crawl.",
        decides=True,
    )
    stop_when_dry: str = _WHAT.setting(
        NORMAL,
        STOP_LEVEL,
        "Stop early when few targets are left to find: `off`, `careful`, `normal`, `eager`, or the number"
        " of targets per 1,000 further requests below which to stop.",
    )
    topic: str = _DISCOVER.setting(
        "", TEXT, "The topic, as you would type it into a search box.", decides=True
    )
    search: tuple[str, ...] = _DISCOVER.setting(
        (),
        TEXTS,
        "A search engine to use (`coati search engines` lists them): local=INDEX, searxng=URL, or"
        " my_module:MyEngine for your own. Can be repeated.",
        decides=True,
    )
    language: str = _DISCOVER.setting(
        "en", TEXT, "The language of the queries and their results (en, fr, pt-BR).", decides=True
    )
    max_queries: int | None = _DISCOVER.setting(
        None, _LIMIT_COUNT, "Send at most this many queries to each search engine."
    )
    patience: int = _DISCOVER.setting(
        500,
        at_least(INTEGER, 0),
        "Stop after this many requests in a row without a new repository; 0 continues until nothing is"
        " left, as the published strategies do.",
    )
    off_topic: str = _DISCOVER.setting(
        OffTopic.LATER.value,
        choice("way with sites off the topic", _OFF_TOPIC),
        "Sites that look like a repository but do not match the topic: check them when few sites on the topic"
        " are left (later), do not check them (never), or treat them like the others (equal).",
        decides=True,
    )
    crawl_after: int | None = _DISCOVER.setting(
        None,
        _LIMIT_COUNT,
        "After this many requests, stop searching and crawl the repositories found so far, breadth-first."
        " Without it, leave that to `coati harvest`.",
        decides=True,
    )
    start_model: str = _DISCOVER.setting(
        "", PATH, "A file written by `coati learn pages`, to start the page classifier from.", decides=True
    )
    accept: tuple[str, ...] = _DISCOVER.setting(
        (),
        TEXTS,
        "Mark the site of this URL as a repository; the classifier learns from the page. Can be repeated.",
        of_run=False,
    )
    reject: tuple[str, ...] = _DISCOVER.setting(
        (),
        TEXTS,
        "Mark the site of this URL as not a repository; the classifier learns from the page. Can be"
        " repeated.",
        of_run=False,
    )
    scope: str = _WHERE.setting(
        Scope.DOMAIN.value,
        choice("scope", _SCOPES),
        "Which URLs to follow: on the start URLs' hosts, on these and their subdomains, only below the"
        " start URLs' folders, or anywhere.",
        decides=True,
    )
    include: tuple[str, ...] = _WHERE.setting(
        (), TEXTS, "Request only URLs that match this regular expression. Can be repeated.", decides=True
    )
    exclude: tuple[str, ...] = _WHERE.setting(
        (), TEXTS, "Skip URLs that match this regular expression. Can be repeated.", decides=True
    )
    exclude_host: tuple[str, ...] = _WHERE.setting(
        (), TEXTS, "Skip this host and its subdomains. Can be repeated."
    )
    sitemaps: bool = _WHERE.setting(
        False, FLAG, "Also start from the sitemaps that robots.txt names.", decides=True
    )
    shortcuts: str = _WHERE.setting(
        "auto",
        choice("way to use shortcuts", SHORTCUTS),
        "Ask the API of the site's software for its files: if the strategy supports it (auto), never"
        " (off), or without following any links (only).",
        decides=True,
    )
    profile: tuple[str, ...] = _WHERE.setting(
        (), TEXTS, "Your own profile of a site software, as my_module:MyCms. Can be repeated.", decides=True
    )
    hints: str = _WHERE.setting(
        "",
        TEXT,
        f"Ask web archives for files of the site, linked or not ({', '.join(HINTS)}), separated by"
        " commas. They learn which site you are interested in.",
        decides=True,
    )
    max_requests: int | None = _HOW_MUCH.setting(None, _LIMIT_COUNT, "Stop after this many requests.")
    max_bytes: int | None = _HOW_MUCH.setting(
        None, above_zero(BYTES), "Stop after this many bytes (500MB, 2GiB)."
    )
    max_time: float | None = _HOW_MUCH.setting(
        None,
        above_zero(SECONDS),
        "Stop after this much time (90s, 2h), earlier sessions of a resumed run included.",
    )
    max_targets: int | None = _HOW_MUCH.setting(None, _LIMIT_COUNT, "Stop after this many targets.")
    host_budget: int | None = _HOW_MUCH.setting(
        None, _LIMIT_COUNT, "Send at most this many requests to each host."
    )
    max_file_size: int = _HOW_MUCH.setting(_POLITE.max_file_bytes, at_least(BYTES, 1), "Skip larger files.")
    delay: float = _HOW.setting(
        _POLITE.delay_seconds,
        SECONDS,
        "Time between two requests to the same host. Use 0 only on your own servers.",
    )
    concurrency: int = _HOW.setting(
        _POLITE.concurrency, at_least(INTEGER, 1), "Requests in flight at once, over all hosts."
    )
    per_host: int = _HOW.setting(
        _POLITE.per_host, at_least(INTEGER, 1), "Requests in flight at once, per host."
    )
    contact: str = _HOW.setting(
        _POLITE.contact,
        TEXT,
        "Your e-mail address or web page, sent with each request so that a site's owner can reach you.",
    )
    user_agent: str = _HOW.setting(
        "",
        TEXT,
        "User agent to send instead of Coati/VERSION; the contact is added to it. Rules of robots.txt for"
        " this name and for Coati are obeyed.",
    )
    limit_rate: int | None = _HOW.setting(
        None, above_zero(BYTES), "Download at most this many bytes per second in total (500kB)."
    )
    user: str = _HOW.setting(
        "",
        TEXT,
        "User name for basic authentication at the start URL's origin, or at another host (`HOST NAME`)."
        " The password is read from --password-file.",
        of_run=False,
    )
    password_file: str = _HOW.setting(
        "",
        PATH,
        "File whose first line is the password for --user. It is sent to that origin only and never stored.",
        of_run=False,
    )
    header: tuple[str, ...] = _HOW.setting(
        (),
        TEXTS,
        "Header to send with each request (`Name: value`), or to one host only (`HOST Name: value`). Can"
        " be repeated. Headers with secrets go only to the start URL's origin unless a host is given.",
    )
    cookies: str = _HOW.setting(
        "",
        TEXT,
        "Cookies for the start URL's origin: `name=value; other=value`, or a cookies.txt file exported"
        " from a browser.",
    )
    proxy: str = _HOW.setting(_POLITE.proxy, TEXT, "Send everything through this proxy (http://host:port).")
    render: str = _HOW.setting(
        RenderMode.NEVER.value,
        choice("way to render", _RENDER),
        "Run the scripts of pages in a browser before reading their links; files are never rendered. Needs"
        " the extra `render` and Chromium.",
    )
    limits: tuple[tuple[str, object], ...] = _HOW.setting(
        (),
        LIMITS,
        "Set a limit, as NAME=VALUE (retries=0); the run file reference lists them. Can be repeated.",
    )
    retry_failed: bool = _HOW.setting(
        False, FLAG, "When resuming, first request again what failed in earlier sessions.", of_run=False
    )
    archive: str = _KEEP.setting(
        "", PATH, "Folder to store every response in, for replay. Created if missing."
    )
    archive_mode: str = _KEEP.setting(
        "read-through",
        _archive_mode(),
        "Take responses from the archive if it has them (read-through), or only store what is fetched"
        " (record).",
    )
    archive_max_age: float | None = _KEEP.setting(
        None,
        above_zero(SECONDS),
        "Use responses from the archive only if they are younger than this (30d); fetch older ones again.",
    )
    offline: bool = _KEEP.setting(False, FLAG, "Use only the archive: no request leaves the machine.")
    out: str = _KEEP.setting(
        "",
        PATH,
        "Folder of the run. [default: named after the start URL's host, the topic or the list]",
        of_run=False,
    )
    folders: str = _KEEP.setting(
        "flat",
        choice("way to keep files", _FOLDERS),
        "Put all files side by side into files/ (flat), or into folders as on the site (site).",
    )
    events: str = _KEEP.setting("", PATH, "Append events to this file, one JSON object per line.")
    log_file: str = _KEEP.setting("", PATH, "Append the messages of --verbose to this file, with times.")
    exec: str = _KEEP.setting(
        "",
        TEXT,
        "Run this command for each collected file; {file}, {url}, {type} and {run} are filled in. It is"
        " not run by a shell.",
        of_run=False,
    )
    exec_timeout: float = _KEEP.setting(
        300.0, at_least(SECONDS, 1), "Time limit for each command of --exec.", of_run=False
    )
    format: str = _KEEP.setting("table", choice("format", _FORMATS), "Output format.", of_run=False)
    quiet: bool = _KEEP.setting(False, FLAG, "Show no progress.", of_run=False)
    verbose: bool = _KEEP.setting(
        False, FLAG, "Print each response, and at the end what slowed the crawl down.", of_run=False
    )
    dry_run: bool = _KEEP.setting(
        False, FLAG, "Fetch only robots.txt and the start page, and show what would be crawled.", of_run=False
    )

    def __post_init__(self) -> None:
        """Refuse what cannot work, before anything is fetched."""
        parse_types(self.types)
        for goal in self.goal:
            build_goal(goal)
        if self.strategy in DISCOVERY and self.urls and not self.topic:
            raise ConfigError(f"{self.strategy} searches for repositories: use `coati discover`")
        for pattern in (*self.include, *self.exclude):
            _compiled(pattern)
        if self.quiet and self.verbose:
            raise ConfigError("quiet and verbose contradict each other: leave one of them out")
        self._check_hints()
        if self.per_host > self.concurrency:
            raise ConfigError(
                f"per_host is {self.per_host} and concurrency is {self.concurrency}: add --concurrency"
                f" {self.per_host}"
            )
        for name, given in (
            ("archive_mode", self.archive_mode != "read-through"),
            ("archive_max_age", self.archive_max_age is not None),
            ("offline", self.offline),
        ):
            if given and not self.archive:
                raise ConfigError(f"{name} needs an archive: give its folder with --archive")
        if self.offline and (self.archive_mode != "read-through" or self.dry_run):
            other = "dry_run" if self.dry_run else "archive_mode record"
            raise ConfigError(f"offline allows no requests, but {other} needs them: leave one of them out")

    @property
    def url(self) -> str:
        """The first start URL, which names the site; empty where none is given yet."""
        return self.urls[0] if self.urls else ""

    @property
    def more_start_urls(self) -> tuple[str, ...]:
        """Where the crawl begins beside the user's URLs: the robots.txt of their hosts, and hints."""
        own = [url for url in self.urls if not is_query(url)]
        robots = [robots_url(url) for url in own] if self.sitemaps else []
        sites = dict.fromkeys(resolve(url, "/") or url for url in own)
        hints = [Query(name, site, Ability.SITE).address for name in self.hint_names for site in sites]
        return tuple(url for url in dict.fromkeys((*robots, *hints)) if url not in self.urls)

    def _check_hints(self) -> None:
        for name in self.hint_names:
            if name not in HINTS:
                raise unknown_name("index for hints", name, HINTS)

    @property
    def hint_names(self) -> tuple[str, ...]:
        """The indexes that hints come from."""
        names = dict.fromkeys(name.strip().lower() for name in self.hints.split(","))
        return tuple(name for name in names if name)

    @property
    def start_urls(self) -> tuple[str, ...]:
        """Where the crawl begins, in order."""
        return (*self.urls, *self.more_start_urls)

    @property
    def budget(self) -> Budget:
        """What the crawl may spend."""
        return Budget(self.max_requests, self.max_bytes, self.max_time, self.max_targets)

    @property
    def rules(self) -> Rules:
        """Which URLs it may request."""
        return Rules(
            self.url,
            Scope(self.scope),
            more_start_urls=self.urls[1:],
            include=tuple(_compiled(pattern) for pattern in self.include),
            exclude=tuple(_compiled(pattern) for pattern in self.exclude),
            exclude_hosts=frozenset(host.lower() for host in self.exclude_host),
            traps=strategy_row(self.strategy).traps,
            wanted_extensions=frozenset(likely_extensions(parse_types(self.types))),
        )


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"not a regular expression: {pattern!r} ({error})") from None


SETTINGS: Mapping[str, Setting] = settings_of(RunSettings)
"""All settings by name, in the order in which they are explained."""
