"""Settings to and from TOML: a run file that a user wrote, and the ``run.toml`` of a run.

A run folder is made to be handed on, so credentials are not written into it: values of cookies, of
headers that carry credentials, and a proxy's password stand there as `HIDDEN`. Whoever resumes such a run
gives them again.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from coati.errors import ConfigError, unknown_name
from coati.live.origin_headers import is_secret
from coati.machine_errors import read_bounded
from coati.settings.credentials import authorisation
from coati.settings.limits import LIMIT_DEFAULTS
from coati.settings.live_settings import split_header
from coati.settings.run_settings import SETTINGS, RunSettings

HIDDEN = "(hidden)"

_MAX_FILE_BYTES = 1 << 20


def read_run_file(path: Path) -> dict[str, object]:
    """Read the settings that a file gives, each in its own form; raises `ConfigError` that says where."""
    text = read_bounded(path, _MAX_FILE_BYTES, "run file")
    try:
        values = tomllib.loads(text.decode())
    except ValueError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None
    try:
        return read_values(values)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def read_values(values: Mapping[str, object]) -> dict[str, object]:
    """Bring values to their forms; an unknown key is an error that names the nearest known one.

    >>> read_values({"max_time": "2h", "types": "tables"})
    {'max_time': 7200.0, 'types': 'tables'}
    """
    read = {}
    for name, value in values.items():
        if name not in SETTINGS:
            raise unknown_name("key", name, SETTINGS)
        read[name] = SETTINGS[name].read(value)
    return read


def with_values(settings: RunSettings, values: Mapping[str, object]) -> RunSettings:
    """Return settings in which these values, read before, take the place of the old ones."""
    changes: dict[str, Any] = dict(values)
    if "limits" in changes:
        changes["limits"] = tuple({**dict(settings.limits), **dict(changes["limits"])}.items())
    user, password_file = changes.pop("user", ""), changes.pop("password_file", "")
    if user or password_file:
        url = next(iter(changes.get("urls", settings.urls)), "")
        changes["header"] = _with_header(
            changes.get("header", settings.header), authorisation(user, password_file, url)
        )
    return replace(settings, **changes)


def _with_header(headers: Iterable[str], added: str) -> tuple[str, ...]:
    """Add a header for a host, in the place of the one of that name that the host had."""
    where, field = split_header(added)
    start = f"{where} {field.partition(':')[0]}:"
    return (*(header for header in headers if not header.startswith(start)), added)


def require_named_hosts(settings: RunSettings) -> None:
    """Raise `ConfigError` if a secret would be told to each of many sites; it is meant for one."""
    for header in settings.header:
        where, field = split_header(header)
        if not where and is_secret(field.partition(":")[0]):
            raise ConfigError(
                "header: with many sites, a header with a secret needs a host: `HOST Name: value`"
            )
    if settings.cookies:
        raise ConfigError("cookies: cookies are for one site; crawl it on its own")


def to_toml_values(settings: RunSettings) -> dict[str, object]:
    """Return what goes into a run's ``run.toml``: all that belongs to the run, defaults included."""
    values: dict[str, object] = {
        name: getattr(settings, name) for name, setting in SETTINGS.items() if setting.of_run
    }
    values["header"] = [_without_secret(header) for header in settings.header]
    if settings.cookies:
        values["cookies"] = HIDDEN
    values["proxy"] = _without_password(settings.proxy)
    values["limits"] = {**LIMIT_DEFAULTS, **dict(settings.limits)}
    return values


def require_no_hidden(settings: RunSettings) -> None:
    """Raise `ConfigError` if something that ``run.toml`` does not keep was not given again."""
    for name in ("header", "cookies", "proxy"):
        if HIDDEN in str(getattr(settings, name)):
            setting = SETTINGS[name]
            raise ConfigError(
                f"the run was started with {setting.option}, whose secret is not stored: give it again, or"
                f" set {setting.variable}"
            )


def _without_secret(header: str) -> str:
    where, field = split_header(header)
    name, _, _ = field.partition(":")
    # What is meant for one host alone is so for a reason.
    return f"{where} {name}: {HIDDEN}".lstrip() if where or is_secret(name) else header


def _without_password(proxy: str) -> str:
    try:
        password = urlsplit(proxy).password
    except ValueError:
        password = None
    return proxy.replace(f":{password}@", f":{HIDDEN}@", 1) if password else proxy
