"""The finer limits of a live crawl: what `LiveSettings` and `TrapSettings` have beside the options.

They stand in the table ``[limits]`` of a run file, and ``--limits NAME=VALUE`` sets one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, fields, replace
from typing import Any

from coati.errors import ConfigError, unknown_name
from coati.live.settings import LiveSettings
from coati.settings.setting_types import BYTES, FLAG, INTEGER, NUMBER, SECONDS, TEXT, SettingType
from coati.web.traps import TrapSettings

# These have options of their own, under names of their own.
_OPTIONS = frozenset(
    {
        "delay_seconds",
        "concurrency",
        "per_host",
        "contact",
        "agent",
        "max_bytes_per_second",
        "max_file_bytes",
        "headers",
        "origin_headers",
        "cookies",
        "proxy",
        "render",
    }
)


def _type(limit: Field[Any]) -> SettingType:
    """Tell how a field is read, by its name and default."""
    if isinstance(limit.default, bool) or limit.default is None:
        return FLAG
    if limit.name.endswith("_bytes"):
        return BYTES
    if limit.name.endswith("_seconds"):
        return SECONDS
    if isinstance(limit.default, int):
        return INTEGER
    return NUMBER if isinstance(limit.default, float) else TEXT


# What the fields of `TrapSettings` are called among the other limits.
_TRAP_LIMITS = {("traps" if limit.name == "enabled" else limit.name): limit for limit in fields(TrapSettings)}

_LIMITS = {limit.name: limit for limit in fields(LiveSettings) if limit.name not in _OPTIONS} | _TRAP_LIMITS

LIMIT_TYPES: Mapping[str, SettingType] = {name: _type(limit) for name, limit in _LIMITS.items()}
"""How each limit is read, by name."""

LIMIT_DEFAULTS: Mapping[str, object] = {name: limit.default for name, limit in _LIMITS.items()}

LIMIT_MEANINGS: Mapping[str, str] = {
    "robots": "Whether robots.txt is fetched and obeyed. Switch it off only for your own sites.",
    "max_page_bytes": "How much of a page is read; links after that are not found.",
    "stream_above_bytes": "Larger files are written to disk while they are downloaded.",
    "connect_timeout_seconds": "How long to wait for a connection.",
    "answer_timeout_seconds": "How long to wait for the first byte of a response.",
    "download_timeout_seconds": "How long a whole download may take.",
    "min_bytes_per_second": "Slower downloads are given up.",
    "slow_window_seconds": "Over which time the speed is measured.",
    "max_redirects": "How many redirects in a row are followed.",
    "retries": "How often a failed URL is requested again before it counts as a failure.",
    "retry_seconds": "How long to wait before the first retry; each further wait is four times as long.",
    "max_retry_after_seconds": "The longest Retry-After that is waited for; a longer one ends the crawl.",
    "max_delay_seconds": "Upper limit of a host's delay, whether it grows by Crawl-delay, errors or slow"
    " responses.",
    "allow_private": "Whether private IP addresses may be requested; unset: only if the start URL names one.",
    "verify_certificates": "Whether TLS certificates are verified.",
    "browser": "Path of the Chromium for --render; unset: an installed one.",
    "render_seconds": "How long a page may take in the browser, its own requests not counted.",
    "render_requests": "How many requests a page in the browser may make; each counts as a request.",
    "render_memory_bytes": "How much memory a page in the browser may use.",
    "traps": "Whether links that look like an endless site (a crawler trap) are skipped.",
    "max_urls_per_shape": "How many links of one URL pattern are followed without finding a target.",
    "max_chain": 'How many pages of one URL pattern are followed in a row, as by "next", without a target.',
    "max_equal_pages": "How often the same page may come back before its links are skipped.",
}


def with_limits(settings: LiveSettings, limits: Sequence[tuple[str, object]]) -> LiveSettings:
    """Return the settings of requests with these limits; those of traps are left to `trap_settings`."""
    own = {name: value for name, value in limits if name not in _TRAP_LIMITS}
    return replace(settings, **own)  # type: ignore[arg-type]  # their kinds read them


def trap_settings(limits: Sequence[tuple[str, object]]) -> TrapSettings:
    """Return the patience with traps that these limits set."""
    own = {_TRAP_LIMITS[name].name: value for name, value in limits if name in _TRAP_LIMITS}
    return replace(TrapSettings(), **own)  # type: ignore[arg-type]  # their kinds read them


def read_limits(value: object) -> tuple[tuple[str, object], ...]:
    """Read limits from a TOML table, or from ``NAME=VALUE`` texts.

    >>> read_limits(["retries=0", "answer_timeout_seconds=1m"])
    (('retries', 0), ('answer_timeout_seconds', 60.0))
    """
    if isinstance(value, Mapping):
        pairs = list(value.items())
    elif isinstance(value, str):
        pairs = [_pair(line) for line in value.splitlines() if line.strip()]
    elif isinstance(value, Sequence):
        pairs = [_pair(item) if isinstance(item, str) else tuple(item) for item in value]
    else:
        raise ConfigError(f"{value!r} is not a table of limits")
    read = {}
    for name, given in pairs:
        if name not in LIMIT_TYPES:
            raise unknown_name("limit", str(name), LIMIT_TYPES)
        read[name] = LIMIT_TYPES[name].read_as(name, given)
    return tuple(read.items())


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"{text!r} is not NAME=VALUE")
    return name.strip(), value.strip()


LIMITS = SettingType("NAME=VALUE", read_limits, many=True)
