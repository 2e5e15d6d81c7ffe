"""A web of a few sites with a search engine over it: repositories, sites that only look like them, a hub."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from coati.model import EVERY_HOST, Outcome, Page, Request
from coati.strategies.strategy import Strategy
from coati.testing.responder import Responder
from coati.testing.site import Response, Site
from coati.web.out_links import with_out_links
from coati.web.rules import Rules, Scope

TOPIC = ["rain", "river", "flood", "gauge", "basin", "monsoon", "drought", "runoff", "storm", "snow"]
DATA = ["dataset", "download", "csv", "catalogue", "metadata", "archive", "table", "series"]
OTHER = ["recipe", "hotel", "football", "music", "garden", "holiday", "shop", "news", "film", "travel"]
REPOSITORIES = [f"http://www.repo{number}.test/" for number in range(6)]
DECOYS = [f"http://decoy{number}.test/" for number in range(5)]
PLAIN = [f"http://plain{number}.test/" for number in range(6)]
HUB = "http://hub.test/list.html"
FEW_FILES = "http://fewfiles.test/"


def small_web() -> Site:
    """Make the web."""
    rng = Random(7)
    pages: dict[str, Response] = {}
    for number, url in enumerate(REPOSITORIES):
        other = REPOSITORIES[(number + 1) % len(REPOSITORIES)]
        links = [f"{url}topic{place}" for place in range(3)] + [other, PLAIN[number], f"{url}missing"]
        pages[url] = _page(f"Data portal {number}", _words(rng, TOPIC, 12) + _words(rng, DATA, 12), links)
        for place in range(3):
            files = [f"{url}files/{place}-{part}.csv" for part in range(4)]
            next_page = [f"{url}topic{place}/more", url]
            pages[f"{url}topic{place}"] = _page("Files", _words(rng, DATA, 8), files + next_page)
            pages[f"{url}topic{place}/more"] = _page("More", _words(rng, DATA, 5), files[:2])
    for number, url in enumerate(DECOYS):
        links = [f"{url}about", f"{url}{number}.pdf", PLAIN[0]]
        pages[url] = _page(
            "Data news", _words(rng, TOPIC, 8) + _words(rng, DATA, 6) + _words(rng, OTHER, 4), links
        )
        pages[f"{url}about"] = _page("About", _words(rng, OTHER, 9), [url])
    for url in PLAIN:
        pages[url] = _page("Home", _words(rng, OTHER, 20) + _words(rng, TOPIC, 2), [f"{url}a", HUB])
    files = [f"{FEW_FILES}{part}.xlsx" for part in range(9)]
    pages[FEW_FILES] = _page("Few", _words(rng, TOPIC, 9) + _words(rng, DATA, 9), [*files, f"{FEW_FILES}x"])
    pages[f"{FEW_FILES}x"] = Response.redirect("/y")
    pages[f"{FEW_FILES}y"] = _page("Y", DATA, files)
    pages[HUB] = _page("Links", [*_words(rng, OTHER, 6), "rain"], [*REPOSITORIES, *DECOYS])
    return Site(REPOSITORIES[0], pages)


def examples() -> list[tuple[dict[str, int], bool]]:
    """Make labelled pages that a start model learns from."""
    rng = Random(8)
    yes = [_counted(_words(rng, DATA, 8) + _words(rng, OTHER, 2)) for _ in range(12)]
    no = [_counted(_words(rng, OTHER, 8) + _words(rng, DATA, 1)) for _ in range(12)]
    return [*((page, True) for page in yes), *((page, False) for page in no)]


def answers(site: Site) -> Callable[[Request], Outcome]:
    """LinkOutcome requests from the web, each page with all its out-links."""
    responder = Responder(site, Rules(site.start_url, Scope.ANY))

    def answer(request: Request) -> Outcome:
        outcome = responder.outcome(request)
        return with_out_links(outcome) if isinstance(outcome, Page) else outcome

    return answer


def drive(strategy: Strategy, answer: Callable[[Request], Outcome], most: int = 5000) -> list[str]:
    """Ask and answer until nothing is left; returns the URLs in the order of asking."""
    asked: list[str] = []
    while len(asked) < most:
        request = strategy.choose(float(len(asked)), EVERY_HOST)
        if not isinstance(request, Request):
            break
        asked.append(request.url)
        strategy.observe(request.id, answer(request), float(len(asked)))
    return asked


def _words(rng: Random, words: list[str], most: int) -> list[str]:
    return [rng.choice(words) for _ in range(most)]


def _counted(words: list[str]) -> dict[str, int]:
    return {word: words.count(word) for word in words}


def _page(title: str, words: list[str], links: list[str]) -> Response:
    anchors = " ".join(f'<a href="{link}">{link.rpartition("/")[2] or "home"}</a>' for link in links)
    return Response.page(f"<title>{title}</title><p>{' '.join(words)}</p>{anchors}")
