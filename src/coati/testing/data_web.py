"""A generated web of many sites with a search engine over it, for experiments with discovery.

There are repositories of a topic and of other topics, portals that give no files away, sites that talk about
data and have none, ordinary sites, and hubs that list sites. A part of the sites about other things writes of
the topic too. Pages are made when they are requested, as outcomes: words, links, files, no HTML. What each
page holds follows from the seed alone.

Decision 79 says what its parameters were fitted to, and when they were frozen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from coati.model import Failure, Link, LinkList, Page, Refused
from coati.testing.data_web_engine import WebEngine
from coati.testing.data_web_kinds import SiteKind
from coati.testing.data_web_links import draw_links
from coati.testing.data_web_words import WebWords, draw_words, letters
from coati.web.out_links import with_out_links
from coati.web.page_words import words_in
from coati.web.queries import Ability, parse_query
from coati.web.urls import host_of, is_query

if TYPE_CHECKING:
    from coati.model import Outcome, Request
    from coati.testing.data_web_kinds import DataWebParameters
    from coati.testing.data_web_rows import Numbers

_TAG_PATH = ("html", "body", "a")
# Of the portals in the registry (19,569), those with "data" in the name of the host.
_NAMED_DATA = 0.26
# Pages of a site: the mean of the logarithm by kind, its spread, and the least and most.
_PAGES, _PAGES_SPREAD, _LEAST_PAGES, _MOST_PAGES = (3.0, 4.2, 3.0, 3.0, 3.0), 0.8, 4, 200
_MOST_FILES_PER_PAGE = 6
_WORDS_INSIDE = 40
# How unequally links are spread over sites: of the logarithm of what draws them.
_FAME_SPREAD = 1.2


@dataclass(frozen=True, slots=True)
class DataWebSite:
    """A site of the web."""

    number: int
    host: str
    kind: SiteKind
    topic: int
    pages: int
    files_per_page: int
    depth: int

    @property
    def url(self) -> str:
        """Its front page."""
        return f"http://{self.host}/"

    @property
    def is_repository(self) -> bool:
        """Whether it holds data."""
        return self.kind is SiteKind.REPOSITORY


class DataWeb:
    """Answers requests; ``topic`` 0 is the one that is searched for, in the words `topic_words`."""

    topic_words = "flood risk"
    engine = "web"

    def __init__(self, parameters: DataWebParameters, seed: int) -> None:
        self._parameters = parameters
        self._seed = seed
        rng = np.random.default_rng(seed)
        self._kind, self._topic = _kinds_and_topics(parameters, rng)
        count = len(self._kind)
        pages = rng.lognormal(np.array(_PAGES)[self._kind], _PAGES_SPREAD)
        self._pages = np.rint(pages).clip(_LEAST_PAGES, _MOST_PAGES)
        self._files_per_page = rng.integers(1, _MOST_FILES_PER_PAGE, count, endpoint=True)
        self._depth = rng.choice((1, 2, 3), count, p=np.array(parameters.depths) / sum(parameters.depths))
        named_data = (self._kind == SiteKind.REPOSITORY) & (rng.random(count) < _NAMED_DATA)
        self._hosts = [
            f"{'data.' if named else ''}site{letters(number)}.test"
            for number, named in enumerate(named_data.tolist())
        ]
        self._number_of = {host: number for number, host in enumerate(self._hosts)}
        self._vocabulary = WebWords(words_in(self.topic_words), parameters.topics)
        self._words = draw_words(self._vocabulary, self._kind, self._topic, parameters.mentions, rng)
        # It counts as on the topic that a site is about it, or that it writes of it in the user's words.
        with_word = self._words.turned(len(self._vocabulary.names))
        calling = [np.isin(np.arange(count), with_word.row(int(word))) for word in self._vocabulary.called]
        self._on_topic = (self._topic == 0) | np.logical_and.reduce(calling)
        fame = rng.lognormal(0.0, _FAME_SPREAD, count)
        self._links = draw_links(parameters.fitted, self._kind, self._topic, fame, rng)
        self._engine = WebEngine(parameters, self._words, self._vocabulary.names, self._links, seed)

    # The pages

    def respond(self, request: Request) -> Outcome:
        """Return what comes of a request, with all out-links."""
        if is_query(request.url):
            return with_out_links(self._hits(request.url))
        number = self._number_of.get(host_of(request.url))
        if number is None:
            return Refused("no such site")
        site = self._site(number)
        path = request.url.removeprefix(site.url)
        if not path:
            links = [f"{site.url}{name}" for name in self._children(site, "")]
            return self._page([*links, *self.links_of(site.host)], self.words_of(site.host))
        if not path.startswith("s"):
            return Failure(404, 0, "status 404")
        return self._page([*self._inner_links(site, path), site.url], self._inner_words(site, path))

    def _hits(self, address: str) -> Page:
        query = parse_query(address)
        about_site = query.ability is not Ability.KEYWORDS
        site = self._number_of.get(host_of(query.text)) if about_site else None
        found = self._engine.hits(query, site)
        links = [Link(self.front_page(self._hosts[number]), ("search", "web", "hit")) for number in found]
        return Page(200, 1000, LinkList(links))

    def _site(self, number: int) -> DataWebSite:
        return DataWebSite(
            number,
            self._hosts[number],
            SiteKind(int(self._kind[number])),
            int(self._topic[number]),
            int(self._pages[number]),
            int(self._files_per_page[number]),
            int(self._depth[number]),
        )

    def _children(self, site: DataWebSite, path: str) -> list[str]:
        """Name the pages below one; the pages of a site are spread over its depth."""
        level = path.count("/") + 1 if path else 0
        if level >= site.depth:
            return []
        width = max(2, round(site.pages ** (1 / site.depth)))
        stem = f"{path}/" if path else ""
        words = ("s-data", "s-about", "s-news", "s-download", "s-team")
        return [f"{stem}{words[number % len(words)]}-{number}" for number in range(width)]

    def _inner_links(self, site: DataWebSite, path: str) -> list[str]:
        links = [f"{site.url}{name}" for name in self._children(site, path)]
        level = path.count("/") + 1
        holds = "data" in path.rpartition("/")[2] or "download" in path.rpartition("/")[2]
        if site.is_repository and level >= site.depth and holds:
            links += [f"{site.url}files/{path.replace('/', '-')}-{n}.csv" for n in range(site.files_per_page)]
        return links

    def _inner_words(self, site: DataWebSite, path: str) -> dict[str, int]:
        chance = Random(f"{self._seed} {site.host} {path}")
        numbers = self._words.row(site.number).tolist()
        drawn = chance.choices(numbers, self._words.counts_of(site.number).tolist(), k=_WORDS_INSIDE)
        return {self._vocabulary.names[number]: count for number, count in Counter(drawn).items()}

    def _page(self, links: list[str], words: dict[str, int]) -> Page:
        facts = {"words": {"title": "", "words": words}, "dataset_markup": []}
        made = LinkList([Link(url, _TAG_PATH) for url in links])
        return with_out_links(Page(200, 5000, made, facts))

    # What there is

    @property
    def hosts(self) -> int:
        """How many sites there are."""
        return len(self._hosts)

    @property
    def repositories(self) -> int:
        """How many of them are repositories with something on the topic."""
        return int(np.sum(self._on_topic & (self._kind == SiteKind.REPOSITORY)))

    def sites(self) -> list[DataWebSite]:
        """Return all sites."""
        return [self._site(number) for number in range(len(self._hosts))]

    def words_of(self, host: str) -> dict[str, int]:
        """Return the words of a site's front page, with how often each stands there."""
        number = self._number_of[host]
        names = self._vocabulary.names
        pairs = zip(self._words.row(number).tolist(), self._words.counts_of(number).tolist(), strict=True)
        return {names[word]: count for word, count in pairs}

    def links_of(self, host: str) -> list[str]:
        """Return the front pages that a site links to; the order says nothing."""
        number = self._number_of[host]
        links = self._links.row(number).tolist()
        Random(f"{self._seed} {host} links").shuffle(links)
        return [self.front_page(self._hosts[link]) for link in links]

    def front_page(self, host: str) -> str:
        """Return the address of a site."""
        return f"http://{host}/"

    def is_repository(self, host: str) -> bool:
        """Tell whether a site holds data."""
        return bool(self._kind[self._number_of[host]] == SiteKind.REPOSITORY)

    def on_topic(self, host: str) -> bool:
        """Tell whether a site is about what is searched for, or writes of it."""
        return bool(self._on_topic[self._number_of[host]])

    def dataset_pages_of(self, host: str) -> int:
        """Count the pages of a site that link to files."""
        site = self._site(self._number_of[host])
        waiting, found = [""], 0
        while waiting:
            path = waiting.pop()
            found += bool(path) and any(url.endswith(".csv") for url in self._inner_links(site, path))
            waiting += self._children(site, path)
        return found

    def examples(self, count: int = 60) -> list[tuple[dict[str, int], bool]]:
        """Make labelled pages of other topics, what a classifier begins with."""
        rng = Random(f"{self._seed} examples")
        names = self._vocabulary.names
        topics = [[names[word] for word in words] for words in self._vocabulary.topics[1:]]
        general = [names[word] for word in self._vocabulary.general]
        data_words = [names[word] for word in self._vocabulary.data]
        pages: list[tuple[dict[str, int], bool]] = []
        for number in range(count):
            for data, label in ((36, True), (4, False)):
                words = rng.choices(topics[number % len(topics)], k=18) + rng.choices(data_words, k=data)
                pages.append((dict(Counter(words + rng.choices(general, k=70))), label))
        return pages


def _kinds_and_topics(parameters: DataWebParameters, rng: np.random.Generator) -> tuple[Numbers, Numbers]:
    """Draw what each site is and is about, in an order that says nothing."""
    repositories = parameters.repositories + parameters.other_repositories
    counts = (repositories, parameters.closed, parameters.decoys, parameters.ordinary, parameters.hubs)
    kinds, topics = [], []
    for kind, count in zip(SiteKind, counts, strict=True):
        on_topic = max(1, round(count * parameters.repositories / repositories))
        kinds.append(np.full(count, kind))
        others = 1 + np.arange(count - on_topic) % (parameters.topics - 1)
        topics.append(np.concatenate([np.zeros(on_topic, int), others]))
    order = rng.permutation(sum(counts))
    return np.concatenate(kinds)[order], np.concatenate(topics)[order]
