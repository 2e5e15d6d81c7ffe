"""Prospect: APIs verify at once, sites off the topic come later, and patience comes to an end."""

import pytest

from coati.assembly import build_shortcuts
from coati.model import Link, LinkList, Outcome, Page, Request
from coati.strategies.discovery.prospect import Prospect
from coati.strategies.discovery.prospect_settings import OffTopic, ProspectSettings
from coati.strategies.state import pack, unpack
from coati.testing.api_answers import ApiFile
from coati.testing.apis import ApiState, with_api
from coati.testing.responder import Responder
from coati.testing.site import Response, Site
from coati.web.out_links import with_out_links
from coati.web.rules import Rules, Scope
from coati.web.urls import is_query, site_of
from tests.strategies.discovery.small_web import answers, drive
from tests.strategies.discovery.test_dsdd import MODEL, SETTINGS, WEB, states

ROOT = "http://portal.test/"
WORDS = "rain dataset csv download catalogue metadata table series archive " * 3
FILES = " ".join(f'<a href="/files/{number}.csv">x</a>' for number in range(12))
NO_API = Site(ROOT, {ROOT: Response.page(f"<head></head><p>{WORDS}</p>")})


def portal(software: str, state: ApiState = ApiState.WHOLE, kind: str = "text/csv", files: int = 12) -> Site:
    """A site whose one page speaks of data; its files are known to its API alone, and have no extension."""
    listed = [ApiFile(f"{ROOT}get/{n}", f"Table {n}", kind, dataset=f"Set {n}") for n in range(files)]
    return with_api(NO_API, software, state, files=listed)


def searched(site: Site) -> tuple[Prospect, list[str]]:
    """Search from the portal alone; returns the strategy and what it asked for."""
    responder = Responder(site, Rules(ROOT, Scope.ANY), shortcuts=build_shortcuts("auto", "prospect"))

    def answer(request: Request) -> Outcome:
        outcome = responder.outcome(request)
        return with_out_links(outcome) if isinstance(outcome, Page) else outcome

    strategy = Prospect([ROOT], SETTINGS, MODEL)
    return strategy, [url for url in drive(strategy, answer) if url.startswith(ROOT)]


@pytest.mark.parametrize("software", ["ckan", "dcat", "drupal"])
def test_an_api_that_lists_enough_files_verifies_its_site_in_one_request(software: str) -> None:
    strategy, asked = searched(portal(software))
    assert states(strategy)["portal.test"] == "verified"
    assert len(asked) == 2


@pytest.mark.parametrize(
    "site",
    [
        NO_API,
        portal("ckan", ApiState.CLOSED),
        portal("ckan", ApiState.HOSTILE),
        portal("ckan", files=9),
        portal("wordpress", kind="application/pdf"),
    ],
    ids=["none", "closed", "hostile", "few files", "documents"],
)
def test_an_api_that_lists_no_data_verifies_nothing(site: Site) -> None:
    strategy, asked = searched(site)
    assert states(strategy)["portal.test"] == "rejected"
    assert len(asked) <= 4


def test_the_apis_outlive_saving() -> None:
    site = portal("ckan")
    responder = Responder(site, Rules(ROOT, Scope.ANY), shortcuts=build_shortcuts("auto", "prospect"))
    first = Prospect([ROOT], SETTINGS, MODEL)

    def answer(request: Request) -> Outcome:
        outcome = responder.outcome(request)
        return with_out_links(outcome) if isinstance(outcome, Page) else outcome

    drive(first, answer, most=2)
    again = Prospect([ROOT], SETTINGS, MODEL)
    again.load(unpack(pack(first.save())))
    drive(again, answer)
    assert states(again)["portal.test"] == "verified"


def impatient(patience: int | None) -> Prospect:
    return Prospect([], SETTINGS, MODEL, patience=patience)


