"""Outcomes are what any driver would make of the same responses."""

import pytest

from coati.model import Failure, Method, Other, Outcome, Page, Redirect, Refused, Request, Target
from coati.testing.responder import Responder
from coati.testing.site import Response, Site
from coati.web.media import PRESETS
from coati.web.rules import Refusal, Rules, Scope

ROOT = "http://a.test/"
SITE = Site(
    ROOT,
    {
        ROOT: Response.page('<ul id="x"><li><a href="data">All data</a> here<a href="a.jpg"></a></ul>'),
        ROOT + "data": Response.file("text/CSV; charset=utf-8", size_bytes=70),
        ROOT + "style": Response.file("text/css", b"p {}"),
        ROOT + "old": Response.redirect("new#part", 308),
        ROOT + "nowhere": Response(302),
        ROOT + "error": Response.page("sorry", 500),
    },
)


def ask(path: str, method: Method = Method.GET) -> Outcome:
    return Responder(SITE).outcome(Request(0, method, ROOT + path))


def test_every_kind_of_response_has_its_outcome() -> None:
    assert ask("data") == Target(200, 70, "text/csv")
    assert ask("style") == Other(200, 4, "text/css")
    assert ask("old") == Redirect(308, 0, ROOT + "new")
    assert isinstance(ask("nowhere"), Failure)
    assert ask("error") == Failure(500, 0, "status 500")
    assert ask("missing") == Failure(404, 0, "status 404")


def test_a_page_has_its_links_whole_but_for_what_the_rules_forbid() -> None:
    page = ask("")
    assert isinstance(page, Page)
    assert page.links.urls == [ROOT + "data"]
    link = page.links.link(0)
    assert link.tag_path == ("html", "body", "ul#x", "li", "a")
    assert (link.anchor, link.context) == ("All data", "All data here")


@pytest.mark.parametrize("path", ["", "data"])
def test_head_gives_the_kind_and_no_body(path: str) -> None:
    outcome = ask(path, Method.HEAD)
    assert isinstance(outcome, Page | Target)
    assert outcome.size_bytes == 0
    assert not isinstance(outcome, Page) or not outcome.links.urls


def test_rules_and_types_can_be_given() -> None:
    responder = Responder(SITE, Rules(ROOT + "b/", scope=Scope.PATH), PRESETS["documents"])
    assert responder.outcome(Request(0, Method.GET, ROOT + "data")) == Refused(Refusal.SCOPE)
    assert isinstance(
        Responder(SITE, types=PRESETS["documents"]).outcome(Request(0, Method.GET, ROOT + "data")), Other
    )
