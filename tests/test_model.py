from __future__ import annotations

import pytest

from coati.model import EVERY_HOST, NO_LINKS, Kind, Link, LinkList, Method, Page, Refused, Request, Target


def test_a_list_of_links_gives_urls_and_links_by_place() -> None:
    links = [Link("http://a.test/1", ("html", "a"), "one"), Link("http://a.test/2", ("html", "a"))]
    found = LinkList(links)
    assert found.urls == ["http://a.test/1", "http://a.test/2"]
    assert [found.link(index) for index in range(2)] == links
    assert links[1].anchor == ""
    assert links[1].context == ""
    with pytest.raises(IndexError):
        found.link(2)


def test_nothing_can_be_found_without_links() -> None:
    assert list(NO_LINKS.urls) == []
    with pytest.raises(IndexError):
        NO_LINKS.link(0)


def test_outcomes_are_values() -> None:
    assert Target(200, 5, "text/csv") == Target(200, 5, "text/csv")
    assert Refused("robots") != Refused("scope")
    page = Page(200, 5, NO_LINKS)
    with pytest.raises(AttributeError):
        page.status = 404  # type: ignore[misc] # that is the point


def test_a_request_without_a_reason_has_neither_arm_nor_score() -> None:
    request = Request(1, Method.GET, "http://a.test/")
    assert request.arm is None
    assert request.score is None


def test_the_words_that_files_hold_stay_as_they_are() -> None:
    assert [kind.value for kind in Kind] == ["html", "target", "other", "redirect", "broken"]
    assert [method.value for method in Method] == ["GET", "HEAD"]


def test_a_driver_without_a_clock_may_ask_any_host() -> None:
    assert EVERY_HOST.ready("example.org")
    assert not EVERY_HOST.take_ready()
