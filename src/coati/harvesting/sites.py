"""From URLs to sites: which belong together, the name of each, and its scope."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from coati.web.rules import Scope
from coati.web.urls import host_of

_UNSAFE = re.compile(r"[^a-z0-9.\-]+")
_MAX_NAME_CHARS = 100


@dataclass(frozen=True, slots=True)
class HarvestSite:
    """One site of a harvest: its folder's name, where it begins, and its scope."""

    name: str
    urls: tuple[str, ...]
    scope: Scope


def sites_of(urls: Sequence[str], scope: Scope = Scope.DOMAIN) -> list[HarvestSite]:
    """Gather addresses by site, in the order of the list; a host with and without www is one site.

    A site that has another one of the list below it keeps to its own host: no page belongs to two.

    >>> [site.name for site in sites_of(["https://www.a.org/x", "http://a.org/y", "https://b.org/"])]
    ['a.org', 'b.org']
    """
    grouped: dict[str, list[str]] = {}
    for url in urls:
        grouped.setdefault(_site_key(url), []).append(url)
    # Every name that some site lies below.
    above = {host for key in grouped for host in _names_above(key)}
    names = _folder_names(grouped)
    return [
        HarvestSite(
            names[key], tuple(starts), Scope.HOST if scope is Scope.DOMAIN and key in above else scope
        )
        for key, starts in grouped.items()
    ]


def read_hosts(lines: Sequence[str]) -> frozenset[str]:
    """Read host names from the lines of a list; addresses may be given too.

    >>> sorted(read_hosts(["Example.org", "# no", "https://b.test/x", ""]))
    ['b.test', 'example.org']
    """
    hosts = set()
    for line in lines:
        text = line.strip().lower()
        if text and not text.startswith("#"):
            hosts.add(host_of(text) if "://" in text else text.split()[0].rstrip("/"))
    return frozenset(hosts)


def is_excluded(host: str, excluded: Collection[str]) -> bool:
    """Tell whether a host is one of those that are excluded, or lies below one."""
    return host in excluded or any(name in excluded for name in _names_above(host))


def _site_key(url: str) -> str:
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    # Servers on several ports of one host are several sites.
    return host if parts.port is None else f"{host}:{parts.port}"


def _names_above(host: str) -> list[str]:
    if host.replace(".", "").replace(":", "").isdigit():
        return []
    labels = host.split(".")
    return [".".join(labels[start:]) for start in range(1, len(labels))]


def _folder_names(keys: Collection[str]) -> dict[str, str]:
    """Name the folders: after the site, with a number where two would be the same."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for key in keys:
        plain = _UNSAFE.sub("-", key.lower())[:_MAX_NAME_CHARS].strip("-.") or "site"
        name, number = plain, 2
        while name in taken:
            name, number = f"{plain}-{number}", number + 1
        taken.add(name)
        names[key] = name
    return names
