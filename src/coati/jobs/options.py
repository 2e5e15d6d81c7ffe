"""The settings of a crawl as keyword arguments; `coati.settings.SETTINGS` explains each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from os import PathLike, fspath
from pathlib import Path
from typing import TypedDict

from coati.errors import ConfigError, unknown_name


class RequestOptions(TypedDict, total=False):
    """How requests are made: what `coati.watch` takes beside its own arguments, and all others take too."""

    delay: float | str | timedelta
    contact: str
    user_agent: str
    limit_rate: int | str | None
    user: str
    password_file: str | Path
    header: Sequence[str]
    cookies: str
    proxy: str
    log_file: str | Path


class _SharedOptions(RequestOptions, total=False):
    strategy: str
    seed: int
    include: Sequence[str]
    exclude: Sequence[str]
    exclude_host: Sequence[str]
    shortcuts: str
    profile: Sequence[str]
    max_requests: int | None
    max_bytes: int | str | None
    max_time: float | str | timedelta | None
    host_budget: int | None
    max_file_size: int | str
    concurrency: int
    per_host: int
    render: str
    limits: Mapping[str, object]
    retry_failed: bool
    archive: str | Path
    archive_mode: str
    archive_max_age: float | str | None
    offline: bool
    out: str | Path
    events: str | Path


class CrawlOptions(_SharedOptions, total=False):
    """What `coati.crawl` takes by name, as the command takes options: sizes may be "10MB", times "2h"."""

    types: str
    goal: Sequence[str]
    hints: str
    stop_when_dry: str | float | bool
    scope: str
    sitemaps: bool
    max_targets: int | None
    folders: str
    exec: str
    exec_timeout: float | str


class DiscoverOptions(_SharedOptions, total=False):
    """What `coati.discover` takes by name."""

    search: Sequence[str]
    language: str
    max_queries: int | None
    patience: int
    off_topic: str
    crawl_after: int | None
    start_model: str | Path
    accept: Sequence[str]
    reject: Sequence[str]


class InspectOptions(TypedDict, total=False):
    """What `coati.inspect` takes by name."""

    types: str
    profile: Sequence[str]
    max_requests: int | None
    delay: float | str | timedelta
    contact: str
    user_agent: str
    user: str
    password_file: str | Path
    header: Sequence[str]
    proxy: str
    limits: Mapping[str, object]


# What the command has as an option, a function of its own does.
_FUNCTIONS = {"dry_run": "coati.preview", "from_file": "coati.crawl_each"}


def plain_values(options: Mapping[str, object], known: Iterable[str]) -> dict[str, object]:
    """Return options as run files have them: paths as text, times in seconds.

    Raises `ConfigError` for one that is not ``known``, the options of another command among them.

    >>> plain_values({"delays": 1}, InspectOptions.__annotations__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    coati.errors.ConfigError: unknown option 'delays'; did you mean 'delay'? Known: contact, ...
    """
    known = set(known)
    for name in options:
        if name in _FUNCTIONS:
            raise ConfigError(f"{name}: call {_FUNCTIONS[name]} instead")
        if name not in known:
            raise unknown_name("option", name, known)
    return {name: _plain(value) for name, value in options.items()}


def _plain(value: object) -> object:
    if isinstance(value, PathLike):
        return fspath(value)
    return value.total_seconds() if isinstance(value, timedelta) else value
