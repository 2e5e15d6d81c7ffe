"""What a watch starts from: the pages and files of finished crawls, or a list of pages.

Of a crawl it takes the pages that files hung on, those of the same groups, where the crawl began, and the
sitemaps and feeds that it read, since they are the cheapest pages to watch. Of a small site it takes all
pages. Every address that the crawl met is known, and no news.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coati.errors import CoatiError, ConfigError, UsageError
from coati.harvesting.seeds import read_seeds
from coati.readers.robots import robots_url
from coati.reporting.restored_strategy import restored_strategy, settings_of
from coati.runs.last_visit import LastVisit
from coati.runs.layout import holds_run
from coati.runs.reader import RunReader
from coati.runs.validators import Validators
from coati.settings.run_settings import RunSettings
from coati.strategies.strategy import Explains
from coati.web.likely_extensions import PAGE_EXTENSIONS, likely_extensions
from coati.web.media import parse_types
from coati.web.urls import extension_of, url_hash

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

    from coati.model import Link
    from coati.strategies.revisits.site_watch import LinkValue

# Pages beyond this are not watched: those with the fewest files.
MOST_PAGES = 5_000
# Where these are fewer, the other pages of the crawl are watched as well: this many cost one cycle.
_LEAST_PAGES = 50

# What a link promises where no crawl has learnt it: it ends like a wanted file, like a page, or like neither.
_LIKE_A_FILE, _LIKE_A_PAGE, _LIKE_NEITHER = 0.9, 0.1, 0.02

_PAGES = """
SELECT pages.url, count(DISTINCT targets.url) AS files FROM targets
JOIN pages ON pages.request = targets.found_by
GROUP BY pages.url ORDER BY files DESC, pages.url
"""
# Pages that hung in the same places as those are like them, though no file was on them yet.
_ALIKE = """
SELECT pages.url, groups.mean_reward FROM pages
JOIN requests ON requests.id = pages.request JOIN groups ON groups.arm = requests.arm
WHERE groups.mean_reward > 0 ORDER BY groups.mean_reward DESC, pages.request
"""
# All others, first those that led to most addresses: what is new is listed there.
_OTHERS = "SELECT url FROM pages GROUP BY url ORDER BY max(new_links) DESC, min(request) LIMIT ?"
# Sitemaps and feeds that the crawl read: as lists, or because nobody wanted XML as files.
_LISTS = """
SELECT DISTINCT url FROM requests WHERE kind = 'page' AND url NOT LIKE '%/robots.txt'
AND (url IN (SELECT url FROM lists) OR media_type LIKE '%/xml%' OR media_type LIKE '%rss+xml%'
     OR media_type LIKE '%atom+xml%')
