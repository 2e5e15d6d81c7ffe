"""What an API listed: its pages, its dead files, and the pages that link to its files."""

from coati.model import EVERY_HOST, Failure, Link, LinkList, Page, Request, Target
from coati.readers.listed import API_PAGE
from coati.strategies.scent.scent import Scent
from coati.web.urls import url_hash

START = "http://a.test/"
API = f"{START}api?page="
FILE = Target(200, 9, "text/csv")
GONE = Failure(404, 0, "status 404")


def listed(*names: str, following: str = "") -> Page:
    links = [Link(API + following, ("ckan", "package", API_PAGE))] if following else []
    links += [Link(START + name, ("ckan", "resource", "url")) for name in names]
    return Page(200, 9, LinkList(links))


def linked(*names: str, known: tuple[str, ...] = ()) -> Page:
    links = LinkList([Link(START + name, ("html", "ul", "a")) for name in names])
    return Page(200, 9, links, out_links=[url_hash(START + name) for name in known] or None)


def chosen(crawl: Scent) -> Request:
    request = crawl.choose(0.0, EVERY_HOST)
    assert isinstance(request, Request)
    return request


def begun(*pages: str) -> Scent:
    """A crawl whose start page offers an API, beside links to pages."""
    crawl = Scent([START])
    home = [Link(f"{API}0", ("ckan", "package", API_PAGE))]
    home += [Link(START + page, ("html", "ul", "a")) for page in pages]
    crawl.observe(chosen(crawl).id, Page(200, 9, LinkList(home)), 0.0)
    return crawl


def worth(crawl: Scent, name: str) -> float:
    return crawl.explain(Link(START + name, ("html", "ul", "a")), START).score


def test_files_that_were_listed_are_taken_before_the_next_page_of_their_list() -> None:
    crawl = begun()
    names = [f"{kind}/{n}.{kind}" for kind in ("csv", "pdf", "xml") for n in range(5)]
    crawl.observe(chosen(crawl).id, listed(*names, following="1"), 0.0)
    course = []
    for _ in range(len(names) + 1):
        request = chosen(crawl)
        course.append(request.url)
        crawl.observe(request.id, FILE, 0.0)
    assert course[-1] == f"{API}1"


def test_a_page_that_links_to_listed_files_is_worth_what_it_would_be_without_the_api() -> None:
    def after(*, told: bool) -> float:
        crawl = begun("news/1.html", "about/1.html")
        crawl.observe(chosen(crawl).id, listed("1.csv", "2.csv"), 0.0)
        for _ in range(2):
            crawl.observe(chosen(crawl).id, FILE, 0.0)
        for _ in range(2):
            request = chosen(crawl)
            files = ("1.csv", "2.csv") if told and "news" in request.url else ()
            crawl.observe(request.id, linked(known=files), 0.0)
        return worth(crawl, "news/2.html")

    assert after(told=True) > after(told=False) + 0.1


def test_a_page_is_not_credited_with_listed_files_that_are_gone() -> None:
    def after(outcome: Failure | Target) -> float:
        crawl = begun("news/1.html")
        crawl.observe(chosen(crawl).id, listed("1.csv"), 0.0)
        crawl.observe(chosen(crawl).id, outcome, 0.0)
        crawl.observe(chosen(crawl).id, linked(known=("1.csv",)), 0.0)
        return worth(crawl, "news/2.html")

    assert after(FILE) > after(GONE) + 0.1


def test_what_was_credited_outlives_saving() -> None:
    crawl = begun("news/1.html")
    crawl.observe(chosen(crawl).id, listed("1.csv"), 0.0)
    again = Scent([START])
    again.load(crawl.save())
    for each in (crawl, again):
        each.observe(chosen(each).id, FILE, 0.0)
        each.observe(chosen(each).id, linked("x.html", known=("1.csv",)), 0.0)
    assert worth(again, "news/2.html") == worth(crawl, "news/2.html")
    once_more = Scent([START])
    once_more.load(again.save())
    assert worth(once_more, "news/2.html") == worth(crawl, "news/2.html")


def test_a_list_of_which_half_is_gone_is_given_up_sooner_than_links_of_which_half_are() -> None:
    names = [f"{n}.csv" for n in range(40)]

    def promise(crawl: Scent) -> float:
        for n in range(20):
            crawl.observe(chosen(crawl).id, GONE if n % 2 else FILE, 0.0)
        expected = crawl.expects()
        assert expected is not None
        return expected

    with_api = begun()
    with_api.observe(chosen(with_api).id, listed(*names), 0.0)
    plain = Scent([START])
    plain.observe(chosen(plain).id, linked(*names), 0.0)
    assert promise(with_api) < promise(plain) - 0.01
