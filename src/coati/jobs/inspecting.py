"""Which software a site runs and what it lists, in a few requests: what `coati inspect` shows.

The start page, robots.txt, the API of the software that the start page shows, and some sitemaps are
requested, politely and under the rules of a crawl, and nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import takewhile
from typing import Unpack

from coati.assembly import build_shortcuts
from coati.budget import Budget
from coati.errors import ConfigError
from coati.jobs.arguments import checked_arguments
from coati.jobs.notebook_tables import pairs_table
from coati.jobs.options import InspectOptions, plain_values
from coati.jobs.own_event_loop import run_with_own_loop
from coati.jobs.start_answers import StartAnswers, exit_code_of
from coati.jobs.starts_only import not_requested
from coati.live.stop_signal import StopSignal
from coati.model import Failure, Link, LinkList, Outcome, Page, PageLinks, Refused, Request, Settlement
from coati.readers.listed import is_api, names_list
from coati.settings.crawl_plan import CrawlResources, crawl_plan
from coati.settings.credentials import header_of_address
from coati.settings.run_file import read_values, with_values
from coati.settings.run_settings import RunSettings
from coati.shortcuts.recognition import Recognised, recognise
from coati.strategies.baselines.simple_orders import FrontierStrategy
from coati.strategies.frontier import Fifo
from coati.web.likely_extensions import likely_extensions
from coati.web.media import parse_types
from coati.web.urls import extension_of, normalise, with_scheme

FEW_REQUESTS = 12
"""How many requests an inspection may make by default."""

# How many requests a dry run may make: enough for a portal of five thousand data sets.
_INVENTORY_REQUESTS = 60
_MOST_SITEMAPS = 3
# The format that an API tells, behind the title: "Taxes (CSV)".
_FORM = re.compile(r"\(([^()]{1,60})\)\Z")
_WORD = re.compile(r"[a-z0-9]{2,12}\Z")
_CLOSED = frozenset({401, 403, 405, 451})
_MISSING = frozenset({404, 410})


@dataclass(slots=True)
class ListShown:
    """One list of files: where it comes from, and what was read of it.

    ``name`` is the beginning of its tag paths (``wordpress > application``), or ``sitemap``. ``more`` says
    that the list continues behind what was read.
    """

    name: str
    address: str
    answer: str = "not requested"
    pages: int = 0
    links: int = 0
    wanted: int = 0
    more: bool = False
    types: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Inspection:
    """What an inspection found; ``outcome`` is the result of the start URL, redirects followed."""

    url: str
    final_url: str
    outcome: Outcome
    requests: int
    links: int
    software: list[Recognised]
    lists: list[ListShown]
    broken: dict[str, str]

    @property
    def command(self) -> str:
        """The command to run next."""
        found = {shown.name for shown in self.lists if shown.wanted}
        if any(name != "sitemap" for name in found):
            return f"coati crawl {self.url}"
        return f"coati crawl {self.url} --sitemaps" if found else f"coati crawl {self.url}"

    @property
    def exit_code(self) -> int:
        """What the command ends with: 0, or 3 and 4 where the start page could not be fetched."""
        return exit_code_of(self.outcome)

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it."""
        return {
            "url": self.url,
            "final_url": self.final_url,
            "kind": self.outcome.kind.value,
            "status": getattr(self.outcome, "status", None),
            "requests": self.requests,
            "links": self.links,
            "software": [shown._asdict() for shown in self.software],
            "lists": [asdict(shown) for shown in self.lists],
            "broken": self.broken,
            "command": self.command,
        }

    def _repr_html_(self) -> str:
        if isinstance(self.outcome, Refused | Failure):
            return pairs_table(self.final_url, [("could not be inspected", self.outcome.reason)])
        pairs: list[tuple[str, object]] = [
            ("software", ", ".join(shown.title for shown in self.software) or "none that Coati knows"),
            ("links on the start page", f"{self.links:,}"),
            *((shown.name, f"{shown.links:,} addresses, {shown.wanted:,} wanted") for shown in self.lists),
            ("next", self.command),
        ]
        return pairs_table(self.final_url, pairs)


@checked_arguments
def inspect(url: str, **options: Unpack[InspectOptions]) -> Inspection:
    """Find out which software a site runs and what it lists, with a dozen requests.

    Other arguments are the settings of ``coati inspect`` (`coati.InspectOptions`). Raises
    `coati.errors.CoatiError` for wrong arguments; a site that fails is a result, not an error.
    """
    settings = with_values(RunSettings(), read_values(plain_values(options, InspectOptions.__annotations__)))
    return run_with_own_loop(lambda: inspect_site(url, settings), StopSignal())


def list_only(settings: RunSettings) -> Inspection:
    """Find out what the software of a site lists: a dry run of a crawl with ``shortcuts`` "only"."""
    wanted = settings if settings.max_requests else replace(settings, max_requests=_INVENTORY_REQUESTS)
    return inspect_site(settings.url, wanted)


