from __future__ import annotations

import re
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.learners.hashed_table import HashedTable
from coati.model import Link
from coati.strategies.scent.link_keys import COLUMNS, NOTHING, SPECIFIC, Key, LinkKeys, key_of, words_of
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


LETTERS, DIGITS = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")


@given(st.text(max_size=60) | st.text("aZ09_-. ٣é", max_size=30))
def test_words_are_runs_of_letters(text: str) -> None:
    assert words_of(text) == LETTERS.findall(text)


segments = st.text("ab12._-é٣", max_size=12) | st.sampled_from(
    ["", "data", "login.html", "a.csv", "x.7z", "b."]
)
addresses = st.builds(
    lambda folders, query: "http://a.test/" + "/".join(folders) + query,
    st.lists(segments, min_size=1, max_size=25),
    st.sampled_from(["", "", "?b=1&a=2", "?page12=3", "?"]),
)
places = st.lists(st.sampled_from(["html", "div.row-12", "ul.é", "a#x7"]), max_size=5).map(tuple)
anchors = st.text("aB1 .é", max_size=80) | st.sampled_from(["", "Data", "Get CSV 2020", "contact us"])
found = st.lists(st.builds(Link, addresses, places, anchors, anchors), max_size=12)


@given(found)
def test_a_link_is_described_as_if_it_were_the_first(links: list[Link]) -> None:
    maker = LinkKeys(DATA_EXTENSIONS)
    source = maker.source("http://a.test/b/")
    for link in (*links, *links):
        row = maker.row(link, source)
        assert row == LinkKeys(DATA_EXTENSIONS).row(link, source)
        for column, key in plain_keys(link).items():
            assert row[column] == key, column


def plain_keys(link: Link) -> dict[Key, int]:
    """Describe a link by the definitions of its keys, without anything that saves time."""
    before, _, query = link.url.partition("?")
    folder, _, raw = before.removeprefix("http://").rpartition("/")
    host, *inner = fold(folder).split("/")
    name = fold(raw)
    stem, dot, extension = name.rpartition(".")
    if not dot or len(extension) > 8:
        stem, extension = name, ""
    extension = extension.lower()
    names = {part.partition("=")[0] for part in query.split("&")}
    parameters = "?" + fold("&".join(sorted(names))) if query else ""
    shape = LETTERS.sub("a", stem)[:12] + "." + extension + parameters
    words = LETTERS.findall(stem)
    directory = key_of(Key.DIRECTORY, "/".join([host, *inner]))
    kind = extension + "?" if query else extension
    tokens = [fold(element) for element in link.tag_path]
    tail = key_of(Key.TAIL, ">".join(tokens[-3:]))
    anchor = fold(link.anchor[:60].lower())
    anchor_words = LETTERS.findall(anchor)
    around = link.context[:120].lower() if link.context not in {"", link.anchor} else anchor
    types = [word for word in LETTERS.findall(around) if word in DATA_EXTENSIONS]
    folder_extension = also(Key.DIRECTORY_EXTENSION, directory, kind)
    return {
        Key.TOP: key_of(Key.TOP, host + "/" + "/".join(inner[:1])),
        Key.SECOND: key_of(Key.SECOND, host + "/" + "/".join(inner[:2])),
        Key.DIRECTORY: directory,
        Key.SHAPE: also(Key.SHAPE, directory, shape),
        Key.EXTENSION: key_of(Key.EXTENSION, kind),
        Key.FIRST_WORD: also(Key.FIRST_WORD, directory, words[0].lower() if words else ""),
        Key.FILE_NAME: key_of(Key.FILE_NAME, name + parameters),
        Key.DEPTH: key_of(Key.DEPTH, str(1 + len(inner))),
        Key.PARAMETERS: key_of(Key.PARAMETERS, parameters),
        Key.ELEMENT: key_of(Key.ELEMENT, tokens[-1] if tokens else ""),
        Key.TAIL: tail,
        Key.TAG_PATH: key_of(Key.TAG_PATH, ">".join(tokens)),
        Key.DIRECTORY_EXTENSION: folder_extension,
        Key.DIRECTORY_ANCHOR: also(Key.DIRECTORY_ANCHOR, folder_extension, anchor),
        Key.ANCHOR: key_of(Key.ANCHOR, anchor),
        Key.ANCHOR_LENGTH: key_of(Key.ANCHOR_LENGTH, str(min(5, len(anchor_words)))),
        Key.ANCHOR_WORD_1: key_of(Key.ANCHOR_WORD_1, anchor_words[0]) if anchor_words else NOTHING,
        Key.URL_WORD_2: key_of(Key.URL_WORD_1, words[1].lower()) if len(words) > 1 else NOTHING,
        Key.FOLDER_FILE: also(Key.FOLDER_FILE, key_of(Key.FOLDER, inner[-1] if inner else ""), shape),
        Key.SEGMENT_2: key_of(Key.SEGMENT_1, inner[1]) if len(inner) > 1 else NOTHING,
        Key.TAIL_EXTENSION: also(Key.TAIL_EXTENSION, tail, kind),
        Key.NAMED_TYPE: key_of(Key.NAMED_TYPE, types[0]) if types else NOTHING,
        Key.INNER_TOP: key_of(Key.INNER_TOP, inner[1] if len(inner) > 1 else ""),
        Key.INNER: key_of(Key.INNER, "/".join(inner[1:])),
        Key.INNER_SHAPE: also(Key.INNER_SHAPE, key_of(Key.INNER, "/".join(inner[1:])), shape),
    }


def fold(text: str) -> str:
    return DIGITS.sub("0", text)


def also(column: Key, key: int, text: str) -> int:
    return crc32(text.encode(), key ^ ((column + 1) * 0x9E3779B1 & 0xFFFFFFFF)) or 1


def test_an_address_may_be_as_deep_as_it_likes() -> None:
    deep = "http://a.test/" + "b/" * 5_000
    assert keys(deep)[Key.DIRECTORY] == key_of(Key.DIRECTORY, "a.test" + "/b" * 5_000)


def test_words_for_tails_are_those_of_the_crawl_that_was_loaded() -> None:
    maker = LinkKeys(DATA_EXTENSIONS)
    link = Link("http://a.test/a.csv", PATH)
    tail = maker.row(link, maker.source("http://a.test/"))[Key.TAIL]
    maker.load(LinkKeys(DATA_EXTENSIONS).save())
    assert not maker.tail_text(tail)
    maker.row(link, maker.source("http://a.test/"))
    assert maker.tail_text(tail) == "ul.files > li > a"


def test_a_key_of_two_aspects_has_a_place_of_its_own_where_the_second_is_empty() -> None:
    # Neither an extension, nor a word in its name, nor a text.
    row = keys("http://a.test/stats/")
    places = [row[column] % len(HashedTable(1)) for column in Key if row[column] != NOTHING]
    assert len(set(places)) == len(places)
