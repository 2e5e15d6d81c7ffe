"""The options of a watch, declared once, and stored in its folder as ``watch.toml``.

The command, `coati.watch` and the file take them from the fields of `WatchOptions`: a field's name is the key
in the file; with dashes it is the option (``--per-cycle``). A watch resumes with those that it had.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from coati.errors import ConfigError, unknown_name
from coati.jobs.options import RequestOptions
from coati.runs.durable import write_whole
from coati.settings.run_settings import RunSettings
from coati.settings.setting_types import INTEGER, SECONDS, TEXT, SettingType, above_zero, at_least, choice
from coati.strategies.revisits.relevance import FORMS
from coati.strategies.revisits.schedulers import SCHEDULERS
from coati.toml_writer import to_toml
from coati.units import format_delay, format_seconds

T = TypeVar("T")

FILE_NAME = "watch.toml"
DEFAULT_SCHEDULER = "arrivals"

# A live watch cannot know what is on every page.
_NAMES = {name: row.summary for name, row in SCHEDULERS.items() if not row.needs_truth}


@dataclass(frozen=True, slots=True)
class WatchOption:
    """What is known about one option beside its value; ``shown_default`` is the default in words."""

    kind: SettingType
    about: str
    shown_default: str


def _option(default: T, kind: SettingType, about: str, shown_default: str | None = None) -> T:
    shown = str(default) if shown_default is None else shown_default
    made: T = field(default=default, metadata={"option": WatchOption(kind, about, shown)})
    return made


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """The options of a watch; ``sources`` are the folders of crawls or the list that it began from."""

    sources: tuple[str, ...] = ()
    every: float = _option(3600.0, SECONDS, "Length of a cycle.", "1 h")
    per_cycle: int = _option(50, at_least(INTEGER, 1), "Pages to visit per cycle.")
    per_site: int | None = _option(None, above_zero(INTEGER), "Most pages of one site per cycle.", "")
    follow: int = _option(50, at_least(INTEGER, 0), "New links to follow per cycle.")
    check: int = _option(20, at_least(INTEGER, 0), "Known files to check per cycle.")
    scheduler: str = _option(
        DEFAULT_SCHEDULER,
        choice("scheduler", _NAMES),
        f"How to choose the pages to visit: {', '.join(_NAMES)}.",
    )
    relevant: str = _option("", TEXT, f"Which new links count: {FORMS}.", "all")
    keep_versions: int | None = _option(
        None, above_zero(INTEGER), "How many versions of a changed file to keep.", "all"
    )
    seed: int = 0

    def __post_init__(self) -> None:
        """Bring each value to its form; raises `ConfigError` for what no watch could keep to."""
        for name, option in WATCH_OPTIONS.items():
            object.__setattr__(self, name, option.kind.read_as(name, getattr(self, name)))
        if self.every <= 0:
            raise ConfigError("every must be above 0")


WATCH_OPTIONS: dict[str, WatchOption] = {
    each.name: each.metadata["option"] for each in fields(WatchOptions) if each.metadata
}


class CycleOptions(TypedDict, total=False):
    """The options of a single cycle as keyword arguments."""

    per_cycle: int
    per_site: int | None
    follow: int
    check: int
    scheduler: str
    relevant: str
    keep_versions: int | None


class WatchKeywords(CycleOptions, RequestOptions, total=False):
    """What `coati.watch` takes by name: the options of a watch, and how requests are sent."""

    every: float | str


def read_options(folder: Path, given: Mapping[str, object], notes: list[str]) -> WatchOptions:
    """Read the options of the watch in a folder, with those in their place that are ``given``.

    A watch outlives its scheduler: where there is none of that name any more, the default one chooses, and
    ``notes`` gets to know. What it learns from is in the log.
    """
    path = folder / FILE_NAME
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8")) | dict(given)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    scheduler = values.get("scheduler", DEFAULT_SCHEDULER)
    if "scheduler" not in given and scheduler not in _NAMES:
        values["scheduler"] = DEFAULT_SCHEDULER
        notes.append(
            f"this version of Coati has no scheduler {scheduler!r}, which {path} names: from now on"
            f" {DEFAULT_SCHEDULER} chooses the pages (--scheduler names another)"
        )
    return with_options(WatchOptions(), values)


def with_options(options: WatchOptions, values: Mapping[str, object]) -> WatchOptions:
    """Put values in the place of others; an unknown name is an error."""
    known = {field.name for field in fields(WatchOptions)}
    for name in values:
        if name not in known:
            raise unknown_name("key", name, known)
    changes: dict[str, Any] = dict(values)
    if "sources" in changes:
        changes["sources"] = tuple(changes["sources"])
    return replace(options, **changes)


def write_options(folder: Path, options: WatchOptions) -> None:
    """Keep the options of a watch in its folder."""
    write_whole(folder / FILE_NAME, [to_toml(asdict(options)).encode()])


def require_politeness(options: WatchOptions, settings: RunSettings, hosts: int) -> None:
    """Refuse cycles that are over before their requests could be sent at the pace that was promised."""
    requests = options.per_cycle + options.follow + options.check
    seconds = requests / max(hosts, 1) * settings.delay
    if seconds > options.every:
        raise ConfigError(
            f"a cycle of {format_seconds(options.every)} is too short for {requests} requests with"
            f" {format_delay(settings.delay)} between two: they take {format_seconds(seconds)}."
            " Use a longer --every, or less of --per-cycle, --follow and --check"
        )
