"""Which software made a page, and the URLs of its API: from what was fetched already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from coati.shortcuts.profile import ApiEntry, Profile
from coati.shortcuts.registry import PROFILES
from coati.shortcuts.seen_page import SeenPage


class Recognised(NamedTuple):
    """One software that a page shows.

    ``addresses`` are where its API lists files, absolute, the best first; none where it has no public list.
    ``sure`` says that the page shows that the API is there; otherwise a request is a try.
    """

    profile: str
    title: str
    addresses: tuple[str, ...]
    sure: bool


def recognise(
    url: str, headers: Iterable[tuple[str, str]], body: bytes, profiles: Sequence[Profile] = PROFILES
) -> tuple[Recognised, ...]:
    """Return the software that an answer shows, catalogues before content management systems.

    It costs no request, and nothing in the answer makes it raise; a profile of one's own may.

    >>> page = b'<html><head><meta name="generator" content="ckan 2.10.4"></head></html>'
    >>> recognise("https://data.example.org/", [], page)[0].profile
    'ckan'
    """
    page = SeenPage.of(url, headers, body)
    found = ((profile, profile.recognise(page)) for profile in profiles)
    return tuple(_recognised(page, profile, entries) for profile, entries in found if entries is not None)


def _recognised(page: SeenPage, profile: Profile, entries: Sequence[ApiEntry]) -> Recognised:
    addresses = tuple(address for entry in entries if (address := page.at(entry.address)))
    return Recognised(profile.name, profile.title, addresses, any(entry.sure for entry in entries))
