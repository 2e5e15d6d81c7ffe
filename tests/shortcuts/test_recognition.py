"""Each software is recognised by what its own pages show, and nothing else is taken for it."""

import pytest

from coati.shortcuts.profile import ApiEntry
from coati.shortcuts.recognition import recognise
from coati.shortcuts.registry import PROFILES
from coati.shortcuts.seen_page import SeenPage
from coati.shortcuts.shortcuts import MAX_ENTRIES_OF_PAGE, Shortcuts
from tests.shortcuts.pages import PAGES, PLAIN, SITE, ShownBy


@pytest.mark.parametrize("shown", PAGES, ids=lambda shown: shown.profile)
def test_each_software_is_recognised_alone(shown: ShownBy) -> None:
    found, *more = recognise(SITE, shown.headers, shown.html.encode())
    assert found.profile == shown.profile
    # DKAN is a part of Drupal.
    assert [other.profile for other in more] == (["drupal"] if shown.profile == "dkan" else [])
    if shown.address:
        assert found.addresses[0].startswith(shown.address)
    else:
        assert found.addresses == ()


def test_every_profile_has_a_page_and_says_what_it_was_written_from() -> None:
    assert {profile.name for profile in PROFILES} == {shown.profile for shown in PAGES}
    assert all(": " in profile.written_from for profile in PROFILES)


@pytest.mark.parametrize("html", PLAIN)
def test_what_is_not_a_known_software_is_not_recognised(html: str) -> None:
    assert recognise(SITE, (), html.encode()) == ()


def test_two_addresses_at_most_are_offered_and_the_sure_ones_first() -> None:
    html = "".join(shown.html for shown in PAGES).encode()
    offered = Shortcuts().offers(SITE, (("X-Generator", "Drupal 10"),), html, is_start=True)
    lists = [found for found in offered if found.tag_path[-1].startswith("api")]
    assert len(lists) == MAX_ENTRIES_OF_PAGE
    assert all(found.tag_path[-1] == "api page" for found in lists)


def test_only_start_addresses_and_home_pages_are_looked_at() -> None:
    page = PAGES[0].html.encode()
    assert Shortcuts().offers(SITE + "news/1", (), page, is_start=False) == []
    assert len(Shortcuts().offers(SITE + "news/1", (), page, is_start=True)) == MAX_ENTRIES_OF_PAGE
    assert len(Shortcuts().offers(SITE, (), page, is_start=False)) == MAX_ENTRIES_OF_PAGE


def test_a_page_offers_the_files_that_it_describes() -> None:
    described = next(shown for shown in PAGES if shown.profile == "schema.org")
    (found,) = Shortcuts().offers(SITE + "a/b", (), described.html.encode(), is_start=False)
    assert found.reference == "/taxes.csv"
    assert found.heading == "Taxes"


class Broken:
    """A profile of somebody else's, with a mistake in it."""

    name = "broken"
    title = "Broken"
    written_from = "nothing: at all"

    def recognise(self, page: SeenPage) -> list[ApiEntry]:
        raise KeyError(page.url)

    def reads(self, url: str) -> bool:
        raise NotImplementedError(url)

    def read(self, answer: object) -> list[object]:
        return [answer]


def test_a_profile_that_raises_is_named_and_left_out() -> None:
    shortcuts = Shortcuts((Broken(), *PROFILES))  # type: ignore[arg-type]  # broken is what it is
    page = PAGES[0].html.encode()
    assert len(shortcuts.offers(SITE, (), page, is_start=True)) == MAX_ENTRIES_OF_PAGE
    assert "KeyError" in shortcuts.broken["broken"]
    assert not shortcuts.reads(SITE)


def test_bytes_that_are_not_text_are_not_software() -> None:
    assert recognise(SITE, (), bytes(range(256)) * 2000) == ()
