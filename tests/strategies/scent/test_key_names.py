"""Links that `explain` gives one name are those that have one place in scent's tables, and no others."""

from __future__ import annotations

from itertools import combinations

import pytest

from coati.learners.hashed_table import HashedTable
from coati.model import Link
from coati.strategies.scent.key_names import LinkTexts, links_like
from coati.strategies.scent.link_keys import Key, LinkKeys
from coati.strategies.scent.scent import CHAINS

PLACES = len(HashedTable(1))
SITE = "http://a.test"
PATHS = (
    "/", "/x", "/x.html", "/7.html", "/stats/", "/stats/x.html", "/stats/y.html", "/stats/x.HTML",
    "/stats/x.csv",
    "/stats/x", "/stats/x.", "/stats/7", "/stats/2020.html", "/stats/2021.html", "/stats/x-2020.html",
    "/stats/x.html?id=3", "/stats/x.html?id=4", "/stats/x.html?print=1&id=3", "/stats/?id=3", "/stats/?",
    "/stats/x.ab1", "/stats/x.ab24", "/stats/x.statistics", "/stats/y.statistics", "/stats/x.longlong",
    "/stats/a-b-c-d-e-f-g.html", "/stats/a-b-c-d-e-f-h-i.html", "/stats/a-b-c-d-e-f.html",
    "/stats/Annual-x.html",
    "/stats/annual-y.html", "/other/", "/other/x.html", "/other/2020.html", "/stats/trade/",
    "/stats/trade/x.html",
    "/stats/trade/2020/x.html", "/stats/trade/2021/x.html", "/other/trade/x.html", "/other/trade/2020/x.html",
    "/stats/income/x.html", "/2020/trade/x.html", "/2021/trade/x.html",
)  # fmt: skip
ANCHORS = ("", "Bulletin 2", "BULLETIN 3", "Bulletin", "3", "x" * 59, "x" * 60, "x" * 61)
# What a key of these stands for is not all in the name: the page is that of the link, and a place its end.
RELATIVE = {Key.SOURCE, Key.TAG_PATH}
COLUMNS = sorted({column for chain in CHAINS for column in chain} - RELATIVE)

LINKS = [Link(SITE + path, ("html", "body", "ul.a1", "li", "a")) for path in PATHS]
LINKS += [Link(f"{SITE}{path}", (), anchor) for path in ("/a.csv", "/a/b.csv", "/a/b") for anchor in ANCHORS]
LINKS += [
    Link(f"{SITE}/a.csv", tuple(place.split())) for place in ("a", "li a", "ul.a2 li a", "ul.a3 li a", "b")
]
SOURCES = [f"{SITE}/", f"{SITE}/1/x", f"{SITE}/2/y", f"{SITE}/2/y/z?a=/b", f"{SITE}/a/x"]


@pytest.mark.parametrize("column", COLUMNS)
def test_links_have_one_name_if_and_only_if_they_share_a_place(column: Key) -> None:
    keys = LinkKeys({"csv"})
    named = []
    for link in LINKS:
        for source in SOURCES if column is Key.SOURCE_DIRECTORY else SOURCES[:1]:
            row = keys.row(link, keys.source(source))
            texts = LinkTexts(link.url, keys.tail_text(row[Key.TAIL]), link.anchor, source)
            named.append((row[column] % PLACES, links_like(column, texts)))
    assert len(set(named)) > 2
    for (place, name), (other_place, other) in combinations(set(named), 2):
        assert (place == other_place) == (name == other), (name, other)


@pytest.mark.parametrize(
    ("column", "path", "name"),
    [
        (Key.TOP, "/stats/trade/x.html", "links anywhere under /stats/"),
        (Key.TOP, "/x.html", "links directly in /"),
        (Key.SECOND, "/stats/x.html", "links directly in /stats/"),
        (Key.SECOND, "/stats/trade/2020/x.html", "links anywhere under /stats/trade/"),
        (Key.DIRECTORY, "/stats/trade/x.html", "links directly in /stats/trade/"),
        (Key.SHAPE, "/d/view-3.php?id=3&print=1", "links like /d/…-*.php?id&print"),
        (Key.INNER_TOP, "/en/stats/trade/x", "links anywhere under /…/stats/"),
        (Key.INNER_TOP, "/en/x", "links directly in / or /…/"),
        (Key.INNER_SHAPE, "/en/stats/table-3.html", "links like /…/stats/…-*.html"),
        (Key.INNER_SHAPE, "/table-3.html", "links like /…-*.html or /…/…-*.html"),
        (Key.FIRST_WORD, "/stats/Annual-2020.html", 'links directly in /stats/ whose first word is "annual"'),
        (Key.FIRST_WORD, "/stats/2020.html", "links directly in /stats/ whose names have no word"),
        (Key.FILE_NAME, "/a/", "links that end with a slash"),
        (Key.FILE_NAME, "/a/?id=3", "links that end with /?id"),
        (Key.FILE_NAME, "/a/data3.csv?id=3", "links to names like data*.csv?id"),
        (Key.EXTENSION, "/a/x.AB2", "links to .ab*"),
        (Key.EXTENSION, "/a/x.statistics", "links without an extension"),
        (Key.EXTENSION, "/a/?id=3", "links with parameters and without an extension"),
        (Key.DIRECTORY_EXTENSION, "/a/x.php?id=3", "links to .php with parameters directly in /a/"),
        (Key.DIRECTORY_ANCHOR, "/a/x.csv", 'links to .csv directly in /a/ called "bulletin *"'),
        (Key.ANCHOR, "/a/x.csv", 'links called "bulletin *"'),
        (Key.SOURCE_DIRECTORY, "/a/x.csv", "links found on pages directly in /news/*/"),
        (Key.DEPTH, "/a/x.csv", "links with the same depth"),
    ],
)
def test_a_name_says_which_links_share_the_key(column: Key, path: str, name: str) -> None:
    texts = LinkTexts(SITE + path, anchor="Bulletin 2", source_url=f"{SITE}/news/2024/")
    assert links_like(column, texts) == name


def test_what_is_not_known_of_a_link_is_not_named() -> None:
    texts = LinkTexts(f"{SITE}/a/x.csv")
    assert links_like(Key.ANCHOR, texts) == "links with the same text"
    assert links_like(Key.TAIL, texts) == "links at this place of a page"
    assert links_like(Key.SOURCE_DIRECTORY, texts) == "links found on pages in the same folder"
    assert links_like(Key.ANCHOR, texts._replace(anchor="")) == "links without a text"
