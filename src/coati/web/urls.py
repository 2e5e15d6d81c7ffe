"""URLs in one normal form, and functions that answer questions about them.

Resolving follows the WHATWG standard (through ada), so that a link leads where a browser would go. On top of
that the normal form drops the fragment, and writes each path octet in one way: decoded where the octet may
stand in a path as it is, percent-encoded with upper-case digits where not. ``%2F`` is kept, since a slash
that was escaped is data and not a separator. Queries are left as ada writes them: their escapes may mean
something to the server. A user and a password are dropped: they are not part of where something is, and would
be in every file that names the URL. A URL in normal form is ASCII, has a path, and is its own normal form.

A query to a search engine is a URL too (`coati.web.queries`), which the questions below know. It has no
place on the web: `resolve` and `normalise` give None for it.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from urllib.parse import quote, unquote, unquote_to_bytes

import ada_url

# What may stand unescaped in a path (RFC 3986 pchar and the slash).
_PATH_SAFE = "/:@!$&'()*+,;=~-._"
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/:@!$&'()*+,;=~\-._]*\Z")
_ESCAPED_SLASH = re.compile(r"(%2[fF])")
_EXTENSION = re.compile(r"\.([A-Za-z0-9\-_]{1,16})\Z")

# The port of a URL without a scheme, and the ports that are meant for encryption.
_BARE_PORT = re.compile(r"[^/?#]*:([0-9]{1,5})(?:[/?#]|\Z)")
_HTTPS_PORTS = frozenset({"443", "8443"})

# Longer than any server accepts; what is longer is a trap or damage, and is not worth the memory.
MAX_URL_CHARS = 4096

QUERY_SCHEME = "search:"


def is_query(url: str) -> bool:
    """Tell whether a URL is a query to a search engine."""
    return url.startswith(QUERY_SCHEME)


def resolve(base: str, reference: str) -> str | None:
    """Return the normal form of ``reference`` as found on ``base``; None if it is not a web URL.

    >>> resolve("http://example.org/a/b.html", "../c d.csv#top")
    'http://example.org/c%20d.csv'
    >>> resolve("http://example.org/", "mailto:someone@example.org") is None
    True
    """
    if len(reference) > MAX_URL_CHARS:
        return None
    try:
        url = ada_url.join_url(base, reference)
    except (ValueError, UnicodeError):
        return None
    return _normal_form(url)


def with_scheme(text: str) -> str:
    """Add a missing scheme: https, or http where a port is named that is not one of https.

    >>> with_scheme("example.org/a"), with_scheme("localhost:8000/a"), with_scheme("example.org:8443")
    ('https://example.org/a', 'http://localhost:8000/a', 'https://example.org:8443')
    """
    if "://" in text:
        return text
    port = _BARE_PORT.match(text)
    return f"http://{text}" if port and port[1] not in _HTTPS_PORTS else f"https://{text}"


def normalise(url: str) -> str | None:
    """Return the normal form of an absolute URL; None if it is not a web URL.

    >>> normalise("HTTP://Example.org:80/a/../%7Euser/?q=1#x")
    'http://example.org/~user/?q=1'
    """
    if len(url) > MAX_URL_CHARS:
        return None
    try:
        return _normal_form(ada_url.normalize_url(url))
    except (ValueError, UnicodeError):
        return None


def encode_query(reference: str, codec: str) -> str:
    """Write the query of a reference in the encoding of its page, as browsers do; the path is always UTF-8.

    >>> encode_query("/café?q=café", "cp1252")
    '/café?q=caf%E9'
    """
    head, mark, query = reference.partition("?")
    if query.isascii():
        return reference
    return head + mark + "".join(c if c.isascii() else _encoded(c, codec) for c in query)


def _encoded(character: str, codec: str) -> str:
    try:
        return quote(character.encode(codec), safe="")
    except UnicodeEncodeError:
        # What forms do with a character that the encoding lacks: its HTML reference, escaped.
        return f"%26%23{ord(character)}%3B"


def _normal_form(url: str) -> str | None:
    if not url.startswith(("http://", "https://")):
        return None
    url, _, _ = url.partition("#")
    head, mark, query = url.partition("?")
    # ada always writes a path, so the third slash is there.
    slash = head.index("/", 8)
    path = head[slash:]
    at = head.rfind("@", 8, slash)
    if at >= 0 or not _PLAIN_PATH.match(path):
        authority = head[: head.index("/") + 2] + head[at + 1 : slash] if at >= 0 else head[:slash]
        url = authority + _normal_path(path) + mark + query
    return url if len(url) <= MAX_URL_CHARS else None


def _normal_path(path: str) -> str:
    parts = _ESCAPED_SLASH.split(path)
    for i in range(0, len(parts), 2):
        parts[i] = quote(unquote_to_bytes(parts[i]), safe=_PATH_SAFE)
    for i in range(1, len(parts), 2):
        parts[i] = "%2F"
    return "".join(parts)


def url_hash(url: str) -> int:
    """Return a hash of a URL of 64 bits, the same in every process.

    >>> url_hash("http://example.org/")
    2689016738534627648
    """
    return int.from_bytes(blake2b(url.encode(), digest_size=8).digest(), "little")


def userinfo_of(url: str) -> tuple[str, str] | None:
    """Return the user and the password of an absolute URL, decoded; None if it has neither.

    >>> userinfo_of("http://jo:p%40ss@example.org/")
    ('jo', 'p@ss')
    """
    try:
        parts = ada_url.URL(url)
    except (ValueError, UnicodeError):
        return None
    return (unquote(parts.username), unquote(parts.password)) if parts.username or parts.password else None


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL, which begin its normal form.

    >>> origin_of("https://example.org:8443/a?b")
    'https://example.org:8443'
    """
    return "/".join(url.split("/", 3)[:3])


def host_of(url: str) -> str:
    """Return the host of a URL in normal form, without the port; of a query, a name that no host can have.

    >>> host_of("http://example.org:8080/x"), host_of("search://local/?q=rain")
    ('example.org', 'search://local')
    """
    parts = url.split("/", 3)
    authority = parts[2]
    if parts[0] == QUERY_SCHEME:
        return f"{QUERY_SCHEME}//{authority}"
    if authority.startswith("["):
        return authority.partition("]")[0] + "]"
    return authority.partition(":")[0]


def without_www(host: str) -> str:
    """Return a host without the ``www.`` before it, if what is left is a name of its own.

    >>> without_www("www.example.org"), without_www("www.org")
    ('example.org', 'www.org')
    """
    bare = host.removeprefix("www.")
    return bare if "." in bare else host


def site_of(url: str) -> str:
    """Name the site of a URL in normal form: its host, without www.

    >>> site_of("https://www.example.org/data"), site_of("https://data.example.org/")
    ('example.org', 'data.example.org')
    """
    return host_of(url).removeprefix("www.")


def path_of(url: str) -> str:
    """Return the path of a URL in normal form, without the query.

    >>> path_of("http://example.org/a/b?c=/d")
    '/a/b'
    """
    return "/" + url.partition("?")[0].split("/", 3)[3]


def query_of(url: str) -> str:
    """Return the query of a URL in normal form, without the question mark.

    >>> query_of("http://example.org/a?b=1&c")
    'b=1&c'
    """
    return url.partition("?")[2]


def extension_of(url: str) -> str:
    """Return the lower-case extension of the last path segment, or an empty string.

    >>> extension_of("http://example.org/a.b/Report.CSV?x=.html")
    'csv'
    """
    name = path_of(url).rpartition("/")[2]
    found = _EXTENSION.search(name)
    return found.group(1).lower() if found else ""