def test_patience_ends_a_search_and_more_of_it_continues_where_it_stood() -> None:
    whole = impatient(None)
    everything = drive(whole, answers(WEB))
    assert whole.gave_up_after == 0
    short = impatient(5)
    begun = drive(short, answers(WEB))
    assert begun == everything[: len(begun)]
    assert len(begun) < len(everything)
    assert short.gave_up_after >= 5
    for state in (short.save(), unpack(pack(short.save()))):
        patient = impatient(None)
        patient.load(state)
        assert begun + drive(patient, answers(WEB)) == everything


def test_a_check_that_has_begun_is_finished_before_patience_ends() -> None:
    strategy = impatient(1)
    drive(strategy, answers(WEB))
    assert "open" not in states(strategy).values()


def without_api(pages: dict[str, Response]) -> Site:
    return Site(ROOT, {ROOT: Response.page(""), **pages})


def test_a_page_that_links_to_nothing_has_its_site_checked_from_the_home_page() -> None:
    site = without_api({ROOT: Response.page(FILES), f"{ROOT}deep": Response.page(f"<p>{WORDS}</p>")})
    responder = Responder(site, Rules(ROOT, Scope.ANY))
    strategy = Prospect([f"{ROOT}deep"], SETTINGS, MODEL)

    def answer(request: Request) -> Outcome:
        outcome = responder.outcome(request)
        return with_out_links(outcome) if isinstance(outcome, Page) else outcome

    asked = drive(strategy, answer)
    assert [url for url in asked if url.startswith(ROOT)] == [f"{ROOT}deep", ROOT]
    assert states(strategy)["portal.test"] == "verified"


def test_pages_of_a_site_that_was_refused_twice_have_their_turn_at_the_end() -> None:
    pages = {f"{ROOT}{number}": Response.page("<p>hotel recipe football</p>") for number in range(4)}
    pages[f"{ROOT}3"] = Response.page(f"<p>{WORDS}</p>{FILES}")
    responder = Responder(without_api(pages), Rules(ROOT, Scope.ANY))
    strategy = Prospect([], SETTINGS, MODEL)
    hits = LinkList([Link(f"{ROOT}{number}", ("hit",)) for number in range(4)])

    def answer(request: Request) -> Outcome:
        if is_query(request.url):
            return with_out_links(Page(200, 10, hits if request.id == 0 else LinkList([])))
        outcome = responder.outcome(request)
        return with_out_links(outcome) if isinstance(outcome, Page) else outcome

    asked = drive(strategy, answer, most=6)
    again = Prospect([], SETTINGS, MODEL)
    again.load(unpack(pack(strategy.save())))
    asked += drive(again, answer)
    assert [url for url in asked if url.startswith(ROOT)] == [f"{ROOT}{number}" for number in range(4)]
    assert states(again)["portal.test"] == "verified"