"""
_FILES = """
SELECT targets.url, targets.sha256, requests.etag, requests.last_modified
FROM targets JOIN requests ON requests.id = targets.request ORDER BY targets.request
"""
_MET = "SELECT url FROM links UNION SELECT url FROM requests"


class KnownFile(NamedTuple):
    """A file that a crawl took: its content, and the validators that tell whether it changed."""

    sha256: str
    validators: Validators


class HashSet:
    """Hashes in a sorted array: eight bytes each, as a large crawl has millions of addresses.

    >>> known = HashSet.of(["http://example.org/a"])
    >>> url_hash("http://example.org/a") in known, 7 in known
    (True, False)
    """

    def __init__(self, hashes: npt.NDArray[np.uint64]) -> None:
        self._hashes = np.unique(hashes)

    @classmethod
    def of(cls, urls: Sequence[str]) -> HashSet:
        """Make one of addresses."""
        return cls(np.fromiter((url_hash(url) for url in urls), np.uint64, len(urls)))

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, int) or not len(self._hashes):
            return False
        place = int(np.searchsorted(self._hashes, np.uint64(key)))
        return place < len(self._hashes) and int(self._hashes[place]) == key

    def __or__(self, other: HashSet) -> HashSet:
        return HashSet(np.concatenate([self._hashes, other._hashes]))


@dataclass(frozen=True, slots=True)
class KnownPages:
    """What is known when a watch begins; ``settings`` say how to send requests to its sites.

    Where ``whole_site``, the feeds that pages offer are watched, too; of a list, what it names and no more.
    """

    settings: RunSettings
    pages: tuple[str, ...]
    lists: tuple[str, ...] = ()
    files: dict[str, KnownFile] = field(default_factory=dict)
    met: HashSet = field(default_factory=lambda: HashSet.of(()))
    value: LinkValue = lambda _link, _page: _LIKE_A_PAGE
    whole_site: bool = False

    def earlier(self, url: str) -> LastVisit | None:
        """Return what the crawl got of a file; pages are requested in full, to compare their links."""
        file = self.files.get(url)
        return None if file is None else LastVisit(gave=True, validators=file.validators)


def read_known(sources: Sequence[Path]) -> KnownPages:
    """Read folders of crawls, or one list of pages; raises `UsageError` where nothing could be watched."""
    if not sources:
        raise UsageError("nothing to watch: give the folder of a crawl, several of them, or a list of pages")
    folders = [source for source in sources if holds_run(source)]
    if len(folders) == len(sources):
        return _joined([_of_crawl(folder) for folder in folders])
    other = next(source for source in sources if source not in folders)
    if str(other).startswith(("http:/", "https:/")):
        raise UsageError("this is a URL: crawl it first, then watch the folder of that crawl")
    if not other.exists():
        raise UsageError(
            f"{other} does not exist: give the folder of a crawl, or a file with one page per line"
        )
    if other.is_dir():
        raise UsageError(f"{other} is a folder without a crawl: give one that `coati crawl` wrote")
    if len(sources) > 1:
        raise UsageError(f"{other} is a list of pages, which is watched alone: put all pages into one list")
    return _of_list(other)


def _of_list(file: Path) -> KnownPages:
    seeds = read_seeds(file)
    settings = replace(RunSettings(), urls=seeds.urls)
    return KnownPages(settings, seeds.urls, value=_by_extension(settings))


def _of_crawl(folder: Path) -> KnownPages:
    with RunReader(folder) as run:
        settings = settings_of(run)
        if settings is None:
            raise ConfigError(f"the settings of {folder} cannot be read by this version of Coati")
        connection = run.connection
        pages = [url for url, _ in connection.execute(_PAGES)]
        if not pages:
            raise UsageError(
                f"the crawl in {folder} took no file from any page, so nothing says which pages to watch:"
                " let it find some, or give a list of pages"
            )
        lists = [url for (url,) in connection.execute(_LISTS)]
        alike = [url for url, _ in connection.execute(_ALIKE)]
        robots = [robots_url(url) for url in settings.urls]
        urls = list(dict.fromkeys([*settings.start_urls, *robots, *lists, *pages, *alike]))[:MOST_PAGES]
        if len(urls) < _LEAST_PAGES:
            others = [url for (url,) in connection.execute(_OTHERS, (_LEAST_PAGES,))]
            urls = list(dict.fromkeys([*urls, *others]))[:_LEAST_PAGES]
        files = {
            url: KnownFile(digest, Validators(*rest)) for url, digest, *rest in connection.execute(_FILES)
        }
        met = HashSet.of([url for (url,) in connection.execute(_MET)])
        value = _learnt(run, settings) or _by_extension(settings)
        return KnownPages(settings, tuple(urls), (*robots, *lists), files, met, value, whole_site=True)


def _joined(crawls: Sequence[KnownPages]) -> KnownPages:
    """Join several crawls in one watch, with the settings of the first."""
    first = crawls[0]
    if len(crawls) == 1:
        return first
    urls = dict.fromkeys(url for crawl in crawls for url in crawl.settings.urls)
    met = first.met
    for crawl in crawls[1:]:
        met |= crawl.met
    return KnownPages(
        replace(first.settings, urls=tuple(urls)),
        tuple(dict.fromkeys(url for crawl in crawls for url in crawl.pages)),
        tuple(url for crawl in crawls for url in crawl.lists),
        {url: file for crawl in crawls for url, file in crawl.files.items()},
        met,
        # What one site's crawl learnt says little about another site's links.
        _by_extension(first.settings),
        whole_site=True,
    )


def _learnt(run: RunReader, settings: RunSettings) -> LinkValue | None:
    """Return what the crawl's own strategy says of a link; None where it cannot say."""
    try:
        strategy = restored_strategy(run, settings)
    except (CoatiError, ValueError, LookupError):
        return None
    if not isinstance(strategy, Explains):
        return None
    explain = strategy.explain

    def value(link: Link, page: str) -> float:
        return explain(link, page).score

    return value


def _by_extension(settings: RunSettings) -> LinkValue:
    wanted = frozenset(likely_extensions(parse_types(settings.types)))

    def value(link: Link, _page: str) -> float:
        extension = extension_of(link.url)
        if extension in wanted:
            return _LIKE_A_FILE
        return _LIKE_A_PAGE if extension in PAGE_EXTENSIONS else _LIKE_NEITHER

    return value
