"""A small web of many hosts, for tests: pages with links within their host and to others, some relevant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from coati.model import EVERY_HOST, Hosts, Link, LinkList, Outcome, Page, Request
from coati.strategies.hosts.known_labels import LabelledPage
from coati.strategies.hosts.page_features import FoundPage
from coati.strategies.strategy import Strategy

WORDS = ("shop", "item", "news", "about", "forum", "recipe", "list", "event")


@dataclass
class SmallWeb:
    """Pages by URL: whether each is relevant, and where it leads."""

    start_urls: list[str]
    pages: dict[str, tuple[bool, list[str]]]
    parents: dict[str, list[str]] = field(default_factory=dict)

    def respond(self, request: Request) -> Outcome:
        relevant, links = self.pages[request.url]
        return Page(200, 100, LinkList([Link(url, ("a",)) for url in links]), relevant=relevant)

    def relevant(self, url: str) -> bool:
        return self.pages[url][0]

    def sample(self, pages: int, seed: int) -> Iterator[LabelledPage]:
        chance = Random(seed)
        for url in chance.sample(sorted(self.pages), min(pages, len(self.pages))):
            parents = self.parents.get(url, [])
            parent = self.relevant(chance.choice(parents)) if parents else None
            yield LabelledPage(FoundPage(url, parent), self.relevant(url))


def small_web(hosts: int = 25, seed: int = 1) -> SmallWeb:
    """Make a web whose hosts are mostly rich or poor, and whose words tell a little."""
    chance = Random(seed)
    urls: list[list[str]] = []
    rich: dict[str, bool] = {}
    for host in range(hosts):
        share = chance.choice([0.05, 0.1, 0.9])
        own = []
        for page in range(int(chance.paretovariate(0.8)) % 40 + 1):
            good = chance.random() < share
            word = WORDS[(chance.randrange(4)) * 2 + (good if chance.random() < 0.7 else not good)]
            url = f"http://h{host}.example/{word}/{chance.choice(WORDS)}-{page + 100}"
            own.append(url)
            rich[url] = good
        urls.append(own)
    pages: dict[str, tuple[bool, list[str]]] = {}
    parents: dict[str, list[str]] = {}
    for own in urls:
        for number, url in enumerate(own):
            links = own[2 * number + 1 : 2 * number + 3]
            links += [chance.choice(chance.choice(urls)) for _ in range(3)]
            pages[url] = (rich[url], links)
            for link in links:
                parents.setdefault(link, []).append(url)
    return SmallWeb([own[0] for own in urls[:3]], pages, parents)


def crawl(
    strategy: Strategy, web: SmallWeb, requests: int = 10_000, hosts: Hosts = EVERY_HOST
) -> Iterator[Request]:
    """Ask, answer and tell, one request at a time."""
    for turn in range(requests):
        request = strategy.choose(float(turn), hosts)
        if not isinstance(request, Request):
            return
        yield request
        strategy.observe(request.id, web.respond(request), float(turn))
