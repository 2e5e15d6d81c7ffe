"""What `explain` says of a link is true of what the crawl has seen."""

from __future__ import annotations

from collections.abc import Mapping

from coati.model import EVERY_HOST, Deferred, Failure, Link, LinkList, Outcome, Page, Request, Target
from coati.readers.listed import API_PAGE, API_PROBE
from coati.strategies.scent.scent import Scent, ScentSettings
from tests.driving import ask, must_ask

START = "http://a.test/"
PLACE = ("html", "body", "ul", "li", "a")
FILE = Target(200, 9, "text/csv")


def page(*links: Link) -> Page:
    return Page(200, 9, LinkList(links))


def files(folder: str, count: int = 3) -> Page:
    return page(*[Link(f"{folder}{letter}.csv", PLACE, "data") for letter in "abcdefgh"[:count]])


def crawl(answers: Mapping[str, Outcome], *links: Link) -> Scent:
    """Follow the links of a start page, and what they lead to."""
    strategy = Scent([START], settings=ScentSettings(sweep_every=0, leaps=False))
    strategy.observe(must_ask(strategy).id, page(*links), 0.0)
    while (request := ask(strategy)) is not None:
        outcome = FILE if request.url.endswith(".csv") else answers[request.url]
        strategy.observe(request.id, outcome, 0.0)
    return strategy


def said(strategy: Scent, path: str, anchor: str = "") -> str:
    return "\n".join(
        reason.words for reason in strategy.explain(Link(START + path, PLACE, anchor), START).reasons
    )


def test_texts_that_differ_by_a_number_are_not_called_by_one_of_them() -> None:
    pages = [Link(f"{START}{letter}/", PLACE, f"Bulletin {number}") for number, letter in enumerate("stuvwx")]
    words = said(crawl({link.url: page() for link in pages}, *pages), "y/", "Bulletin 2")
    assert 'links called "bulletin *" led to about 0.0 files per page in 6 visits' in words
    assert "ulletin 2" not in words


def test_a_folder_is_told_from_what_is_below_it() -> None:
    names = ["stats/p.html", "stats/q.html", "stats/old/p.html", "stats/older/q.html"]
    pages = [Link(START + name, PLACE, name[-6:]) for name in names]
    answers = {link.url: files(link.url[:-5]) if "old" not in link.url else page() for link in pages}
    strategy = crawl(answers, *pages)
    assert "links directly in /stats/ led to about 3.0 files per page in about 2 visits" in said(
        strategy, "stats/10-4"
    )
    words = said(strategy, "stats/new/r.html")
    assert "links anywhere under /stats/ led to about 0.9 files per page in about 4 visits" in words
    assert "links under" not in words


def test_nothing_is_claimed_of_a_text_that_no_visited_link_had() -> None:
    pages = [Link(f"{START}{name}", PLACE, name) for name in ("alpha", "beta", "gamma")]
    words = said(crawl({link.url: page() for link in pages}, *pages), "zeta", "zeta")
    assert "its text (zeta) tells little" in words
    assert 'called "zeta"' not in words


def test_what_nobody_tried_is_said_to_be_unknown() -> None:
    words = said(Scent([START]), "new/x.csv", "x")
    assert "nothing was learnt yet of links directly in /new/" in words
    assert 'nothing was learnt yet of links called "x"' in words
    assert "its file name (.csv) makes a file more likely" in words


def test_addresses_that_end_with_a_slash_are_not_all_addresses_without_an_extension() -> None:
    pages = [Link(f"{START}{name}", PLACE, name) for name in ("s/", "t/", "u", "v")]
    words = said(crawl({link.url: page() for link in pages}, *pages), "w/", "w")
    assert "links that end with a slash led to about 0.0 files per page in 2 visits" in words


def test_links_with_other_parameters_are_not_counted_as_alike() -> None:
    names = ("get.php?id=1", "get.php?id=2", "get.php?print=1", "get.php?print=2")
    pages = [Link(f"{START}d/{name}", PLACE, name) for name in names]
    words = said(crawl({link.url: page() for link in pages}, *pages), "d/get.php?id=3", "x")
    assert "links like /d/….php?id led to about 0.0 files per page in 2 visits" in words
    assert "links to names like get.php?id led to" in words


def test_extensions_that_differ_by_a_number_are_one() -> None:
    pages = [Link(f"{START}{letter}.ab{number}", PLACE) for number, letter in ((1, "s"), (2, "t"), (4, "u"))]
    words = said(crawl({link.url: page() for link in pages}, *pages), "v.ab3")
    assert "links to .ab* led to about 0.0 files per page in about 3 visits" in words


def test_files_behind_other_pages_are_said_to_be_some_steps_ahead() -> None:
    """A page with one link and no file, in front of a page with ten files, was said to have brought them."""
    hub, door = Link(f"{START}hub/", PLACE, "hub"), Link(f"{START}door.html", PLACE, "door")
    words = said(crawl({door.url: page(hub), hub.url: files(hub.url, 8)}, door), "other.html", "door")
    assert (
        "links like /….html led to about 3.2 files per page in 1 visit, a few steps ahead included" in words
    )


def api_page(name: str, kind: str) -> Link:
    return Link(START + name, ("ckan", "package", kind))


def test_requests_in_flight_are_not_answers_of_an_api() -> None:
    strategy = Scent([START])
    pages = [api_page(f"api?page={number}", API_PROBE) for number in range(4)]
    strategy.observe(must_ask(strategy).id, page(*pages), 0.0)

    def told() -> str:
        (reason,) = strategy.explain(pages[3], START).reasons
        return reason.words

    first = must_ask(strategy)
    assert told() == "the site's software may list files here (ckan > package > api probe)"
    strategy.observe(first.id, Failure(404, 0, "gone"), 0.0)
    assert told().endswith("though 1 page brought nothing")
    second = must_ask(strategy)
    assert told().endswith("though 1 page brought nothing")
    strategy.observe(second.id, Deferred(0, 0, "no response", 9.0), 0.0)
    assert told().endswith("though 1 page brought nothing")
    strategy.observe(must_ask(strategy).id, page(), 0.0)
    assert told().endswith("though 2 pages brought nothing")


def test_an_api_that_listed_files_says_how_many() -> None:
    strategy = Scent([START])
    pages = [api_page(f"api?page={number}", API_PAGE) for number in range(3)]
    strategy.observe(must_ask(strategy).id, page(*pages), 0.0)
    first, second = must_ask(strategy), must_ask(strategy)
    listed = [Link(f"{START}{letter}.csv", ("ckan", "resource", "url")) for letter in "abc"]
    strategy.observe(first.id, page(*listed), 0.0)
    words = "the site's software lists files here (ckan > package > api page)"
    assert (
        strategy.explain(pages[2], START).reasons[0].words == f"{words}: 1 of 1 page brought 3 new links each"
    )
    strategy.observe(second.id, page(), 0.0)
    assert (
        strategy.explain(pages[2], START).reasons[0].words
        == f"{words}: 1 of 2 pages brought 3 new links each"
    )
    assert isinstance(strategy.choose(0.0, EVERY_HOST), Request)
