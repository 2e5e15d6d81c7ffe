"""Which addresses are read as lists."""

import pytest

from coati.model import Failure, Link, LinkList, Outcome, Page, Redirect, Target
from coati.readers import list_addresses
from coati.readers.list_addresses import ListAddresses
from coati.readers.listed import PAGES_OF_SITEMAP, SITEMAPS_OF_INDEX, SITEMAPS_OF_ROBOTS

A, B, C = (f"http://example.org/{name}" for name in "abc")


def page(path: tuple[str, ...], *urls: str) -> Page:
    return Page(200, 9, LinkList([Link(url, path) for url in urls]))


def test_what_lists_name_become_lists() -> None:
    lists = ListAddresses([A])
    assert lists.observe(A, page(SITEMAPS_OF_ROBOTS, B)) == (B,)
    assert lists.observe(B, page(SITEMAPS_OF_INDEX, C, B, C)) == (C,)
    assert C in lists


def test_nothing_else_does() -> None:
    lists = ListAddresses([A])
    assert lists.observe(A, page(PAGES_OF_SITEMAP, B)) == ()
    assert lists.observe(A, page(("html", "a"), B)) == ()
    assert lists.observe(A, Target(200, 9, "text/csv")) == ()
    # An index that nobody began at, nor named.
    assert lists.observe(C, page(SITEMAPS_OF_INDEX, B)) == ()
    assert lists.observe(C, Redirect(301, 0, B)) == ()
    assert B not in lists


def test_exploring_ends_where_lists_name_each_other() -> None:
    answers: dict[str, Outcome] = {
        A: page(SITEMAPS_OF_INDEX, A, B),
        B: Redirect(301, 0, C),
        C: Redirect(301, 0, B),
    }
    asked = []

    def answer(url: str) -> Outcome:
        asked.append(url)
        return answers.get(url, Failure(404, 0, "status 404"))

    lists = ListAddresses([A])
    lists.explore(answer)
    assert asked == [A, B, C]


def test_their_number_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_addresses, "MAX_LISTS", 2)
    lists = ListAddresses([A])
    assert lists.observe(A, page(SITEMAPS_OF_INDEX, B, C)) == (B,)
    assert C not in lists
