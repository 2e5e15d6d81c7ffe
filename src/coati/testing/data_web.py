"""A generated web of many sites with a search engine over it, for experiments with discovery.

There are repositories of a topic and of other topics, sites that talk about data and have none, ordinary
sites, and hubs that list sites. Pages are made when they are asked for, as outcomes: words, links, files, no
HTML. What each page holds follows from the seed alone.

The knobs were fitted to one thing: how many dataset pages the single-action variants of DSDD find relative to
each other (Table 1 of the paper), and to the sizes of its topics. They were frozen before anything else was
run on this web.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from coati.model import Failure, Link, LinkList, Page, Refused
from coati.web.out_links import with_out_links
from coati.web.page_words import words_in
from coati.web.queries import Ability, parse_query
from coati.web.urls import host_of, is_query

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coati.model import Outcome, Request

_DATA_WORDS = [
    "data",
    "dataset",
    "datasets",
    "download",
    "csv",
    "catalogue",
    "metadata",
    "statistics",
    "table",
    "tables",
    "series",
    "records",
    "open",
    "portal",
    "archive",
    "files",
    "resources",
    "api",
    "licence",
    "repository",
    "survey",
    "indicators",
    "query",
    "export",
    "format",
]
_HITS_PER_PAGE = 50
_TAG_PATH = ("html", "body", "a")


@dataclass(frozen=True, slots=True)
class DataWebKnobs:
    """What a generated web is like; the numbers of sites are those of one topic."""

    repositories: int = 60
    other_repositories: int = 60
    decoys: int = 120
    ordinary: int = 400
    hubs: int = 12
    # Of the links of a repository to other sites, the share that leads to repositories of its topic.
    links_to_own_kind: float = 0.45
    # The share of its topic's repositories that a hub lists.
    hub_coverage: float = 0.12
    # How much chance there is in the order of keyword results and of related pages.
    keyword_noise: float = 0.35
    related_noise: float = 0.3
    # Of the dataset files of a repository, how deep below its front page they stand: shares of 1, 2 and 3.
    depths: tuple[float, float, float] = (0.3, 0.45, 0.25)


@dataclass(slots=True)
class MadeSite:
    """A site of the web; ``words`` are those of its front page."""

    host: str
    kind: str
    topic: int
    words: dict[str, int]
    pages: int
    files_per_page: int
    depth: int
    links: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Its front page."""
        return f"http://{self.host}/"

    @property
    def is_repository(self) -> bool:
        """Whether it holds data."""
        return self.kind == "repository"


