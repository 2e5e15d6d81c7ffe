"""The options of a watch, stored in its folder as ``watch.toml`` so that it resumes without options."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypedDict

from coati.errors import ConfigError, unknown_name
from coati.runs.durable import write_whole
from coati.strategies.revisits.schedulers import SCHEDULERS
from coati.toml_writer import to_toml
from coati.units import format_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from coati.settings.run_settings import RunSettings

FILE_NAME = "watch.toml"
DEFAULT_SCHEDULER = "arrivals"


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What a watch was told.

    ``sources`` are the folders of crawls or the list that it began from. In each cycle it visits
    ``per_cycle`` pages (``per_site`` of one site at most), follows ``follow`` new links and asks about
    ``check`` known files. ``relevant`` says which links count (`coati.strategies.revisits.relevance`). Of a
    file that changes, the ``keep_versions`` newest versions are kept; None: all.
    """

    sources: tuple[str, ...] = ()
    every: float = 3600.0
    per_cycle: int = 50
    per_site: int | None = None
    follow: int = 50
    check: int = 20
    scheduler: str = DEFAULT_SCHEDULER
    relevant: str = ""
    keep_versions: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what no watch could keep to."""
        if self.scheduler not in SCHEDULERS:
            raise unknown_name("scheduler", self.scheduler, SCHEDULERS)
        for name in ("per_cycle", "every"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0")
        if self.keep_versions is not None and self.keep_versions < 1:
            raise ConfigError("keep_versions must be at least 1")
        if min(self.follow, self.check) < 0:
            raise ConfigError("follow and check cannot be below 0")


class CycleOptions(TypedDict, total=False):
    """The options of a single cycle, by name."""

    per_cycle: int
    per_site: int
    follow: int
    check: int
    scheduler: str
    relevant: str
    keep_versions: int


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
    if "scheduler" not in given and scheduler not in SCHEDULERS:
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
            f" {format_seconds(settings.delay)} between two: they take {format_seconds(seconds)}."
            " Use a longer --every, or less of --per-cycle, --follow and --check"
        )
