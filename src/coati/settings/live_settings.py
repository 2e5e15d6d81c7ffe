"""From settings about requests (headers, cookies, a proxy) to what the live driver takes.

None of the errors repeats what was written: it may be a secret, and errors end up in logs.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from coati.errors import ConfigError
from coati.live.find_browser import find_browser
from coati.live.origin_headers import OriginHeader, is_secret
from coati.live.settings import LiveSettings, RenderMode
from coati.settings.limits import with_limits
from coati.web.urls import host_of, normalise, origin_of, path_of

if TYPE_CHECKING:
    from coati.settings.run_settings import RunSettings

# What a header or a cookie may be called (RFC 9110 token).
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")

_MAX_COOKIE_FILE_BYTES = 1 << 20
_COOKIE_FIELDS = 7
_HTTP_ONLY = "#HttpOnly_"
_PROXY_SCHEMES = frozenset({"http", "https"})


def live_settings(settings: RunSettings) -> LiveSettings:
    """Return the settings of the live driver; raises `ConfigError` for what no request could carry."""
    headers = [parse_header(text, settings.url) for text in settings.header]
    live = LiveSettings(
        delay_seconds=settings.delay,
        concurrency=settings.concurrency,
        per_host=settings.per_host,
        contact=settings.contact,
        agent=settings.user_agent,
        max_bytes_per_second=settings.limit_rate,
        max_file_bytes=settings.max_file_size,
        headers=tuple((name, value) for origin, name, value in headers if not origin),
        origin_headers=tuple(header for header in headers if header.origin),
        cookies=parse_cookies(settings.cookies, host_of(settings.url)),
        proxy=_checked_proxy(settings.proxy),
        render=settings.render,
    )
    live = with_limits(live, settings.limits)
    if live.render != RenderMode.NEVER and not settings.offline:
        find_browser(live.browser)
    # Offline there is nobody to be polite to.
    return replace(live, robots=False, delay_seconds=0.0) if settings.offline else live


def parse_header(text: str, start_url: str) -> OriginHeader:
    """Read ``Name: value``, or ``HOST Name: value`` for one host; the origin is empty where all may see it.

    HOST is a host name, with the scheme of the start URL, or an origin (``https://example.org:8443``).
    Without it, a header whose name sounds like a secret is for the origin of the start URL.

    >>> parse_header("Accept-Language: en", "https://example.org/")
    OriginHeader(origin='', name='Accept-Language', value='en')
    >>> parse_header("data.example.org X-Api-Key: 7", "https://example.org/")
    OriginHeader(origin='https://data.example.org', name='X-Api-Key', value='7')
    """
    where, header = split_header(text)
    name, colon, value = header.partition(":")
    if not colon or not _TOKEN.match(name.strip()):
        raise ConfigError("not a header: write it as `Name: value`, or `HOST Name: value`")
    start = normalise(start_url) or ""
    if where:
        url = normalise(where if "://" in where else f"{start.partition(':')[0] or 'https'}://{where}")
        if url is None or path_of(url) != "/":
            raise ConfigError("not a host for a header: write it as `example.org Name: value`")
        return OriginHeader(origin_of(url), name.strip(), value.strip())
    if not is_secret(name):
        return OriginHeader("", name.strip(), value.strip())
    if not start.startswith("http"):
        raise ConfigError("a header with a secret needs a host: `HOST Name: value`")
    return OriginHeader(origin_of(start), name.strip(), value.strip())


def split_header(text: str) -> tuple[str, str]:
    """Split the host off a header that is meant for one; empty if it is for no particular one.

    >>> split_header("https://example.org:8443 X-Api-Key: 7")
    ('https://example.org:8443', 'X-Api-Key: 7')
    """
    text = text.strip()
    first, _, rest = text.partition(" ")
    named = "." in first or first == "localhost"
    bound = first.startswith(("http://", "https://")) or (named and ":" not in first and ":" in rest)
    return (first, rest.strip()) if bound else ("", text)


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
                "not cookies: write them as `name=value; other=value`, or name a cookies.txt file"
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
        raise ConfigError("not a proxy: one looks like http://host:port")
    return text