def inspect_site(url: str, settings: RunSettings) -> Inspection:
    """Inspect a site's start page and lists, with at most ``max_requests`` requests."""
    start = normalise(with_scheme(url))
    if start is None:
        raise ConfigError(f"{url!r} is not a URL: give one like https://www.example.org/")
    settings = replace(settings, urls=(start,))
    header = header_of_address(url)
    if header is not None:
        settings = replace(settings, header=(*settings.header, header))
    # Scrapy takes a second to import, and nobody who reads the help should wait for it.
    from coati.live.running import crawl

    with_lists = replace(settings, sitemaps=True)
    answers = StartAnswers()
    plan = crawl_plan(with_lists, CrawlResources(on_fetched=answers.take))
    mode = "only" if settings.shortcuts == "only" else "auto"
    shortcuts = build_shortcuts(mode, profiles=settings.profile)
    strategy = _ListsOnly(with_lists.start_urls)
    budget = Budget(max_requests=settings.max_requests or FEW_REQUESTS)
    result = crawl(
        replace(
            plan,
            new_strategy=lambda: strategy,
            shortcuts=shortcuts,
            budget=budget,
            defers=False,
            finishes=False,
        )
    )
    answers.otherwise = not_requested(result)
    final_url, reading, _ = answers.of(settings.url)
    software = recognise(final_url, reading.headers, reading.body or b"")
    return Inspection(
        url=settings.url,
        final_url=final_url,
        outcome=reading.outcome,
        requests=result.progress.requests,
        links=strategy.start_links,
        software=list(software),
        lists=_lists(strategy, likely_extensions(parse_types(settings.types))),
        broken={} if shortcuts is None else dict(shortcuts.broken),
    )


class _ListsOnly(FrontierStrategy):
    """Requests the start URLs, and what they and further lists name as lists."""

    def __init__(self, start_urls: Sequence[str]) -> None:
        super().__init__(start_urls, Fifo())
        self._urls: dict[int, str] = {}
        self._sitemaps = 0
        # The tag path of each list that was named, and what came of it.
        self.named: dict[str, tuple[str, ...]] = {}
        self.answers: dict[str, Outcome] = {}
        self.start_links = 0

    def _request(self, number: int) -> Request:
        request = super()._request(number)
        self._urls[request.id] = request.url
        return request

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Keep what came, and let only lists wait."""
        url = self._urls[request_id]
        self.answers[url] = outcome
        if isinstance(outcome, Page):
            if url not in self.named and not self.start_links:
                links = outcome.links
                offered = (is_api(links.link(place).tag_path) for place in range(len(links.urls)))
                self.start_links = len(links.urls) - sum(takewhile(bool, offered))
            outcome = replace(outcome, links=LinkList(self._further(outcome.links)))
        return super().observe(request_id, outcome, now)

    def _further(self, links: PageLinks) -> list[Link]:
        found = []
        for place, url in enumerate(links.urls):
            link = links.link(place)
            if not names_list(link.tag_path):
                break
            if not is_api(link.tag_path):
                self._sitemaps += 1
                if self._sitemaps > _MOST_SITEMAPS:
                    continue
            self.named.setdefault(url, link.tag_path)
            found.append(link)
        return found


def _lists(strategy: _ListsOnly, wanted: Collection[str]) -> list[ListShown]:
    shown: dict[str, ListShown] = {}
    types: dict[str, Counter[str]] = {}
    for url, path in strategy.named.items():
        name = " > ".join(path[:-1]) if is_api(path) else "sitemap"
        known = shown.setdefault(name, ListShown(name, url))
        outcome = strategy.answers.get(url)
        if not isinstance(outcome, Page):
            known.more = known.more or (outcome is None and known.pages > 0)
            known.answer = known.answer if known.pages else _answer(outcome)
            continue
        known.pages += 1
        known.answer = "read"
        for place, target in enumerate(outcome.links.urls):
            link = outcome.links.link(place)
            if names_list(link.tag_path):
                continue
            kind = type_of(link)
            known.links += 1
            known.wanted += kind in wanted
            types.setdefault(name, Counter())[kind or "page or unknown"] += 1
            if len(known.examples) < _MOST_SITEMAPS:
                known.examples.append(target)
    for name, counted in types.items():
        shown[name].types = dict(counted.most_common())
    return list(shown.values())


def _answer(outcome: Outcome | None) -> str:
    """Say in words why a list was not read."""
    if outcome is None:
        return "not requested: the budget was spent"
    if isinstance(outcome, Refused):
        return f"skipped: {outcome.reason}"
    status = getattr(outcome, "status", 0)
    if status in _CLOSED:
        return f"closed (status {status})"
    if status in _MISSING:
        return f"not there (status {status})"
    return outcome.reason if isinstance(outcome, Failure) else f"no list (status {status})"


def type_of(link: Link) -> str:
    """Return the type of a listed file, as an extension: the one of its URL, or the one that its list names.

    >>> from coati.model import Link
    >>> type_of(Link("http://a.test/x?id=1", ("ckan", "resource", "url"), "Taxes", "Taxes (CSV)"))
    'csv'
    """
    extension = extension_of(link.url)
    if extension:
        return extension
    media_type = _FORM.search(link.context)
    word = media_type[1].lower().rpartition("/")[2] if media_type else ""
    return word if _WORD.match(word) else ""
