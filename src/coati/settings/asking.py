"""From what the user writes about requests (headers, cookies, a proxy) to what the live driver takes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from coati.errors import ConfigError
from coati.live.settings import LiveSettings
from coati.settings.limits import with_limits
from coati.web.urls import host_of

if TYPE_CHECKING:
    from coati.settings.run_settings import RunSettings

# What a header or a cookie may be called (RFC 9110 token).
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")

_MAX_COOKIE_FILE_BYTES = 1 << 20
_COOKIE_FIELDS = 7
_HTTP_ONLY = "#HttpOnly_"
_PROXY_SCHEMES = frozenset({"http", "https"})


def live_settings(settings: RunSettings) -> LiveSettings:
    """Give the settings of the live driver; raises `ConfigError` for what no request could carry."""
    asked = LiveSettings(
        delay_seconds=settings.delay,
        concurrency=settings.concurrency,
        per_host=settings.per_host,
        contact=settings.contact,
        max_file_bytes=settings.max_file_size,
        headers=tuple(parse_header(text) for text in settings.header),
        cookies=parse_cookies(settings.cookies, host_of(settings.url)),
        proxy=_checked_proxy(settings.proxy),
    )
    asked = with_limits(asked, settings.limits)
    # Offline there is nobody to be polite to.
    return replace(asked, robots=False, delay_seconds=0.0) if settings.offline else asked


def parse_header(text: str) -> tuple[str, str]:
    """Read ``Name: value``.

    >>> parse_header("Accept-Language: en")
    ('Accept-Language', 'en')
    """
    name, colon, value = text.partition(":")
    if not colon or not _TOKEN.match(name.strip()):
        raise ConfigError(f"not a header: {text!r}; write it as `Name: value`")
    return name.strip(), value.strip()


def parse_cookies(text: str, host: str) -> tuple[tuple[str, str], ...]:
    """Read cookies as a browser sends them, or from a cookies.txt file (those for ``host``).

    >>> parse_cookies("session=abc; lang=en", "example.org")
    (('session', 'abc'), ('lang', 'en'))
    """
    if not text.strip():
        return ()
    if Path(text).is_file():
        return _cookies_of_file(Path(text), host)
    pairs = []
    for part in text.split(";"):
        if not part.strip():
            continue
        name, equals, value = part.partition("=")
        if not equals or not _TOKEN.match(name.strip()):
            raise ConfigError(
                f"not a cookie: {part.strip()!r}; write them as `name=value; other=value`,"
                " or name a cookies.txt file"
            )
        pairs.append((name.strip(), value.strip()))
    return tuple(pairs)


def _cookies_of_file(path: Path, host: str) -> tuple[tuple[str, str], ...]:
    with path.open("rb") as file:
        lines = file.read(_MAX_COOKIE_FILE_BYTES).decode("utf-8", "replace").splitlines()
    found = {}
    for line in lines:
        # Browsers' exporters hide a cookie from scripts by what else begins a comment.
        columns = line.removeprefix(_HTTP_ONLY).split("\t")
        if len(columns) != _COOKIE_FIELDS or (line.startswith("#") and not line.startswith(_HTTP_ONLY)):
            continue
        domain = columns[0].lstrip(".").lower()
        if host == domain or host.endswith("." + domain):
            found[columns[5]] = columns[6]
    if not found:
        raise ConfigError(f"{path} holds no cookies for {host}; it should be in the format of cookies.txt")
    return tuple(found.items())


def _checked_proxy(text: str) -> str:
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        sound = parts.scheme in _PROXY_SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise ConfigError(f"not a proxy: {text!r}; one looks like http://host:port")
    return text
