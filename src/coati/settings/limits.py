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
    "robots": "Whether robots.txt is asked for and obeyed. Off is for sites of your own.",
    "max_page_bytes": "How much of a page is read; links in the rest are not seen.",
    "stream_above_bytes": "Larger files go to disk while they arrive.",
    "connect_timeout_seconds": "How long to wait for a connection.",
    "answer_timeout_seconds": "How long to wait for the first byte of an answer.",
    "download_timeout_seconds": "How long a whole download may take.",
    "min_bytes_per_second": "A body that comes more slowly is given up.",
    "slow_window_seconds": "Over which time that is measured.",
    "max_redirects": "Hops from a redirect to what it leads to.",
    "retries": "How often a URL that met an outage is asked again before it is called broken.",
    "retry_seconds": "How long to wait before the first of these; each further wait is four times as long.",
    "max_retry_after_seconds": "The longest wait that a server may ask for; more ends the crawl.",
    "max_delay_seconds": "How far the delay of a host may grow, by its Crawl-delay, by errors or slowness.",
    "allow_private": "Whether private addresses may be asked; unset: only if the start URL names one.",
    "verify_certificates": "Whether a server must prove by its certificate who it is.",
    "browser": "The path of a Chromium for --render; unset: one that is installed.",
    "render_seconds": "How long a page may take in the browser, without what it fetches.",
    "render_requests": "How many requests a page in the browser may make; each counts.",
    "render_memory_bytes": "How much memory a page in the browser may take.",
    "traps": "Whether links are left alone that look like a site without end.",
    "max_urls_per_shape": "Links of one shape (numbers folded) that are followed without any target.",
    "max_chain": 'Steps from page to page of one shape, as by "next", without any target.',
    "max_equal_pages": "How often the same page may come before its links are left alone.",
}


def with_limits(asked: LiveSettings, limits: Sequence[tuple[str, object]]) -> LiveSettings:
    """Return the settings of the asking with these limits; those of traps are left to `trap_settings`."""
    own = {name: value for name, value in limits if name not in _TRAP_LIMITS}
    return replace(asked, **own)  # type: ignore[arg-type]  # their kinds read them


def trap_settings(limits: Sequence[tuple[str, object]]) -> TrapSettings:
    """Return the patience with traps that these limits ask for."""
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
        try:
            read[name] = LIMIT_TYPES[name].read(given)
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}") from None
    return tuple(read.items())


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"{text!r} is not NAME=VALUE")
    return name.strip(), value.strip()


LIMITS = SettingType("NAME=VALUE", read_limits, many=True)
