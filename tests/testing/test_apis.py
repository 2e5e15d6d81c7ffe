"""Each software's API in front of a site: a crawl with shortcuts finds the files that no page links to."""

import pytest

from coati.assembly import build_shortcuts, build_strategy
from coati.errors import ConfigError
from coati.model import EVERY_HOST, Outcome, Page, Request, Target
from coati.shortcuts.recognition import recognise
from coati.testing.api_answers import SOFTWARE, ApiFile
from coati.testing.apis import Api, ApiState, files_of, with_api
from coati.testing.responder import Responder
from coati.testing.site import Response, Site

ROOT = "http://a.test/"
FILES = 23


def made_site() -> Site:
    """A site with a few pages that link to each other, and files that nothing links to."""
    menu = "".join(f"<li><a href='/page{n}.html'>Page {n}</a></li>" for n in range(4))
    page = Response.page(f"<html><head><title>A</title></head><body><ul>{menu}</ul></body></html>")
    responses = {ROOT: page} | {f"{ROOT}page{n}.html": page for n in range(4)}
    for n in range(FILES):
        kind, ending = ("text/csv", "csv") if n % 3 == 0 else ("application/pdf", "pdf")
        responses[f"{ROOT}hidden/{n}.{ending}"] = Response.file(kind, b"%d" % n)
    return Site(ROOT, responses)


def crawl(site: Site, mode: str = "auto", most: int = 400) -> list[tuple[Request, Outcome]]:
    responder = Responder(site, shortcuts=build_shortcuts(mode, "scent"))
    strategy = build_strategy("scent", [site.start_url])
    course: list[tuple[Request, Outcome]] = []
    while len(course) < most:
        request = strategy.choose(0.0, EVERY_HOST)
        if not isinstance(request, Request):
            break
        outcome = responder.outcome(request)
        strategy.observe(request.id, outcome, 0.0)
        course.append((request, outcome))
    return course


def targets(course: list[tuple[Request, Outcome]]) -> set[str]:
    return {request.url for request, outcome in course if isinstance(outcome, Target)}


@pytest.mark.parametrize("software", sorted(SOFTWARE))
def test_a_whole_api_gives_all_files_and_nothing_else_is_asked(software: str) -> None:
    site = with_api(made_site(), software)
    (found, *_) = recognise(ROOT, site.get(ROOT).headers, site.get(ROOT).body or b"")
    assert found.profile == software
    # NADA lists pages, which must be read; the others have at most a redirect for each file.
    course = crawl(site, "auto" if software == "nada" else "only")
    assert len(targets(course)) == FILES
    assert len(course) <= 2 * FILES + 10


@pytest.mark.parametrize("software", sorted(SOFTWARE))
def test_odd_paging_loses_nothing(software: str) -> None:
    mode = "auto" if software == "nada" else "only"
    assert len(targets(crawl(with_api(made_site(), software, ApiState.ODD), mode))) == FILES


@pytest.mark.parametrize("software", ["wordpress", "drupal", "ckan", "eprints"])
def test_half_and_stale_apis_give_what_they_have(software: str) -> None:
    assert len(targets(crawl(with_api(made_site(), software, ApiState.HALF), "only"))) == -(-FILES // 2)
    assert len(targets(crawl(with_api(made_site(), software, ApiState.STALE), "only"))) == -(-FILES // 2)


@pytest.mark.parametrize("software", sorted(SOFTWARE))
@pytest.mark.parametrize("state", [ApiState.CLOSED, ApiState.HOSTILE])
def test_a_closed_or_hostile_api_costs_two_requests_at_most(software: str, state: ApiState) -> None:
    without = [request.url for request, _ in crawl(made_site())]
    course = crawl(with_api(made_site(), software, state))
    own = [request.url for request, _ in course if request.url in without]
    assert own == without
    # A hostile one may send a page to log in instead of an answer, with a link on it.
    assert len(course) <= len(without) + (2 if state is ApiState.CLOSED else 4)


def test_an_api_page_is_asked_before_the_links_and_its_files_before_them_too() -> None:
    course = crawl(with_api(made_site(), "drupal"))
    kinds = [type(outcome) for _, outcome in course[: FILES + 2]]
    assert kinds == [Page, Page] + [Target] * FILES


def test_a_software_without_an_api_is_refused() -> None:
    with pytest.raises(ConfigError, match="software with an API"):
        Api("typo4", ROOT, [])


def test_the_files_of_a_site_are_those_that_a_crawl_for_data_wants() -> None:
    files = files_of(made_site())
    assert len(files) == FILES
    assert ApiFile(f"{ROOT}hidden/0.csv", "0.csv", "text/csv") in files
