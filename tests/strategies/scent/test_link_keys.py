from __future__ import annotations

import numpy as np
import pytest

from coati.model import Link
from coati.strategies.scent.data_words import Meaning, meaning_of
from coati.strategies.scent.link_keys import COLUMNS, NOTHING, SPECIFIC, Key, LinkKeys
from coati.web.likely_extensions import DATA_EXTENSIONS

PATH = ("html", "body", "div.main", "ul.files", "li", "a")


def keys(url: str, anchor: str = "", path: tuple[str, ...] = PATH) -> list[int]:
    maker = LinkKeys(DATA_EXTENSIONS)
    return maker.row(Link(url, path, anchor), maker.source("http://a.test/"))


@pytest.mark.parametrize("name", ["a.csv", "a.7z", "a.geojson", "A.H5"])
def test_extensions_of_data_files_look_like_files(name: str) -> None:
    file, page = keys("http://a.test/" + name), keys("http://a.test/a.html")
    assert file[Key.FILE_LIKE] == keys("http://a.test/b.pdf")[Key.FILE_LIKE] != page[Key.FILE_LIKE]


def test_a_row_has_one_32_bit_key_a_column() -> None:
    row = keys("http://a.test/b/c.csv?x=1&y=2", "Get the data now, all of it")
    assert len(row) == COLUMNS
    assert all(0 <= key < 1 << 32 for key in row)


def test_keys_are_the_same_in_every_process() -> None:
    assert keys("http://a.test/b/c.csv", "Data")[Key.DIRECTORY] == 853375587


def test_digits_do_not_tell_links_apart() -> None:
    assert keys("http://a.test/2019/table-12.html", "Table 12") == keys(
        "http://a.test/2021/table-7.html", "Table 7"
    )


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (keys("http://a.test/b/d.html"), {Key.DIRECTORY, Key.EXTENSION, Key.TAIL}),
        (keys("http://a.test/x/c.html"), {Key.FILE_NAME, Key.EXTENSION, Key.TAG_PATH}),
        (keys("http://a.test/z/b/c.html"), {Key.FOLDER, Key.FOLDER_FILE}),
        (
            keys("http://a.test/b/c.html", path=("html", "ul.files", "li", "a")),
            {Key.TAIL, Key.SHAPE},
        ),
    ],
)
def test_likeness_shows_in_the_column_that_it_concerns(other: list[int], same: set[Key]) -> None:
    row = keys("http://a.test/b/c.html")
    assert row != other
    assert all(row[column] == other[column] for column in same)


def test_strange_urls_and_texts_have_keys_too() -> None:
    for url in (
        "http://a.test",
        "http://a.test/%ff%00",
        "http://a.test/a.b.c.d.e/...",
        "http://a.test/?&&=;",
    ):
        assert len(keys(url, "\u0000\ud83d\ude00 ١٢٣", ())) == COLUMNS


@pytest.mark.parametrize(
    ("words", "path", "meaning"),
    [
        (["download", "statistics"], "/a", Meaning.DATA),
        (["téléchargements"], "/a", Meaning.DATA),
        (["contact", "data", "office"], "/a", Meaning.CHORE),
        ([], "/open-data/", Meaning.DATA),
        ([], "/datasets/", Meaning.DATA),
        (["hello"], "/login.php", Meaning.CHORE),
        (["hello"], "/world", Meaning.NONE),
    ],
)
def test_meaning_of_words(words: list[str], path: str, meaning: Meaning) -> None:
    assert meaning_of(words, path) is meaning


def test_a_label_names_directory_extension_and_place() -> None:
    maker = LinkKeys(DATA_EXTENSIONS)
    link = Link("http://a.test/stats/2020/a.csv", PATH)
    row = maker.row(link, maker.source("http://a.test/"))
    assert maker.label(link.url, row[Key.TAIL]) == "/stats/*/*.csv in ul.files > li > a"


def test_without_the_specific_keys_links_of_one_directory_and_place_are_one_kind() -> None:
    maker = LinkKeys(DATA_EXTENSIONS)
    found = [
        (f"{name}-report.html", ("html", f"body.{name}", *PATH[2:]), f"See {name * times}", f"/{name}/index")
        for times, name in enumerate(("ab", "cd", "ef", "gh"), 1)
    ]
    rows = [
        maker.row(Link(f"http://a.test/all/{url}", path, anchor), maker.source(f"http://a.test{source}"))
        for url, path, anchor, source in found
    ]
    kinds = np.array(rows, np.uint32)
    assert len(np.unique(kinds, axis=0)) == 4
    kinds[:, SPECIFIC] = NOTHING
    assert len(np.unique(kinds, axis=0)) == 1


def test_a_file_type_may_be_named_by_the_anchor_or_around_it() -> None:
    def named(anchor: str, context: str = "") -> int:
        link = Link("http://a.test/x", ("html", "a"), anchor, context)
        made = LinkKeys({"pdf", "csv"})
        return made.row(link, made.source("http://a.test/"))[Key.NAMED_TYPE]

    assert named("Report (PDF, 2 MB)") == named("Report", "Report: PDF") == named("PDF", "PDF") != NOTHING
    assert named("Report", "Report as CSV") not in {NOTHING, named("PDF")}
    assert named("Report") == named("Report", "Report") == named("Report", "x " * 100 + "pdf") == NOTHING
