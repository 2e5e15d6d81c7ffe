"""Links of pages that an API listed before are told; all others are not."""

from coati.model import Link, LinkList, Outcome, Page, Redirect, Target
from coati.readers.listed import API_PAGE
from coati.readers.listed_links import ListedLinks
from coati.web.urls import url_hash

API, MOVED = "http://a.test/api", "http://a.test/api/v2"
FILE, OTHER = "http://a.test/1.csv", "http://a.test/2.csv"


def page(*urls: str) -> Page:
    return Page(200, 9, LinkList([Link(url, ("html", "a")) for url in urls]))


def home() -> Page:
    return Page(200, 9, LinkList([Link(API, ("ckan", "package", API_PAGE)), Link(OTHER, ("html", "a"))]))


def out_links(outcome: Outcome) -> object:
    assert isinstance(outcome, Page)
    return outcome.out_links


def test_what_an_offered_api_lists_is_told_where_a_page_links_to_it() -> None:
    crawl = ListedLinks()
    assert out_links(crawl.with_listed("http://a.test/", home())) is None
    assert out_links(crawl.with_listed("http://a.test/before", page(FILE))) is None
    assert out_links(crawl.with_listed(API, page(FILE))) is None
    assert out_links(crawl.with_listed("http://a.test/news", page(OTHER, FILE, FILE))) == [url_hash(FILE)]
    assert out_links(crawl.with_listed("http://a.test/other", page(OTHER))) is None
    target = Target(200, 9, "text/csv")
    assert crawl.with_listed(FILE, target) is target


def test_an_api_that_moved_is_one_still() -> None:
    crawl = ListedLinks()
    crawl.with_listed("http://a.test/", home())
    crawl.with_listed(API, Redirect(301, 0, MOVED))
    crawl.with_listed(MOVED, page(FILE))
    assert out_links(crawl.with_listed("http://a.test/news", page(FILE))) == [url_hash(FILE)]


def test_earlier_sessions_are_remembered() -> None:
    crawl = ListedLinks([API], [FILE])
    assert out_links(crawl.with_listed("http://a.test/news", page(FILE))) == [url_hash(FILE)]
    crawl.with_listed(API, page(OTHER))
    assert out_links(crawl.with_listed("http://a.test/more", page(OTHER))) == [url_hash(OTHER)]