def test_skipped_pages_of_a_verified_site_take_one_look_each(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []

    def counted(url: str) -> str:
        looks.append(url)
        return site_of(url)

    monkeypatch.setattr("coati.strategies.discovery.prospect.site_of", counted)
    responder = Responder(
        without_api({f"{ROOT}0": Response.page(f"<p>{WORDS}</p>{FILES}")}), Rules(ROOT, Scope.ANY)
    )
    hits = LinkList([Link(f"{ROOT}{number}", ("hit",)) for number in range(200)])

    def answer(request: Request) -> Outcome:
        if is_query(request.url):
            return with_out_links(Page(200, 10, hits if request.id == 0 else LinkList([])))
        outcome = responder.outcome(request)
        return with_out_links(outcome) if isinstance(outcome, Page) else outcome

    strategy = Prospect([], SETTINGS, MODEL)
    asked = drive(strategy, answer)
    assert states(strategy)["portal.test"] == "verified"
    assert f"{ROOT}199" not in asked
    assert len(looks) < 5 * len(hits.urls)


def test_a_page_that_links_to_files_is_checked_whatever_its_words_are() -> None:
    site = without_api({ROOT: Response.page(f"<p>hotel recipe football</p>{FILES}")})
    strategy, _ = searched(site)
    assert states(strategy)["portal.test"] == "verified"


OFF_TOPIC = WORDS.replace("rain ", "")


def two_portals(words: str = OFF_TOPIC) -> Site:
    """A web of two repositories, the first of them with these words; each has its files on another page."""
    pages = {}
    for host, text in (("first", words), ("second", WORDS)):
        root = f"http://{host}.test/"
        pages[root] = Response.page(f'<p>{text}</p><a href="/data">Data</a>')
        pages[f"{root}data"] = Response.page(FILES)
    return Site(ROOT, {ROOT: Response.page(""), **pages})


def asked_of(site: Site, off_topic: OffTopic, anchor: str = "") -> tuple[Prospect, list[str]]:
    """Search a web whose engine answers the first query with the home pages of both sites."""
    responder = Responder(site, Rules(ROOT, Scope.ANY))
    hits = LinkList([Link(f"http://{host}.test/", ("hit",), anchor) for host in ("first", "second")])

    def answer(request: Request) -> Outcome:
        if is_query(request.url):
            return with_out_links(Page(200, 10, hits if request.id == 0 else LinkList([])))
        outcome = responder.outcome(request)
        return with_out_links(outcome) if isinstance(outcome, Page) else outcome

    strategy = Prospect([], SETTINGS, MODEL, prospect=ProspectSettings(off_topic))
    asked = drive(strategy, answer, most=4)
    again = Prospect([], SETTINGS, MODEL, prospect=ProspectSettings(off_topic))
    again.load(unpack(pack(strategy.save())))
    asked += drive(again, answer)
    return again, [url for url in asked if url.endswith("/data")]


FIRST, SECOND = "http://first.test/data", "http://second.test/data"


@pytest.mark.parametrize(
    ("off_topic", "expected"),
    [
        (OffTopic.LATER, [SECOND, FIRST]),
        (OffTopic.NEVER, [SECOND]),
        (OffTopic.EQUAL, [FIRST, SECOND]),
    ],
)
def test_a_site_off_the_topic_is_checked_later_or_never_or_like_others(
    off_topic: OffTopic, expected: list[str]
) -> None:
    strategy, asked = asked_of(two_portals(), off_topic)
    assert asked == expected
    ranked = [finding.site for finding in strategy.findings()]
    assert ranked == ["second.test", "first.test"][: len(expected)]


def test_what_a_link_says_of_the_topic_counts() -> None:
    strategy, asked = asked_of(two_portals(), OffTopic.NEVER, anchor="Rain data")
    assert asked == [FIRST, SECOND]
    assert [finding.topic for finding in strategy.findings()] == [1.0, 0.6]


def test_a_page_that_verifies_its_site_by_itself_is_not_put_off() -> None:
    site = without_api({ROOT: Response.page(f"<p>{OFF_TOPIC}</p>{FILES}")})
    strategy, asked = searched(site)
    assert states(strategy)["portal.test"] == "verified"
    assert asked == [ROOT]


def test_keyword_queries_that_find_nothing_come_to_an_end() -> None:
    words = " ".join(f"term{'abcdefghij'[n // 10]}{'abcdefghij'[n % 10]}" for n in range(90))
    site = without_api({ROOT: Response.page(f"<p>{WORDS} {words}</p>{FILES}")})
    responder = Responder(site, Rules(ROOT, Scope.ANY))

    def answer(request: Request) -> Outcome:
        if is_query(request.url):
            return with_out_links(Page(200, 10, LinkList([])))
        outcome = responder.outcome(request)
        return with_out_links(outcome) if isinstance(outcome, Page) else outcome

    asked = drive(Prospect([ROOT], SETTINGS, MODEL), answer)
    assert 0 < sum("?q=" in url for url in asked) < 20
