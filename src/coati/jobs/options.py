"""The settings of a crawl as keyword arguments; `coati.settings.SETTINGS` explains each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict


class CrawlOptions(TypedDict, total=False):
    """What `coati.crawl` takes by name, as the command takes options: sizes may be "10MB", times "2h"."""

    types: str
    goal: Sequence[str]
    strategy: str
    seed: int
    stop_when_dry: str | float | bool
    scope: str
    include: Sequence[str]
    exclude: Sequence[str]
    exclude_host: Sequence[str]
    sitemaps: bool
    hints: str
    shortcuts: str
    profile: Sequence[str]
    max_requests: int | None
    max_bytes: int | str | None
    max_time: float | str | None
    max_targets: int | None
    host_budget: int | None
    max_file_size: int | str
    delay: float | str
    concurrency: int
    per_host: int
    contact: str
    user_agent: str
    limit_rate: int | str | None
    user: str
    password_file: str | Path
    header: Sequence[str]
    cookies: str
    proxy: str
    render: str
    limits: Mapping[str, object]
    retry_failed: bool
    archive: str | Path
    archive_mode: str
    archive_max_age: float | str | None
    offline: bool
    out: str | Path
    folders: str
    events: str | Path
    log_file: str | Path
    exec: str
    exec_timeout: float | str
