"""An archived site as a driver sees it: how each request is answered, and what is true of the whole."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from coati.archive.kinds import kind_of
from coati.archive.link_cache import LinkCache
from coati.errors import ArchiveError, UsageError
from coati.model import (
    NO_LINKS,
    Failure,
    Kind,
    Method,
    NearbyText,
    Other,
    Page,
    Redirect,
    Refused,
    Request,
    Target,
    Unchanged,
)
from coati.readers.formats import Format, format_of, is_missing_robots, is_xml
from coati.readers.list_addresses import ListAddresses
from coati.readers.registry import PageReader
from coati.readers.robots import is_robots
from coati.search.engines import Engines
from coati.strategies.truth import SiteTruth
from coati.web.facts import LazyFacts
from coati.web.likely_extensions import DATA_EXTENSIONS, likely_extensions
from coati.web.links import ReadPage
from coati.web.media import essence
from coati.web.rules import Rules, Scope, TrapRule
from coati.web.urls import is_query, normalise, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from coati.archive.archive import Archive
    from coati.archive.record import Entry
    from coati.archive.sources.source import ProgressCallback
    from coati.model import Facts, Link, Outcome, PageLinks
    from coati.readers.registry import KnowsShortcuts
    from coati.search.provider import LocalProvider
    from coati.web.markup.goals import Predicate
    from coati.web.media import TargetTypes

_NOT_MODIFIED, _NOT_FOUND = 304, 404


class ReplaySite:
    """Answers requests from an archive.

    ``types`` overrides the archive's own definition of a target, ``start_urls`` where it begins. Without
    ``use_link_cache`` every page is read and parsed when it is requested, as a live crawl would do it.
    Queries that the archive does not hold are sent to ``providers``. Pages that meet the ``goal`` are
    relevant. An archive of many hosts needs ``scope`` `Scope.ANY`.
    With ``shortcuts``, what pages show of their software is offered as in a live crawl; then every page is
    read when it is requested.

    Where the archive is a history, the site is shown as it was at the time ``as_of``, or at the time that
    `respond` gets; without either, as it was last. A URL whose first capture is later answers with that one:
    it is not known when it began to exist, and a crawler that finds a link to it may follow it.

    There is one truth per site, by our own rule for traps, the widest: whatever it counts, a crawler may
    request. `under` shows the site to a strategy with a narrower rule; what that one misses counts against
    it.
    """

    def __init__(  # noqa: PLR0913 - each by name
        self,
        archive: Archive,
        *,
        start_urls: Sequence[str] = (),
        types: TargetTypes | None = None,
        as_of: float | None = None,
        use_link_cache: bool = True,
        progress: ProgressCallback | None = None,
        providers: Iterable[LocalProvider] = (),
        goal: Predicate | None = None,
        scope: Scope = Scope.DOMAIN,
        shortcuts: KnowsShortcuts | None = None,
    ) -> None:
        meta = archive.meta
        types = types or meta.types
        self.name = meta.name
        self.start_urls = tuple(_start_url(archive, url) for url in start_urls or (meta.start_url,))
        self.start_url, *more = self.start_urls
        self.rules = Rules(
            self.start_url,
            scope,
            blocked_extensions=meta.blocked_extensions,
            wanted_extensions=DATA_EXTENSIONS if types is None else frozenset(likely_extensions(types)),
            more_start_urls=tuple(more),
        )
        self._archive = archive
        self._as_of = as_of
        self._goal = goal
        # What the goal said of pages: the same for every run.
        self._relevant: dict[str | tuple[str, float], bool] = {}
        self._engines = Engines(providers)
        self._types = types
        self._cache = LinkCache.of(archive, progress)
        self._shortcuts = shortcuts
        self._use_link_cache = use_link_cache
        self._names = np.array([*self._cache.url_names, ""], object)[:-1]
        # Pages that could not be read, or not to their end, in words.
        self.remarks = {remark.partition(": ")[0]: remark for remark in self._cache.remarks}
        self._apply_rules()
        self.truth = self._explore()
        # URLs of the truth that are refused, where the rules are narrower than the truth's.
        self._refused: frozenset[str] = frozenset()

    def _apply_rules(self) -> None:
        """Work out what the rules leave of the site's links."""
        self._reader = PageReader(self.rules, self._shortcuts)
        admitted = [self.rules.refusal(url) is None for url in self._cache.url_names]
        self._admitted = np.array(admitted, bool)
        # What is answered again and again, by URL, in a history by URL and moment.
        self._pages: dict[str | tuple[str, float], Page] = {}
        # What start pages offer beside their links, and what list addresses list (`coati.readers`).
        self._offers: dict[str, Sequence[str]] = {}
        self._lists: dict[str, PageLinks] = {}
        ListAddresses(self.start_urls).explore(self._read_list)

    def under(self, traps: TrapRule, *, shortcuts: bool = True) -> ReplaySite:
        """Return the site as it is for a strategy with this rule for traps; the truth stays the same.

        Without ``shortcuts`` pages offer none, unless nothing else is to be followed.
        """
        if self._shortcuts is not None and not self._shortcuts.only and not shortcuts:
            return self._plain.under(traps)
        narrower = traps is TrapRule.PUBLISHED and self.rules.traps is not traps
        return (self._published or self) if narrower else self

    @cached_property
    def _plain(self) -> ReplaySite:
        """The site without shortcuts."""
        other = copy(self)
        other._shortcuts = None  # noqa: SLF001 - one of us
        vars(other).pop("_published", None)
        other._apply_rules()  # noqa: SLF001
        return other

    @cached_property
    def _published(self) -> ReplaySite | None:
        """The site under the published rule; None where no URL makes a difference."""
        other = copy(self)
        other.rules = replace(self.rules, traps=TrapRule.PUBLISHED)
        other._apply_rules()  # noqa: SLF001 - one of us
        urls = (url for url in self.truth.urls if url not in other._lists)  # noqa: SLF001
        other._refused = frozenset(url for url in urls if other.rules.refusal(url))  # noqa: SLF001
        differs = other._refused or not np.array_equal(other._admitted, self._admitted)  # noqa: SLF001
        return other if differs else None

    @property
    def definition(self) -> str:
        """Say in words what counts as a target here."""
        if self._types is None:
            return "the archive's own labels"
        return self._types.name

    def span(self) -> tuple[float, float] | None:
        """Return when the first and the last capture of the archive was made; None where it is not known."""
        return self._archive.span()

    def respond(
        self, request: Request, now: float | None = None, observed: dict[str, float] | None = None
    ) -> Outcome:
        """Answer a request as the site would have; what the rules forbid is refused, as it is live.

        ``now`` is for a history: the answer is that of this time. ``observed`` is kept by a run, and by it
        alone: the moment of the last capture that it got of each URL. If that still holds, it gets
        `Unchanged`.
        """
        moment = self._as_of if now is None else now
        entry = self._archive.entry(request.url) if moment is None else self._entry(request.url, moment)
        if entry is None and is_query(request.url):
            return self._engines.respond(request.url, self.rules)
        number = self.truth.number_of.get(request.url)
        if entry is None or number is None or request.url in self._refused:
            refusal = self.rules.refusal(request.url)
            if refusal is not None:
                return Refused(refusal.value)
        if entry is None:
            return Failure(_NOT_FOUND, 0, "not in the archive")
        # What the truth says of the URL holds at the moment that it was explored at.
        kind = self.kind(entry) if number is None or now is not None else self.truth.kinds[number]
        if observed is not None and request.method is Method.GET and _is_observed(entry, kind, observed):
            return Unchanged(_NOT_MODIFIED, 0)
        if kind is Kind.PAGE and request.method is Method.HEAD and self._is_read_by_content(entry):
            # No header says that it is a sitemap or a feed.
            kind = Kind.OTHER
        return self._answer(entry, kind, request, None if moment is None else entry.moment)

    def _entry(self, url: str, moment: float | None) -> Entry | None:
        entry = self._archive.entry(url, moment)
        if entry is None and moment is not None:
            return next(iter(self._archive.captures(url)), None)
        return entry

    def _answer(self, entry: Entry, kind: Kind, request: Request, moment: float | None) -> Outcome:
        if kind is Kind.PAGE:
            return self._page(entry, request.method, moment)
        size = entry.size_bytes if request.method is Method.GET else 0
        if kind is Kind.TARGET:
            return Target(entry.status, size, essence(entry.media_type))
        if kind is Kind.REDIRECT:
            return _redirect(entry, size)
        if kind is Kind.OTHER:
            return Other(entry.status, size, essence(entry.media_type))
        return Failure(entry.status, 0, f"status {entry.status}" if entry.status else "no response")

    def kind(self, entry: Entry) -> Kind:
        """Return the kind of an archived URL, under the definition of targets in force."""
        if entry.url in self._lists or self._is_read_by_content(entry):
            return Kind.PAGE
        return kind_of(entry, self._types)

    def _is_read_by_content(self, entry: Entry) -> bool:
        """Tell whether this is a sitemap or a feed that is not wanted as a target; a label decides first."""
        return (
            is_xml(entry.media_type)
            and entry.url not in self._lists
            and (entry.kind is None or self._types is not None)
            and kind_of(entry, self._types) is Kind.OTHER
            and self._cache.holds(entry.url)
        )

    def _read_list(self, url: str) -> Outcome:
        """Read a list address that is not HTML and keep what it lists; return what a crawl would observe."""
        entry = self._entry(url, self._as_of)
        if entry is None:
            return Failure(_NOT_FOUND, 0, "not in the archive")
        if kind_of(entry, self._types) is Kind.REDIRECT:
            return _redirect(entry, entry.size_bytes)
        moment = None if self._as_of is None else entry.moment
        found = self._links_of_list(entry, moment)
        if found is None and self._shortcuts is not None and kind_of(entry, self._types) is Kind.PAGE:
            self._offers[url] = ()
            links = self._offered(entry, moment, NO_LINKS)
            self._offers[url] = links.urls
            return Page(entry.status, entry.size_bytes, links)
        if found is None:
            return Other(entry.status, entry.size_bytes, essence(entry.media_type))
        self._lists[url] = found
        return Page(entry.status, entry.size_bytes, found)

    def _links_of_list(self, entry: Entry, moment: float | None) -> PageLinks | None:
        """Read the links of a list; None if it is not a list."""
        url, kind = entry.url, kind_of(entry, self._types)
        form: Format | None = None
        body = b""
        if is_missing_robots(url, entry.status, is_list=True):
            form = Format.ROBOTS
        elif kind is not Kind.BROKEN and (kind is not Kind.PAGE or is_robots(url)):
            with suppress(ArchiveError):
                body = self._archive.body(url, moment)
                api = self._reader.reads_api(url)
                form = format_of(
                    url, entry.media_type, body, is_list=True, wanted=kind is Kind.TARGET, api=api
                )
        if form is None:
            return None
        headers = self._archive.record(url, moment).headers if form is Format.API else ()
        return self._reader.read(form, body, url, entry.media_type, headers).links

    def _offered(self, entry: Entry, moment: float | None, links: PageLinks) -> PageLinks:
        """Put what a page offers beside its links before them, if there are shortcuts."""
        if self._shortcuts is None:
            return links
        try:
            record = self._archive.record(entry.url, moment)
        except ArchiveError as error:
            self.remarks.setdefault(entry.url, f"{entry.url}: {error}")
            return links
        is_list = entry.url in self._offers
        body = record.body or b""
        page = self._reader.with_offers(ReadPage(links), body, entry.url, record.headers, is_list=is_list)
        return page.links

    def _listed(self, entry: Entry, moment: float | None) -> PageLinks:
        """Return what a list address lists, at a moment of a history if there is one."""
        if moment is None:
            return self._lists[entry.url]
        return self._links_of_list(entry, moment) or NO_LINKS

    def page_text(self, url: str) -> str:
        """Return what a reader sees of a page; empty where there is no such page or it cannot be read."""
        entry = self._entry(url, self._as_of)
        if entry is None:
            return ""
        return str(self._facts(entry, None if self._as_of is None else entry.moment)["text"])

    def _facts(self, entry: Entry, moment: float | None) -> Facts:
        def body() -> bytes:
            try:
                return self._archive.body(entry.url, moment)
            except ArchiveError as error:
                self.remarks.setdefault(entry.url, f"{entry.url}: {error}")
                return b""

        return LazyFacts(body, entry.media_type)

    def _page(self, entry: Entry, method: Method, moment: float | None) -> Outcome:
        if method is Method.HEAD:
            return Page(entry.status, 0, NO_LINKS)
        page = self._page_of(entry, moment)
        if self._goal is None or not isinstance(page, Page):
            return page
        key = entry.url if moment is None else (entry.url, moment)
        if key not in self._relevant:
            self._relevant[key] = self._goal(page.facts)
        return replace(page, relevant=self._relevant[key])

    def relevant_pages(self) -> list[int]:
        """Return the numbers of the pages that meet the goal; empty without one."""
        if self._goal is None:
            return []
        found = []
        for number, (url, kind) in enumerate(zip(self.truth.urls, self.truth.kinds, strict=True)):
            page = self.respond(Request(0, Method.GET, url)) if kind is Kind.PAGE else None
            if isinstance(page, Page) and page.relevant:
                found.append(number)
        return found

    def _page_of(self, entry: Entry, moment: float | None) -> Outcome:
        is_list = entry.url in self._lists
        if is_list or (self._use_link_cache and not is_query(entry.url)):
            key = entry.url if moment is None else (entry.url, moment)
            page = self._pages.get(key)
            if page is None:
                links = self._listed(entry, moment) if is_list else self._cached_links(entry, moment)
                page = Page(entry.status, entry.size_bytes, links, self._facts(entry, moment))
                self._pages[key] = page
            return page
        try:
            body = self._archive.body(entry.url, moment)
        except ArchiveError as error:
            self.remarks.setdefault(entry.url, f"{entry.url}: {error}")
            return Failure(entry.status, 0, str(error))
        form = Format.HITS if is_query(entry.url) else Format.HTML
        if self._is_read_by_content(entry):
            form = format_of(entry.url, entry.media_type, body, is_list=False, wanted=False) or form
        offers = entry.url in self._offers
        headers = () if self._shortcuts is None else self._archive.record(entry.url, moment).headers
        read = self._reader.read(form, body, entry.url, entry.media_type, headers, is_list=offers)
        return Page(entry.status, entry.size_bytes, read.links, LazyFacts(lambda: body, entry.media_type))

    def _cached_links(self, entry: Entry, moment: float | None) -> PageLinks:
        numbers = self._link_numbers(entry, moment)
        targets = self._cache.link_urls(numbers)
        kept = self._admitted[targets]
        links = _CachedLinks(self._cache, self._names[targets[kept]].tolist(), numbers[kept])
        return self._offered(entry, moment, links)

    def _link_numbers(self, entry: Entry, moment: float | None) -> npt.NDArray[np.int32]:
        if moment is None or entry == self._archive.entry(entry.url):
            return self._cache.link_numbers(entry.url)
        return self._cache.older_link_numbers(entry.url, moment)

    def _explore(self) -> SiteTruth:
        """Number everything that can be reached from the starts, breadth-first in document order."""
        cache = self._cache
        # URLs in the cache have a number there; others (locations of redirects) are known by name only.
        urls = list(dict.fromkeys(self.start_urls))
        number_of = {url: number for number, url in enumerate(urls)}
        parent = [-1] * len(urls)
        kinds: list[Kind] = []
        sizes: list[int] = []
        children: list[npt.NDArray[np.int32]] = []
        waiting = deque(range(len(urls)))
        while waiting:
            number = waiting.popleft()
            url = urls[number]
            entry = self._entry(url, self._as_of)
            kind = Kind.BROKEN if entry is None else self.kind(entry)
            kinds.append(kind)
            sizes.append(entry.size_bytes if entry is not None and kind is not Kind.BROKEN else 0)
            names: list[str] = []
            if url in self._lists:
                names = list(dict.fromkeys(self._lists[url].urls))
            elif kind is Kind.PAGE and entry is not None:
                moment = None if self._as_of is None else entry.moment
                targets = cache.link_urls(self._link_numbers(entry, moment))
                linked = self._names[targets[self._admitted[targets]]].tolist()
                names = list(dict.fromkeys((*self._offers.get(url, ()), *linked)))
            elif kind is Kind.REDIRECT and entry is not None:
                location = resolve(url, entry.location)
                names = [location] if location is not None and self.rules.refusal(location) is None else []
            found = []
            for name in names:
                child = number_of.setdefault(name, len(urls))
                if child == len(urls):
                    urls.append(name)
                    parent.append(number)
                    waiting.append(child)
                found.append(child)
            children.append(np.array(found, np.int32))
        return SiteTruth(
            urls, kinds, np.array(sizes, np.int64), children, np.array(parent, np.int32), number_of
        )


