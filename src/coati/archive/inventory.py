"""What is in an archive: counts, sizes, and links of the site that it has no response for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from coati.archive.archive import Archive
from coati.archive.kinds import kind_of
from coati.archive.link_cache import LinkCache
from coati.model import Kind
from coati.web.media import essence
from coati.web.rules import Rules, TrapRule

_MAX_EXAMPLES = 20
_TAG = re.compile(r"[.#]")


@dataclass(frozen=True, slots=True)
class ArchiveContents:
    """Counts of an archive's URLs as they were last; sizes are those of the bodies, kept or left out.

    ``captures`` counts each URL as often as it is held; ``span`` is from when to when.
    """

    records: int
    captures: int
    span: tuple[float, float] | None
    bodies: int
    kinds: Counter[Kind]
    bytes_by_kind: Counter[Kind]
    statuses: Counter[int]
    media_types: Counter[str]


class OutsideLink(NamedTuple):
    """A link within the site whose destination is not in the archive, and a page that has it."""

    url: str
    page: str


@dataclass(frozen=True, slots=True)
class OutsideLinks:
    """The ends of such links, counted once each; the examples are the first of them.

    Ends of meta refreshes that no link leads to are counted apart: a page sends its reader there
    without showing a link, and not every crawler follows.
    """

    count: int
    examples: tuple[OutsideLink, ...]
    refreshes: int
    refresh_examples: tuple[OutsideLink, ...]


def count_contents(archive: Archive) -> ArchiveContents:
    """Count by kind, status and media type, under the archive's own definition of targets."""
    counts = (len(archive), archive.count_captures(), archive.span(), archive.bodies())
    contents = ArchiveContents(*counts, Counter(), Counter(), Counter(), Counter())
    for entry in archive.entries():
        kind = kind_of(entry, archive.meta.types)
        contents.kinds[kind] += 1
        contents.bytes_by_kind[kind] += entry.size_bytes
        contents.statuses[entry.status] += 1
        contents.media_types[essence(entry.media_type)] += 1
    return contents


def find_outside_links(archive: Archive, progress: Callable[[int, int], None] | None = None) -> OutsideLinks:
    """Look for links that a crawl of the site would follow and the archive has no answer for."""
    meta = archive.meta
    rules = Rules(meta.start_url, blocked_extensions=meta.blocked_extensions, traps=TrapRule.OFF)
    cache = LinkCache.of(archive, progress)
    known: set[str] = set()
    outside: dict[str, str] = {}
    refreshed: dict[str, str] = {}
    for page, urls in cache.pages():
        entry = archive.entry(page)
        if entry is not None and kind_of(entry, meta.types) is Kind.TARGET:
            # A sitemap or a feed that is wanted itself: a crawl takes it and does not read it.
            continue
        unknown: set[str] = set()
        for url in urls:
            if url not in known:
                answered = rules.refusal(url) is not None or archive.entry(url) is not None
                (known if answered else unknown).add(url)
        if unknown:
            linked = _linked(cache, page) & unknown
            known |= linked
            outside.update((url, page) for url in urls if url in linked)
            refreshed.update((url, page) for url in unknown - linked if url not in refreshed)
    for url in outside:
        refreshed.pop(url, None)
    return OutsideLinks(len(outside), _examples(outside), len(refreshed), _examples(refreshed))


def _linked(cache: LinkCache, page: str) -> set[str]:
    """Return what a page leads to by anything but a meta refresh."""
    links = (cache.link(number) for number in cache.link_numbers(page).tolist())
    return {link.url for link in links if _TAG.split(link.tag_path[-1])[0] != "meta"}


def _examples(pages: dict[str, str]) -> tuple[OutsideLink, ...]:
    return tuple(OutsideLink(url, page) for url, page in islice(pages.items(), _MAX_EXAMPLES))
