from __future__ import annotations

from coati.strategies.discovery.actions import Action
from coati.strategies.discovery.analysed_pages import AnalysedPage
from coati.strategies.discovery.findings import Finding
from coati.strategies.discovery.site_checks import SiteCheck


def page(url: str, arm: Action) -> AnalysedPage:
    return AnalysedPage(url, "a.test", int(arm), "A", 0.5, True, [])


def test_a_finding_is_described_by_the_best_page_of_its_site() -> None:
    check = SiteCheck(0, "a.test", int(Action.KEYWORDS), pages=[0, 1])
    pages = [page("http://a.test/x", Action.KEYWORDS), page("http://a.test/", Action.RELATED)]
    told = Finding.of_check(check, pages, [1.0, 2.0])
    assert (told.url, told.arm, told.score) == ("http://a.test/", Action.RELATED, 2.0)


def test_a_finding_without_pages_is_described_by_its_check() -> None:
    told = Finding.of_check(SiteCheck(0, "a.test", int(Action.ACCEPTED)), [], [])
    assert (told.url, told.arm) == ("http://a.test/", Action.ACCEPTED)