class _CachedLinks:
    """Links of a page out of the cache (`coati.model.PageLinks`)."""

    __slots__ = ("_cache", "_numbers", "urls")

    title = ""  # a replay never needs what names a link to people

    def __init__(self, cache: LinkCache, urls: list[str], numbers: npt.NDArray[np.int32]) -> None:
        self.urls = urls
        self._cache = cache
        self._numbers = numbers

    def link(self, index: int) -> Link:
        return self._cache.link(int(self._numbers[index]))

    def nearby_text(self, index: int) -> NearbyText:
        return NearbyText()


def _is_observed(entry: Entry, kind: Kind, observed: dict[str, float]) -> bool:
    """Tell whether this capture is the last that a run got; else note that it is now."""
    if kind is Kind.REDIRECT or kind is Kind.BROKEN:
        # Servers say "not modified" of what they would give, and of nothing else.
        observed.pop(entry.url, None)
        return False
    moment = entry.moment
    before = observed.get(entry.url)
    observed[entry.url] = moment
    return before == moment


def _redirect(entry: Entry, size_bytes: int) -> Outcome:
    location = resolve(entry.url, entry.location)
    if location is None:
        return Failure(entry.status, size_bytes, "redirect without a usable location")
    return Redirect(entry.status, size_bytes, location)


def _start_url(archive: Archive, wanted: str) -> str:
    url = normalise(wanted)
    if url is None:
        raise UsageError(f"not a URL: {wanted!r}")
    if archive.entry(url) is None:
        made_from = archive.meta.start_url
        raise UsageError(
            f"the start URL {url} is not in the archive {archive.meta.name}, made from {made_from}"
        )
    return url
