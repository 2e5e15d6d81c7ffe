from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from coati.errors import ConfigError
from coati.search.index_file import FILE_NAME, PageText, open_index, write_index
from coati.search.local_index import LocalIndex
from coati.web.queries import Ability, Query

PAGES = [
    PageText(
        "http://rain.test/", "Rain data", "Rain data Rain by month, all tables", ("http://rain.test/a",)
    ),
    PageText(
        "http://snow.test/", "Snow", "Snow and rain by day", ("http://rain.test/", "http://rain.test/x")
    ),
    PageText("http://www.hub.test/", "Links", "Many links", ("http://rain.test/other",)),
    PageText("http://food.test/", "Recipes", "Soups and salads"),
    PageText("http://food.test/2", "Recipes 2", "Soups and bread"),
    PageText("http://kitchen.test/", "Kitchen", "Soups, bread and salads"),
]


@pytest.fixture
def index(tmp_path: Path) -> LocalIndex:
    assert write_index(tmp_path / "index", PAGES, ["made"], lambda _: None) == len(PAGES)
    return LocalIndex(tmp_path / "index")


def found(index: LocalIndex, text: str, ability: Ability = Ability.KEYWORDS, page: int = 1) -> list[str]:
    return [hit.url for hit in index.search(Query("local", text, ability, page)).hits]


def test_keywords_find_pages_the_best_first(index: LocalIndex) -> None:
    assert found(index, "rain data") == ["http://rain.test/", "http://snow.test/"]


def test_what_looks_like_syntax_is_words(index: LocalIndex) -> None:
    assert found(index, 'NEAR("rain" AND NOT * ^title:') == [
        "http://rain.test/",
        "http://snow.test/",
        *found(index, "and")[1:],
    ]
    assert found(index, '"); DROP TABLE pages; --') == []


def test_backlinks_of_the_page_come_before_those_of_its_site(index: LocalIndex) -> None:
    assert found(index, "http://rain.test/", Ability.BACKLINKS) == [
        "http://snow.test/",
        "http://www.hub.test/",
    ]


def test_a_site_does_not_link_to_itself(index: LocalIndex) -> None:
    assert "http://rain.test/" not in found(index, "http://rain.test/a", Ability.BACKLINKS)


def test_related_pages_are_of_other_sites(index: LocalIndex) -> None:
    related = found(index, "http://food.test/", Ability.RELATED)
    assert "http://kitchen.test/" in related
    assert not any(url.startswith("http://food.test/") for url in related)
    assert found(index, "http://unknown.test/", Ability.RELATED) == []


def test_a_large_site_does_not_hide_the_others(tmp_path: Path) -> None:
    large = [PageText(f"http://large.test/{n}", "Rain rain", "Rain rain rain") for n in range(120)]
    small = [
        PageText(f"http://small.test/{n}", "About", "A page about rain, and much else") for n in range(3)
    ]
    write_index(tmp_path, [*large, *small], [], lambda _: None)
    index = LocalIndex(tmp_path)
    first = found(index, "rain")
    assert [url.startswith("http://large.test/") for url in first[:6]] == [
        *(True, True, False, False),
        *(True, True),
    ]
    pages = [found(index, "rain", page=page) for page in (1, 2, 3)]
    assert sorted(url for page in pages for url in page) == sorted(page.url for page in [*large, *small])


def test_more_pages_of_results(tmp_path: Path) -> None:
    pages = [PageText(f"http://{number}.test/", "Rain", "Rain") for number in range(60)]
    write_index(tmp_path, pages, [], lambda _: None)
    index = LocalIndex(tmp_path)
    first, second = (index.search(Query("local", "rain", page=page)) for page in (1, 2))
    assert (len(first.hits), first.more, len(second.hits), second.more) == (50, True, 10, False)
    assert not set(first.hits) & set(second.hits)


def test_of_two_pages_with_one_url_the_first_counts(tmp_path: Path) -> None:
    twice = [PageText("http://a.test/", "Old", "rain"), PageText("http://a.test/", "New", "snow")]
    assert write_index(tmp_path, twice, [], lambda _: None) == 1
    assert found(LocalIndex(tmp_path), "snow") == []


def test_an_index_is_replaced_when_the_new_one_is_whole(tmp_path: Path) -> None:
    write_index(tmp_path, PAGES, [], lambda _: None)

    def broken() -> list[PageText]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_index(tmp_path, (page for _ in range(1) for page in broken()), [], lambda _: None)
    assert found(LocalIndex(tmp_path), "rain")


def test_no_index_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="coati search index ARCHIVE"):
        open_index(tmp_path)


def test_an_index_of_another_version(tmp_path: Path) -> None:
    write_index(tmp_path, PAGES, [], lambda _: None)
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(ConfigError, match=r"of version 99.*make it with"):
        LocalIndex(tmp_path)


def test_a_file_that_is_not_an_index(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"x" * 5000)
    with pytest.raises(ConfigError, match="not a search index"):
        LocalIndex(tmp_path)
