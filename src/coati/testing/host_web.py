"""A made-up web of many hosts, of which some pages carry structured data. Nothing of a page is stored.

Each host has a size (a heavy tail, about 12 pages on average), a topic, an ending of its addresses, and a
sort: poor (hardly any page is marked up), rich (nearly all are), or mixed (some of its sections). Everything
about a page follows from the seed and its number: its address, its structured data, its links. A page links
to its children in its host, to the home page, to some pages of its host, and to pages of other hosts: to the
home page of any host, or to any page of the web. A crawl begins on large hosts more often than on small ones.

`coati.testing.web_parameters` says what the numbers are taken from.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING, Final

import numpy as np

from coati.model import Failure, Link, LinkList, Method, Page, Refused
from coati.strategies.chance import draw
from coati.strategies.hosts.known_labels import LabelledPage
from coati.strategies.hosts.page_features import FoundPage
from coati.testing.web_parameters import FittedShares, WebParameters
from coati.testing.web_words import ENDINGS, KINDS, TOPIC_WORDS, TOPICS, WORDS_PER_TOPIC
from coati.web.markup.goals import Goal, parse_goal

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from coati.model import Facts, Outcome, Request

POOR, RICH, MIXED = range(3)
_MIXED_HOSTS = 0.08
# How likely a page of a poor and of a rich host is marked up; in a mixed one it is its section's matter.
_MARKED = (0.004, 0.97)
_MARKED_SECTION_OF_THINGS, _MARKED_SECTION = 0.75, 0.2
# Sections that tell of single things, in poor, rich and mixed hosts.
_OF_THINGS = (0.38, 0.62, 0.5)
# How fast the share of rich hosts grows with their size.
_GROWTH = 0.2

_CHILDREN = 25
_MORE_LINKS = 3
_MOST_FOREIGN_LINKS = 3
_FIRST_INDEX = 1000
# Links to other hosts that stay among hosts of the same sort.
_ALIKE_LINKS = 0.3
_SECTIONS = 5
# Hosts of the balanced set, about: the paper's has 100 pages per host.
_LARGE = 50
_FINE = 1 << 40
# Answers that are kept, for the next crawl of the same web: some 300 MB.
_MOST_KEPT = 120_000
_TAG_PATH = ("html", "body", "a")
_ADDRESS = re.compile(r"http://[a-z]+(\d+)\.example/(?:[a-z]+/[a-z]+-[a-z]+-(\d+)(?:\.[a-z]+|/)?)?\Z")

# Syntaxes of rich hosts that are not chosen for Microdata, and the medians and spreads of their statements:
# as in a sample of 2,276 real pages.
_OTHER_SYNTAXES: Final = ((0.55, ("microformats",)), (0.86, ("rdfa",)), (1.0, ("rdfa", "microformats")))
_STATEMENTS: Final = {"microdata": (9.0, 1.27), "rdfa": (8.0, 0.7), "microformats": (2.5, 1.2)}
_JSON_LD_HOSTS, _OPEN_GRAPH_HOSTS = 0.67, 0.85


class HostWeb:
    """Answers requests for pages of a generated web; ``goal`` says which of them are relevant.

    >>> web = HostWeb(WebParameters.at_scale(0.001), seed=1)
    >>> web.hosts, web.pages > 4000, web.start_urls[0]
    (456, True, 'http://bupaka211.example/')
    """

    def __init__(self, parameters: WebParameters, seed: int = 0, goal: str = "classic") -> None:
        self._seed = seed
        self._goal: Goal = parse_goal(goal)
        chance = np.random.default_rng(seed)
        self.name = f"web of {parameters.hosts:,} hosts"
        self.sizes = _sizes(chance.random(parameters.hosts), parameters)
        # The number of the first page of each host, then that of all.
        self._offsets = np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)])
        topics = (chance.random(parameters.hosts) * TOPICS).astype(np.uint8)
        endings = (chance.random(parameters.hosts) * len(ENDINGS)).astype(np.uint8)
        self.sorts = self._draw_sorts(chance.random(parameters.hosts), topics, endings, parameters.fitted)
        # The same again in a form that gives single values quickly.
        self._topics, self._endings, self._sorts = topics.tobytes(), endings.tobytes(), self.sorts.tobytes()
        self._sizes = array("i", self.sizes.tobytes())
        self._answers: dict[str, Page] = {}
        self._alike = _ALIKE_LINKS
        self._home_links = parameters.fitted.home_links
        self._with_microdata = parameters.fitted.microdata
        self._of_sort = [np.flatnonzero(self.sorts == sort) for sort in (POOR, RICH, MIXED)]
        chosen = np.argsort(chance.random(parameters.hosts) ** (1 / self.sizes))[-parameters.start_hosts :]
        self.start_urls: tuple[str, ...] = tuple(self.url(host, 0) for host in chosen.tolist())

    @property
    def hosts(self) -> int:
        """How many hosts there are."""
        return len(self.sizes)

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return int(self._offsets[-1])

    def _draw_sorts(
        self,
        luck: npt.NDArray[np.float64],
        topics: npt.NDArray[np.uint8],
        endings: npt.NDArray[np.uint8],
        fitted: FittedShares,
    ) -> npt.NDArray[np.uint8]:
        growth = self.sizes.astype(float) ** -_GROWTH
        rich = fitted.large_rich - (fitted.large_rich - fitted.small_rich) * growth
        by_ending = np.array([factor for _, factor in ENDINGS])
        by_topic = np.linspace(0.5, 1.5, TOPICS)
        rich *= by_ending[endings] / by_ending.mean() * by_topic[topics]
        sorts = np.full(len(luck), POOR, np.uint8)
        sorts[luck < rich + _MIXED_HOSTS] = MIXED
        sorts[luck < rich] = RICH
        return sorts

    # --- what drivers and strategies need -------------------------------------------------------

    def respond(
        self, request: Request, now: float | None = None, observed: dict[str, float] | None = None
    ) -> Outcome:
        """Return the page of a request; the web does not change with time."""
        if request.method is not Method.GET:
            return Refused("a generated web answers GET only")
        answer = self._answers.get(request.url)
        if answer is not None:
            return answer
        place = self.find(request.url)
        if place is None:
            return Failure(404, 0, "HTTP 404")
        facts = self.facts(*place)
        links = [Link(url, _TAG_PATH) for url in self.links(*place)]
        answer = Page(200, 20_000, LinkList(links), facts, relevant=self._goal.holds(facts))
        if len(self._answers) < _MOST_KEPT:
            self._answers[request.url] = answer
        return answer

    def span(self) -> None:
        """Time plays no part."""

    def relevant(self, url: str) -> bool:
        """Tell whether a page is relevant."""
        place = self.find(url)
        return place is not None and self._goal.holds(self.facts(*place))

    def relevant_pages(self) -> int:
        """Count the relevant pages; some 3 microseconds per page of the web."""
        holds, facts = self._goal.holds, self.facts
        return sum(holds(facts(host, page)) for host, size in enumerate(self._sizes) for page in range(size))

    def sample(self, pages: int, seed: int) -> Iterator[LabelledPage]:
        """Draw pages at random, each as if it had been found on a page that links to it in its host."""
        for turn in range(pages):
            host, page = self.page_at(draw(self._seed + 7 * seed + 1, turn, self.pages))
            parent = self._goal.holds(self.facts(host, (page - 1) // _CHILDREN)) if page else None
            found = FoundPage(self.url(host, page), parent)
            yield LabelledPage(found, self._goal.holds(self.facts(host, page)))

    def balanced(self, pages: int, seed: int) -> Iterator[LabelledPage]:
        """Draw pages of the larger hosts in any order, half of them relevant."""
        wanted = {True: pages // 2, False: pages - pages // 2}
        large = np.flatnonzero(self.sizes >= _LARGE)
        for turn in range(100 * pages):
            if not any(wanted.values()):
                return
            host = int(large[draw(self._seed + 11 * seed + 3, 2 * turn, len(large))])
            page = 1 + draw(self._seed + 11 * seed + 3, 2 * turn + 1, self._sizes[host] - 1)
            relevant = self._goal.holds(self.facts(host, page))
            if wanted[relevant]:
                wanted[relevant] -= 1
                parent = self._goal.holds(self.facts(host, (page - 1) // _CHILDREN))
                yield LabelledPage(FoundPage(self.url(host, page), parent), relevant)

    def find(self, url: str) -> tuple[int, int] | None:
        """Return the host and the page of an address; None if there is no such page."""
        found = _ADDRESS.match(url)
        if found is None:
            return None
        host, page = int(found[1]), int(found[2]) - _FIRST_INDEX if found[2] else 0
        if host < self.hosts and 0 <= page < self._sizes[host] and self.url(host, page) == url:
            return host, page
        return None

    # --- pages ----------------------------------------------------------------------------------

    def url(self, host: int, page: int) -> str:
        """Return the address of a page."""
        words = TOPIC_WORDS[self._topics[host]]
        name = f"{words[host % WORDS_PER_TOPIC]}{host}.example"
        if not page:
            return f"http://{name}/"
        luck = self._draw(host, page, 0)
        kind, word = self._section(host, page)
        slug = f"{words[luck % WORDS_PER_TOPIC]}-{words[(luck >> 8) % WORDS_PER_TOPIC]}"
        section = KINDS[kind].words[word % len(KINDS[kind].words)]
        return f"http://{name}/{section}/{slug}-{page + _FIRST_INDEX}{ENDINGS[self._endings[host]][0]}"

    def facts(self, host: int, page: int) -> Facts:
        """Return what the detector of structured data would find on a page."""
        statements = dict.fromkeys(("microdata", "rdfa", "json-ld", "microformats", "open-graph"), 0)
        for syntax in self._syntaxes(host) if self._marked(host, page) else ():
            statements[syntax] = self._statements(host, page, syntax)
        luck = self._draw(host, 0, 3)
        statements["json-ld"] = 1 + page % 2 if luck % 1000 < 1000 * _JSON_LD_HOSTS else 0
        statements["open-graph"] = 12 if (luck >> 12) % 1000 < 1000 * _OPEN_GRAPH_HOSTS else 0
        return {"markup": {"statements": statements, "types": []}}

    def links(self, host: int, page: int) -> list[str]:
        """Return the addresses that a page links to."""
        size = self._sizes[host]
        first = page * _CHILDREN + 1
        own = [0, *range(first, min(first + _CHILDREN, size))]
        own += [self._draw(host, page, 10 + turn) % size for turn in range(_MORE_LINKS if size > 1 else 0)]
        urls = [self.url(host, other) for other in own if other != page]
        foreign = self._draw(host, page, 4) % (_MOST_FOREIGN_LINKS + 1)
        return urls + [self.url(*self._foreign(host, page, turn)) for turn in range(foreign)]

    def _foreign(self, host: int, page: int, turn: int) -> tuple[int, int]:
        luck = self._draw(host, page, 20 + turn)
        alike = luck % 1000 < 1000 * self._alike
        if (luck >> 10) % 1000 < 1000 * self._home_links:
            candidates = self._of_sort[self._sorts[host]] if alike else None
            number = self._draw(host, page, 24 + turn)
            return (
                int(candidates[number % len(candidates)]) if candidates is not None else number % self.hosts
            ), 0
        place = self.page_at(draw(luck, turn, self.pages))
        for more in range(1, 4):
            if not alike or self._sorts[place[0]] == self._sorts[host]:
                break
            place = self.page_at(draw(luck, turn + 100 * more, self.pages))
        return place

    def _section(self, host: int, page: int) -> tuple[int, int]:
        """Return the kind of the section that a page is in, and the number of the word for it."""
        luck = self._draw(host, self._draw(host, page, 1) % _SECTIONS, 2)
        half = len(KINDS) // 2
        things = luck % 1000 < 1000 * _OF_THINGS[self._sorts[host]]
        return (luck >> 10) % half + (0 if things else half), luck >> 16

    def _marked(self, host: int, page: int) -> bool:
        sort = self._sorts[host]
        luck = self._draw(host, page, 5) / _FINE
        if sort != MIXED:
            return luck < _MARKED[sort]
        section = self._draw(host, page, 1) % _SECTIONS
        things = KINDS[self._section(host, page)[0]].of_things
        share = _MARKED_SECTION_OF_THINGS if things else _MARKED_SECTION
        rich_section = self._draw(host, section, 6) / _FINE < share
        return luck < _MARKED[rich_section]

    def _syntaxes(self, host: int) -> tuple[str, ...]:
        luck = self._draw(host, 0, 7) / _FINE
        if luck < self._with_microdata:
            return ("microdata", "microformats") if luck < 0.4 * self._with_microdata else ("microdata",)
        rest = (luck - self._with_microdata) / (1 - self._with_microdata)
        return next(syntaxes for below, syntaxes in _OTHER_SYNTAXES if rest < below)

    def _statements(self, host: int, page: int, syntax: str) -> int:
        """Draw a number of statements: most of its spread is between hosts."""
        median, spread = _STATEMENTS[syntax]
        between = _bell(self._draw(host, 0, 8), self._draw(host, 1, 8))
        within = _bell(self._draw(host, page, 9), self._draw(host, page, 19))
        return max(1, round(median * float(np.exp(spread * (0.95 * between + 0.3 * within)))))

    def page_at(self, number: int) -> tuple[int, int]:
        """Return the host and the page behind a number below `pages`."""
        host = int(np.searchsorted(self._offsets, number, side="right")) - 1
        return host, number - int(self._offsets[host])

    def _draw(self, host: int, page: int, purpose: int) -> int:
        return draw(self._seed * 32 + purpose, (host << 24) + page, _FINE)


def _bell(one: int, other: int) -> float:
    """Make a normal draw of two uniform ones."""
    radius = float(np.sqrt(-2 * np.log((one + 1) / (_FINE + 1))))
    return radius * float(np.cos(2 * np.pi * other / _FINE))


def _sizes(luck: npt.NDArray[np.float64], parameters: WebParameters) -> npt.NDArray[np.int32]:
    """Draw sizes with a heavy tail whose sum is about the number of pages."""
    most = min(max(1000, parameters.pages // 400), parameters.pages // 20)
    low, high = 0.1, 10.0
    for _ in range(60):
        tail = (low + high) / 2
        if np.minimum(np.floor((1 - luck) ** (-1 / tail)), most).sum() > parameters.pages:
            low = tail
        else:
            high = tail
    sizes: npt.NDArray[np.int32] = np.minimum(np.floor((1 - luck) ** (-1 / high)), most).astype(np.int32)
    return sizes
