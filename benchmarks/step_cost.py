"""Whether a step costs the same at the end of a large crawl as at its beginning: time by tenth.

    python -m benchmarks.step_cost

The pages are made up while it runs: each has twenty new links under tag paths of which new ones keep
appearing, and eighty links that are known. Nothing but the strategy is timed.
"""

from __future__ import annotations

import gc
import random
import time
from typing import TYPE_CHECKING, NamedTuple

import click

from benchmarks.reporting import format_option, report
from coati.assembly import LIVE_STRATEGIES, build_strategy
from coati.model import EVERY_HOST, NO_LINKS, Link, LinkList, Method, Page, Request, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from coati.model import Outcome

_NEW, _KNOWN = 20, 80
_START = "http://site.example/"
_ADDRESS = "http://site.example/section-{section}/topic-{topic}/document-with-a-name-{number}.{ending}"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def in_letters(number: int) -> str:
    """Write a number without digits: for strategies to which names that differ by a number are one.

    >>> in_letters(0), in_letters(27)
    ('a', 'bb')
    """
    rest, last = divmod(number, len(_LETTERS))
    return (in_letters(rest) if rest else "") + _LETTERS[last]


class EndlessSite:
    """Answers any request; the tag paths of new links come from a growing number of templates.

    ``write`` says how numbers are written in URLs, tag paths and anchors.
    """

    def __init__(self, urls: int, groups: int, seed: int = 1, write: Callable[[int], str] = str) -> None:
        self.urls, self.groups = urls, groups
        self._write = write
        self.known = 0
        self._rng = random.Random(seed)
        self._recent: list[Link] = []

    def answer(self, request: Request) -> Outcome:
        """Return a target for a .csv, else a page with new and known links."""
        if request.url.endswith(".csv"):
            return Target(200, 1000, "text/csv")
        if request.method is Method.HEAD:
            return Page(200, 0, NO_LINKS)
        new = [self._link() for _ in range(_NEW)] if self.known < self.urls else []
        known = self._rng.choices(self._recent, k=_KNOWN) if self._recent else []
        self._recent = (self._recent + new)[-2000:]
        return Page(200, 40_000, LinkList([*known, *new]))

    def _link(self) -> Link:
        self.known += 1
        available = max(1, self.groups * self.known // self.urls)
        template = self._rng.randrange(available)
        ending = "csv" if self._rng.random() < 0.1 else "html"  # noqa: PLR2004 - a tenth are files
        section, topic, number = (self._write(each) for each in (template % 50, template, self.known))
        url = _ADDRESS.format(section=section, topic=topic, number=number, ending=ending)
        path = ("html", "body.site", "div#main", f"section.t{topic}", f"ul.list-{topic}", "li", "a")
        return Link(url, path, f"Document {number}", f"Document {number}")


class Step(NamedTuple):
    """One request: URLs known so far, seconds of the choice and of the answer, new links, the arm."""

    known: int
    choice: float
    answer: float
    new: int
    arm: int


def _drive(strategy: str, site: EndlessSite) -> Iterator[Step]:
    """Let the strategy crawl until the site has shown all its URLs."""
    crawler = build_strategy(strategy, [_START])
    while True:
        begun = time.process_time()
        request = crawler.choose(0.0, EVERY_HOST)
        chosen = time.process_time()
        if not isinstance(request, Request):
            return
        before = site.known
        outcome = site.answer(request)
        answered = time.process_time()
        crawler.observe(request.id, outcome, 0.0)
        done = time.process_time()
        arm = -1 if request.arm is None else request.arm
        yield Step(site.known, chosen - begun, done - answered, site.known - before, arm)
        if site.known >= site.urls:
            return


class Tenth(NamedTuple):
    """What a tenth of a crawl cost, in microseconds."""

    choice: float
    new_link: float


def by_tenth(strategy: str, site: EndlessSite) -> tuple[list[Tenth], int]:
    """Time choices and new links by tenth of the crawl; return the number of arms too."""
    choices, links = [0.0] * 10, [0.0] * 10
    chosen, added = [0] * 10, [0] * 10
    gc.collect()
    gc.disable()
    arms = 0
    for step in _drive(strategy, site):
        tenth = min(9, (step.known - 1) * 10 // site.urls) if step.known else 0
        arms = max(arms, step.arm + 1)
        choices[tenth] += step.choice
        chosen[tenth] += 1
        if step.new:
            links[tenth] += step.answer
            added[tenth] += step.new
    gc.enable()
    parts = zip(choices, chosen, links, added, strict=True)
    return [Tenth(1e6 * a / max(1, b), 1e6 * c / max(1, d)) for a, b, c, d in parts], arms


@click.command()
@click.option(
    "--strategy", type=click.Choice(list(LIVE_STRATEGIES)), default="sb-classifier", show_default=True
)
@click.option("--urls", default=200_000, show_default=True)
@click.option(
    "--groups", default=6_000, show_default=True, help="Templates; groups of tag paths come near it."
)
@format_option
def main(strategy: str, urls: int, groups: int, form: str) -> None:
    """Time choices and new links by tenth of the crawl."""
    tenths, arms = by_tenth(strategy, EndlessSite(urls, groups))
    rows: list[dict[str, object]] = [
        {"tenth": number, "us per choice": tenth.choice, "us a new link": tenth.new_link}
        for number, tenth in enumerate(tenths, 1)
    ]
    rows[-1]["us per choice, x second tenth"] = tenths[9].choice / tenths[1].choice
    rows[-1]["us per new link, x second tenth"] = tenths[9].new_link / tenths[1].new_link
    report(f"step cost of {strategy}, {urls:,} URLs in {arms:,} groups", rows, form)


if __name__ == "__main__":
    main()