class DataWeb:
    """Answers requests; ``topic`` 0 is the one that is searched for, in the words `topic_words`."""

    topic_words = "flood risk"
    engine = "web"

    def __init__(self, knobs: DataWebKnobs, seed: int) -> None:
        self._knobs = knobs
        self._rng = Random(seed)
        self._seed = seed
        self.sites: dict[str, MadeSite] = {}
        self._vocabulary()
        self._make_sites()
        self._link_sites()
        self._index()

    # The sites

    def _vocabulary(self) -> None:
        self._general = [f"word{_letters(number)}" for number in range(600)]
        self._topics = [
            [*words_in(self.topic_words), *(f"topic{_letters(number)}" for number in range(60))],
            *([f"other{_letters(kind)}{_letters(number)}" for number in range(60)] for kind in range(3)),
        ]

    def _make_sites(self) -> None:
        knobs = self._knobs
        for number in range(knobs.repositories):
            self._add(f"repo{number}.test", "repository", 0)
        for number in range(knobs.other_repositories):
            self._add(f"data{number}.test", "repository", 1 + number % 3)
        for number in range(knobs.decoys):
            self._add(f"talk{number}.test", "decoy", 0 if number % 2 else 1 + number % 3)
        for number in range(knobs.ordinary):
            self._add(f"site{number}.test", "ordinary", number % 4)
        for number in range(knobs.hubs):
            self._add(f"hub{number}.test", "hub", 0 if number % 2 else 1 + number % 3)

    def _add(self, host: str, kind: str, topic: int) -> None:
        rng = self._rng
        about, data = {
            "repository": (22, 24),
            "decoy": (20, 15),
            "ordinary": (7, 2),
            "hub": (10, 7),
        }[kind]
        # A site talks about some aspects of its topic, and the topic's own name is often not among them.
        aspects = rng.sample(self._topics[topic], 14)
        words = Counter(self._zipf(aspects, about) + self._zipf(_DATA_WORDS, data))
        words.update(self._zipf(self._general, 70))
        if topic == 0 and rng.random() < (0.45 if kind == "repository" else 0.3):
            words.update(words_in(self.topic_words))
        depth = rng.choices((1, 2, 3), self._knobs.depths)[0]
        pages = max(4, min(120, round(rng.lognormvariate(3.0, 0.8))))
        self.sites[host] = MadeSite(host, kind, topic, dict(words), pages, rng.randint(1, 6), depth)

    def _zipf(self, words: list[str], count: int) -> list[str]:
        weights = [1 / (place + 3) for place in range(len(words))]
        return self._rng.choices(words, weights, k=count)

    def _link_sites(self) -> None:
        rng, knobs = self._rng, self._knobs
        by_topic = defaultdict(list)
        for site in self.sites.values():
            if site.is_repository:
                by_topic[site.topic].append(site.url)
        everything = [site.url for site in self.sites.values()]
        for site in self.sites.values():
            if site.kind == "hub":
                own = [url for url in by_topic[site.topic] if rng.random() < knobs.hub_coverage]
                site.links = [*own, *rng.sample(everything, 12)]
                rng.shuffle(site.links)
            else:
                share = knobs.links_to_own_kind if site.is_repository else 0.02
                site.links = [
                    rng.choice(by_topic[site.topic] if rng.random() < share else everything)
                    for _ in range(rng.randint(2, 9))
                ]

    # The engine

    def _index(self) -> None:
        self._urls = sorted(site.url for site in self.sites.values())
        places = {url: place for place, url in enumerate(self._urls)}
        with_word: dict[str, list[tuple[int, float]]] = defaultdict(list)
        self._backlinks: dict[str, list[str]] = defaultdict(list)
        for site in self.sites.values():
            for word, count in site.words.items():
                with_word[word].append((places[site.url], count / (count + 1.0)))
            for url in site.links:
                self._backlinks[host_of(url)].append(site.url)
        count = len(self.sites)
        self._idf = {word: math.log(1 + count / len(pages)) for word, pages in with_word.items()}
        self._with = {
            word: (np.array([place for place, _ in pages]), np.array([share for _, share in pages]))
            for word, pages in with_word.items()
        }

    def _found(self, words: Mapping[str, float], noise: float, salt: str) -> list[str]:
        scores = np.zeros(len(self._urls))
        for word, weight in words.items():
            if word in self._with:
                places, shares = self._with[word]
                scores[places] += weight * shares * self._idf[word]
        found = np.flatnonzero(scores)
        shares_of_best = (scores[found] / scores.max(initial=0.0)).tolist()
        chance = Random(f"{self._seed} {salt}")
        urls = (self._urls[place] for place in found.tolist())
        ranked = [
            (share + noise * chance.random(), url) for share, url in zip(shares_of_best, urls, strict=True)
        ]
        return [url for _, url in sorted(ranked, reverse=True)]

    def _hits(self, address: str) -> Page:
        query = parse_query(address)
        if query.ability is Ability.BACKLINKS:
            found = list(dict.fromkeys(self._backlinks.get(host_of(query.text), [])))
        elif query.ability is Ability.RELATED:
            site = self.sites.get(host_of(query.text))
            known = {} if site is None else site.words
            weights = {word: min(count, 3) / 3 for word, count in known.items()}
            found = self._found(weights, self._knobs.related_noise, query.text)
        else:
            weights = dict.fromkeys(words_in(query.text), 1.0)
            found = self._found(weights, self._knobs.keyword_noise, query.text)
        first = (query.page - 1) * _HITS_PER_PAGE
        links = [Link(url, ("search", "web", "hit")) for url in found[first : first + _HITS_PER_PAGE]]
        return Page(200, 1000, LinkList(links))

    # The pages

    def respond(self, request: Request) -> Outcome:
        """Return what comes of a request, with all out-links."""
        if is_query(request.url):
            return with_out_links(self._hits(request.url))
        site = self.sites.get(host_of(request.url))
        if site is None:
            return Refused("no such site")
        path = request.url.removeprefix(site.url)
        if not path:
            links = [*(f"{site.url}{name}" for name in self._children(site, "")), *site.links]
            return self._page(links, site.words)
        if not path.startswith("s"):
            return Failure(404, 0, "status 404")
        return self._page([*self._inner_links(site, path), site.url], self._inner_words(site, path))

    def _children(self, site: MadeSite, path: str) -> list[str]:
        """Name the pages below one; the pages of a site are spread over its depth."""
        level = path.count("/") + 1 if path else 0
        if level >= site.depth:
            return []
        width = max(2, round(site.pages ** (1 / site.depth)))
        stem = f"{path}/" if path else ""
        words = ("s-data", "s-about", "s-news", "s-download", "s-team")
        return [f"{stem}{words[number % len(words)]}-{number}" for number in range(width)]

    def _inner_links(self, site: MadeSite, path: str) -> list[str]:
        links = [f"{site.url}{name}" for name in self._children(site, path)]
        level = path.count("/") + 1
        holds = "data" in path.rpartition("/")[2] or "download" in path.rpartition("/")[2]
        if site.is_repository and level >= site.depth and holds:
            links += [f"{site.url}files/{path.replace('/', '-')}-{n}.csv" for n in range(site.files_per_page)]
        return links

    def _inner_words(self, site: MadeSite, path: str) -> dict[str, int]:
        chance = Random(f"{self._seed} {site.host} {path}")
        names = list(site.words)
        return dict(Counter(chance.choices(names, [site.words[name] for name in names], k=40)))

    def _page(self, links: list[str], words: dict[str, int]) -> Page:
        facts = {"words": {"title": "", "words": words}, "dataset_markup": []}
        made = LinkList([Link(url, _TAG_PATH) for url in links])
        return with_out_links(Page(200, 5000, made, facts))

    @property
    def hosts(self) -> int:
        """How many sites there are."""
        return len(self.sites)

    @property
    def repositories(self) -> int:
        """How many of them are repositories of the topic."""
        return self._knobs.repositories

    def front_page(self, host: str) -> str:
        """Return the address of a site."""
        return self.sites[host].url

    def is_repository(self, host: str) -> bool:
        """Tell whether a site holds data."""
        return self.sites[host].is_repository

    def on_topic(self, host: str) -> bool:
        """Tell whether a site is about what is searched for."""
        return self.sites[host].topic == 0

    def dataset_pages_of(self, host: str) -> int:
        """Count the pages of a site that link to files."""
        site = self.sites[host]
        waiting, found = [""], 0
        while waiting:
            path = waiting.pop()
            found += bool(path) and any(url.endswith(".csv") for url in self._inner_links(site, path))
            waiting += self._children(site, path)
        return found

    def examples(self, count: int = 60) -> list[tuple[dict[str, int], bool]]:
        """Make labelled pages of other topics, what a classifier begins with."""
        rng = Random(f"{self._seed} examples")
        pages: list[tuple[dict[str, int], bool]] = []
        for number in range(count):
            topic = self._topics[1 + number % 3]
            for data, label in ((24, True), (3, False)):
                words = rng.choices(topic, k=18) + rng.choices(_DATA_WORDS, k=data)
                pages.append((dict(Counter(words + rng.choices(self._general, k=70))), label))
        return pages


def _letters(number: int) -> str:
    """Write a number in letters: words have no digits."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))
