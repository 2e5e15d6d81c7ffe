"""Known URLs that look most like one that the run never found: most likely it was mistyped."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from sqlite3 import Connection

from coati.web.urls import host_of

# How many URLs are compared; the comparison takes its time with long ones.
_MAX_COMPARED = 400
_SHOWN = 5

_EXACT = "SELECT 1 FROM links WHERE url = ? UNION ALL SELECT 1 FROM requests WHERE url = ? LIMIT 1"
_BELOW = """
SELECT url FROM links WHERE url >= ?1 AND url < ?2
UNION SELECT url FROM requests WHERE url >= ?1 AND url < ?2 LIMIT ?3
"""


def nearest_known(connection: Connection, url: str) -> tuple[str, ...]:
    """Return the known URLs that look most like this one, the likeliest first."""
    found = [other for other in _spellings(url) if connection.execute(_EXACT, (other, other)).fetchone()]
    for prefix in _prefixes(url):
        rows = connection.execute(_BELOW, (prefix, prefix + "\U0010ffff", _MAX_COMPARED))
        candidates = [row[0] for row in rows]
        if candidates:
            found += difflib.get_close_matches(url, candidates, n=_SHOWN, cutoff=0.0)
            break
    return tuple(dict.fromkeys(found))[:_SHOWN]


def _spellings(url: str) -> Iterator[str]:
    """Return other ways in which people write the same address."""
    scheme, _, rest = url.partition("://")
    host = host_of(url)
    other_host = host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"
    without_query = rest.partition("?")[0]
    rests = (
        rest,
        rest.replace(host, other_host, 1),
        without_query,
        without_query.rstrip("/"),
        f"{without_query}/",
    )
    for name in (scheme, _other(scheme)):
        for each in rests:
            if f"{name}://{each}" != url:
                yield f"{name}://{each}"


def _prefixes(url: str) -> Iterator[str]:
    """Return the folders above a URL, the nearest first, ending with its host; under both schemes."""
    scheme, _, rest = url.partition("?")[0].partition("://")
    while "/" in rest:
        rest = rest.rpartition("/")[0]
        yield f"{scheme}://{rest}/"
        yield f"{_other(scheme)}://{rest}/"


def _other(scheme: str) -> str:
    return "http" if scheme == "https" else "https"
