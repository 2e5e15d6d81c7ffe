"""Every setting of a live crawl, declared once.

Options, environment variables, the keys of a run file and the reference pages are all made from the fields
of `RunSettings`, so none of them can be forgotten. A field's name is the key in the run file; with dashes it
is the option (``--max-requests``), in capitals the variable (``COATI_MAX_REQUESTS``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, TypeVar

from coati.assembly import (
    DISCOVERY,
    LIVE_STRATEGIES,
    REGISTRY,
    SHORTCUTS,
    SITE_STRATEGIES,
    build_goal,
    strategy_row,
)
from coati.budget import Budget
from coati.errors import ConfigError, unknown_name
from coati.live.settings import LiveSettings, RenderMode
from coati.readers.robots import robots_url
from coati.search.web_archives import HINTS
from coati.settings.limits import LIMITS
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
from coati.strategies.stop_when_dry import NORMAL
from coati.web.likely_extensions import likely_extensions
from coati.web.media import parse_types
from coati.web.queries import Ability, Query
from coati.web.rules import Rules, Scope
from coati.web.urls import is_query, resolve

T = TypeVar("T")

_POLITE = LiveSettings()

DEFAULT_STRATEGY = "scent"


class Group(StrEnum):
    """Under which heading a setting is explained."""

    WHAT = "What to collect"
    DISCOVER = "How to search for repositories (coati discover)"
    WHERE = "Where to look"
    HOW_MUCH = "How much to spend"
    HOW = "How to ask"
    KEEP = "What to keep and show"


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known about one setting beside its value.

    ``decides``: a run that is resumed with another value would be another run. ``of_run``: it belongs to the
    run and is written into its ``run.toml``; the others only say how one command is carried out.
    """

    name: str
    default: object
    group: Group
    kind: SettingType
    about: str
    decides: bool
    of_run: bool

    @property
    def option(self) -> str:
        """How it is written on a command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """The environment variable that stands in for the option."""
        return f"COATI_{self.name.upper()}"

    def read(self, value: object) -> object:
        """Bring a value to its form; the error names the setting."""
        try:
            return self.kind.read(value)
        except ConfigError as error:
            raise ConfigError(f"{self.name}: {error}") from None


class _About:
    """The part of `Setting` that is written beside a field."""

    def __init__(self, group: Group, kind: SettingType, about: str, *, decides: bool, of_run: bool) -> None:
        self.group, self.kind, self.about = group, kind, about
        self.decides, self.of_run = decides, of_run


def _setting(
    default: T, group: Group, kind: SettingType, about: str, *, decides: bool = False, of_run: bool = True
) -> T:
    described = _About(group, kind, about, decides=decides, of_run=of_run)
    made: T = field(default=default, metadata={"about": described})
    return made


_SCOPES = {
    "host": "the hosts of the start URLs (with or without www)",
    "domain": "these hosts and all below them",
    "path": "these hosts, below the folders of the start URLs",
    "any": "any host at all",
}
_ARCHIVE_MODES = {
    "read-through": "answers what it holds, and keeps the rest",
    "record": "keeps what is fetched, and answers nothing",
}
_RENDER = {
    "never": "pages as the server sends them",
    "auto": "only pages with next to no links",
    "always": "every page",
}
_FOLDERS = {"flat": "side by side in files/", "site": "in folders named after the site's hosts and folders"}
_FORMATS = {"table": "for people", "json": "one JSON object on stdout"}
_LIMIT_COUNT = above_zero(INTEGER)


def _archive_mode() -> SettingType:
    """Make the kind of archive modes; who wants to ask the archive alone is told how."""
    known = choice("archive mode", _ARCHIVE_MODES)

    def read(value: object) -> object:
        try:
            return known.read(value)
        except ConfigError as error:
            raise ConfigError(f"{error}. To ask an archive and nothing else, use --offline") from None

    return replace(known, read=read)


def _live_strategy() -> SettingType:
    """Make the kind of the strategies that a live crawl can run; the others say where they can be run."""
    rows = {name: REGISTRY[name] for name in LIVE_STRATEGIES} | dict(DISCOVERY)
    live = choice("strategy", {name: row.summary for name, row in rows.items()})

    def read(value: object) -> object:
        name = str(value).strip()
        if ":" in name:
            # By its path: whether there is one is seen when it is built.
            return name
        name = name.lower()
        if name in REGISTRY and name not in LIVE_STRATEGIES:
            if name not in SITE_STRATEGIES:
                raise ConfigError(f"{name} watches pages that are known; `coati watch` does that")
            raise ConfigError(
                f"{name} must know the site beforehand, so it runs in `coati replay` only;"
                f" live there are {', '.join(LIVE_STRATEGIES)}"
            )
        return live.read(value)

    return replace(live, read=read)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The settings of one crawl; only ``urls`` has no default.

    >>> RunSettings(urls=("https://www.example.org/",)).budget.max_requests is None
    True
    """

    urls: tuple[str, ...] = _setting(
        (),
        Group.WHAT,
        URLS,
        "Where the crawl begins: one URL or several; sitemaps and feeds may be named, too.",
        decides=True,
    )
    types: str = _setting(
        "data",
        Group.WHAT,
        TEXT,
        "What counts as a target: presets (`coati types` lists them), media types and .extensions,"
        " separated by commas.",
        decides=True,
    )
    goal: tuple[str, ...] = _setting(
        (),
        Group.WHAT,
        TEXTS,
        "Count pages as targets that meet this goal: `structured-data`, `microdata>=5`,"
        " `type=Dataset,Product` or `module:function`; may be repeated, and then all must hold.",
        decides=True,
    )
    strategy: str = _setting(
        DEFAULT_STRATEGY,
        Group.WHAT,
        _live_strategy(),
        "What decides which link is followed next; `coati strategies` lists them.",
        decides=True,
    )
    seed: int = _setting(
        0, Group.WHAT, INTEGER, "The same seed and the same site give the same crawl.", decides=True
    )
    stop_when_dry: str = _setting(
        NORMAL,
        Group.WHAT,
        STOP_LEVEL,
        "Stop when hardly any target can be expected from further requests: `off`, `careful`, `normal`,"
        " `eager`, or a number of targets per 1,000 requests.",
    )
    words: str = _setting(
        "",
        Group.DISCOVER,
        TEXT,
        "The topic, in the words that one would type into a search box.",
        decides=True,
    )
    search: tuple[str, ...] = _setting(
        (),
        Group.DISCOVER,
        TEXTS,
        "A search engine to ask (`coati search engines` lists them): local=INDEX, searxng=URL, or"
        " my_module:MyEngine for one of your own; may be repeated.",
        decides=True,
    )
    language: str = _setting(
        "en",
        Group.DISCOVER,
        TEXT,
        "The language of the queries and their results (en, fr, pt-BR).",
        decides=True,
    )
    max_queries: int | None = _setting(
        None, Group.DISCOVER, _LIMIT_COUNT, "Ask each search engine at most this many queries."
    )
    patience: int = _setting(
        500,
        Group.DISCOVER,
        at_least(INTEGER, 0),
        "End after this many requests in a row that found no repository; 0 goes on until nothing is left."
        " The published strategies go on.",
    )
    crawl_after: int | None = _setting(
        None,
        Group.DISCOVER,
        _LIMIT_COUNT,
        "After this many requests look for nothing new, and look through the repositories found,"
        " breadth-first. Without it that is left to `coati harvest`.",
        decides=True,
    )
    start_model: str = _setting(
        "",
        Group.DISCOVER,
        PATH,
        "What the classifier of pages knows at the start: a file that `coati learn pages` wrote.",
        decides=True,
    )
    accept: tuple[str, ...] = _setting(
        (),
        Group.DISCOVER,
        TEXTS,
        "Say that the site of this URL is a repository; the classifier learns from the page."
        " May be repeated.",
        of_run=False,
    )
    reject: tuple[str, ...] = _setting(
        (),
        Group.DISCOVER,
        TEXTS,
        "Say that the site of this URL is no repository; the classifier learns from the page."
        " May be repeated.",
        of_run=False,
    )
    scope: str = _setting(
        Scope.DOMAIN.value,
        Group.WHERE,
        choice("scope", _SCOPES),
        "How far to go: the start URLs' hosts, their whole domains, only below their folders, or anywhere.",
        decides=True,
    )
    include: tuple[str, ...] = _setting(
        (),
        Group.WHERE,
        TEXTS,
        "Ask only for URLs in which this regular expression is found; may be repeated.",
        decides=True,
    )
    exclude: tuple[str, ...] = _setting(
        (),
        Group.WHERE,
        TEXTS,
        "Leave URLs alone in which this regular expression is found; may be repeated.",
        decides=True,
    )
    exclude_host: tuple[str, ...] = _setting(
        (), Group.WHERE, TEXTS, "Leave this host alone, and all that lie below it; may be repeated."
    )
    sitemaps: bool = _setting(
        False,
        Group.WHERE,
        FLAG,
        "Begin at the site's sitemaps as well, as robots.txt names them.",
        decides=True,
    )
    shortcuts: str = _setting(
        "auto",
        Group.WHERE,
        choice("way to use shortcuts", SHORTCUTS),
        "Ask the API of the site's own software for its files: where the strategy is made for it (auto),"
        " never (off), or nothing else (only).",
        decides=True,
    )
    profile: tuple[str, ...] = _setting(
        (),
        Group.WHERE,
        TEXTS,
        "A profile of your own for a software that Coati does not know, as my_module:MyCms; may be repeated.",
        decides=True,
    )
    hints: str = _setting(
        "",
        Group.WHERE,
        TEXT,
        f"Ask indexes of the web for files of the site, linked or not ({', '.join(HINTS)}), separated by"
        " commas. They are told which site you look at.",
        decides=True,
    )
    max_requests: int | None = _setting(None, Group.HOW_MUCH, _LIMIT_COUNT, "Stop after this many requests.")
    max_bytes: int | None = _setting(
        None, Group.HOW_MUCH, above_zero(BYTES), "Stop after this many bytes (500MB, 2GiB)."
    )
    max_time: float | None = _setting(
        None, Group.HOW_MUCH, above_zero(SECONDS), "Stop after this much time, in all sessions (90s, 2h)."
    )
    max_targets: int | None = _setting(None, Group.HOW_MUCH, _LIMIT_COUNT, "Stop after this many targets.")
    host_budget: int | None = _setting(
        None, Group.HOW_MUCH, _LIMIT_COUNT, "Ask no host for more than this many requests."
    )
    max_file_size: int = _setting(
        _POLITE.max_file_bytes, Group.HOW_MUCH, at_least(BYTES, 1), "Leave files alone that are larger."
    )
    delay: float = _setting(
        _POLITE.delay_seconds,
        Group.HOW,
        SECONDS,
        "Time from one request to the next, for each host. 0 is for servers of your own.",
    )
    concurrency: int = _setting(
        _POLITE.concurrency, Group.HOW, at_least(INTEGER, 1), "Requests in flight at once, in all."
    )
    per_host: int = _setting(
        _POLITE.per_host, Group.HOW, at_least(INTEGER, 1), "Requests in flight at once, for one host."
    )
    contact: str = _setting(
        _POLITE.contact,
        Group.HOW,
        TEXT,
        "An address or page of yours, told to the site so that its owner can reach you.",
    )
    user_agent: str = _setting(
        "",
        Group.HOW,
        TEXT,
        "The name to ask under, in the place of Coati/VERSION; the contact stands behind it. robots.txt is"
        " obeyed for this name and for Coati.",
    )
    limit_rate: int | None = _setting(
        None, Group.HOW, above_zero(BYTES), "Take at most this many bytes per second, in all (500kB)."
    )
    user: str = _setting(
        "",
        Group.HOW,
        TEXT,
        "The user name of the start URL's origin (basic authentication), or of another (`HOST NAME`); its"
        " password is read from --password-file.",
        of_run=False,
    )
    password_file: str = _setting(
        "",
        Group.HOW,
        PATH,
        "A file whose first line is the password of --user; it is sent to that origin and kept nowhere.",
        of_run=False,
    )
    header: tuple[str, ...] = _setting(
        (),
        Group.HOW,
        TEXTS,
        "A header to send with each request (`Name: value`), or to one host (`HOST Name: value`); may be"
        " repeated. One that carries a secret goes to the start URL's origin, if no host is named.",
    )
    cookies: str = _setting(
        "",
        Group.HOW,
        TEXT,
        "Cookies for the start URL's origin: `name=value; other=value`, or a cookies.txt file as browsers"
        " export it.",
    )
    proxy: str = _setting(
        _POLITE.proxy, Group.HOW, TEXT, "Send everything through this proxy (http://host:port)."
    )
    render: str = _setting(
        RenderMode.NEVER.value,
        Group.HOW,
        choice("way to render", _RENDER),
        "Let a browser run the scripts of pages before their links are read; files are never rendered. Needs"
        " the extra `render` and a Chromium.",
    )
    limits: tuple[tuple[str, object], ...] = _setting(
        (),
        Group.HOW,
        LIMITS,
        "One of the finer limits, as NAME=VALUE (retries=0); may be repeated."
        " The reference of run files lists them.",
    )
    retry_failed: bool = _setting(
        False,
        Group.HOW,
        FLAG,
        "Ask again for what earlier sessions of the run called broken, before it resumes.",
        of_run=False,
    )
    archive: str = _setting(
        "", Group.KEEP, PATH, "A folder that keeps every answer, to be replayed; made if it is not there."
    )
    archive_mode: str = _setting(
        "read-through",
        Group.KEEP,
        _archive_mode(),
        "Whether the archive also answers what it holds (read-through), or only keeps what is fetched.",
    )
    archive_max_age: float | None = _setting(
        None,
        Group.KEEP,
        above_zero(SECONDS),
        "Let the archive answer only what it got within this time (30d); what is older is asked for again.",
    )
    offline: bool = _setting(
        False, Group.KEEP, FLAG, "Ask the archive and nobody else: no request leaves the machine."
    )
    out: str = _setting(
        "", Group.KEEP, PATH, "The run's folder; without it, one named after the host.", of_run=False
    )
    folders: str = _setting(
        "flat",
        Group.KEEP,
        choice("way to keep files", _FOLDERS),
        "Whether all files stand side by side in files/ (flat), or in the folders that the site has (site).",
    )
    events: str = _setting(
        "", Group.KEEP, PATH, "Append everything that happens to this file, one JSON object per line."
    )
    log_file: str = _setting(
        "",
        Group.KEEP,
        PATH,
        "Append what --verbose would say to this file, with times, whatever the screen shows.",
    )
    exec: str = _setting(
        "",
        Group.KEEP,
        TEXT,
        "Run this command for each file that was taken, with {file}, {url}, {type} and {run} in the place of"
        " what they stand for; no shell reads it.",
        of_run=False,
    )
    exec_timeout: float = _setting(
        300.0, Group.KEEP, at_least(SECONDS, 1), "How long that command may take.", of_run=False
    )
    format: str = _setting(
        "table", Group.KEEP, choice("format", _FORMATS), "How the result is printed.", of_run=False
    )
    quiet: bool = _setting(False, Group.KEEP, FLAG, "Show no progress.", of_run=False)
    verbose: bool = _setting(
        False,
        Group.KEEP,
        FLAG,
        "Say of each answer what it was, and at the end whether something held the crawl up.",
        of_run=False,
    )
    dry_run: bool = _setting(
        False,
        Group.KEEP,
        FLAG,
        "Fetch robots.txt and the start page only, and show what would be crawled.",
        of_run=False,
    )

    def __post_init__(self) -> None:
        """Refuse what cannot work, before anything is fetched."""
        parse_types(self.types)
        for goal in self.goal:
            build_goal(goal)
        if self.strategy in DISCOVERY and self.urls and not self.words:
            raise ConfigError(f"{self.strategy} searches for repositories: `coati discover` runs it")
        for pattern in (*self.include, *self.exclude):
            _compiled(pattern)
        if self.quiet and self.verbose:
            raise ConfigError("quiet says nothing and verbose says more: leave one of them out")
        self._check_hints()
        if self.per_host > self.concurrency:
            raise ConfigError(
                f"per_host is {self.per_host} and concurrency is {self.concurrency}: no more than"
                f" {self.concurrency} would ever be in flight;"
                f" ask for --concurrency {self.per_host} as well"
            )
        for name, given in (
            ("archive_mode", self.archive_mode != "read-through"),
            ("archive_max_age", self.archive_max_age is not None),
            ("offline", self.offline),
        ):
            if given and not self.archive:
                raise ConfigError(f"{name} is of use only with an archive: name its folder with --archive")
        if self.offline and (self.archive_mode != "read-through" or self.dry_run):
            other = "dry_run" if self.dry_run else "archive_mode record"
            raise ConfigError(f"offline asks nobody, and {other} asks the site: leave one of them out")

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
        """The indexes that are asked for hints."""
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
        """Which URLs it may ask for."""
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


def _described(declared: Field[Any]) -> Setting:
    about: _About = declared.metadata["about"]
    return Setting(
        declared.name,
        declared.default,
        about.group,
        about.kind,
        about.about,
        about.decides,
        about.of_run,
    )


SETTINGS: Mapping[str, Setting] = {declared.name: _described(declared) for declared in fields(RunSettings)}
"""All settings by name, in the order in which they are explained."""
