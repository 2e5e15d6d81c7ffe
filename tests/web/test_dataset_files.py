from __future__ import annotations

import pytest

from coati.web.dataset_files import file_format, is_dataset_file
from coati.web.dataset_markup import dataset_markup
from coati.web.page_words import count_words, page_words, words_of_facts


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/rain.CSV",
        "http://a.test/rain.csv.gz",
        "http://a.test/x/rain.xlsx?v=2",
        "http://a.test/export?id=3&format=csv",
        "http://a.test/export?accessType=DOWNLOAD",
        "http://a.test/api/views/ab12-cd34/rows.rdf?x=1",
        "http://a.test/dataset/rain/resource/1-2/download/rain",
        "http://a.test/maps.kml",
        "http://a.test/all.zip",
    ],
)
def test_files_of_data(url: str) -> None:
    assert is_dataset_file(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/",
        "http://a.test/report.pdf",
        "http://a.test/manifest.json",
        "http://a.test/sitemap-1.xml",
        "http://a.test/sitemap.xml.gz",
        "http://a.test/feed.xml",
        "http://a.test/wp-json/wp/v2/posts/1.json",
        "http://a.test/oembed?format=json",
        "http://a.test/csv/",
        "http://a.test/list?format=html",
        "http://a.test/a?information=csv",
    ],
)
def test_other_addresses(url: str) -> None:
    assert not is_dataset_file(url)


def test_formats() -> None:
    urls = ["http://a.test/a.csv.gz", "http://a.test/x?format=JSON", "http://a.test/d/resource/1/download/x"]
    assert [file_format(url) for url in urls] == ["csv", "json", "file"]


@pytest.mark.parametrize(
    ("html", "syntaxes"),
    [
        (b'<script type="application/ld+json">{"@type": ["Thing", "Dataset"]}</script>', ["json-ld"]),
        (b'<div itemscope itemtype="https://schema.org/Dataset">', ["microdata"]),
        (b'<div typeof="dcat:Dataset">', ["rdfa"]),
        (b'<div vocab="http://schema.org/"><p typeof="Dataset">', ["rdfa"]),
        (b'<script type="application/ld+json">{"@type": "DataCatalog"}</script>', []),
        (b"<p>schema.org/Dataset", []),
        (b'"@type": "Dataset"', []),
    ],
)
def test_dataset_markup(html: bytes, syntaxes: list[str]) -> None:
    assert dataset_markup(html) == syntaxes


def test_words_are_letters_of_any_script() -> None:
    assert count_words("Données 2020: données, Ειδήσεις x1y") == {"données": 2, "ειδήσεις": 1}


def test_of_many_words_the_most_frequent_are_kept() -> None:
    assert count_words("aa bb bb cc", most=2) == {"bb": 2, "aa": 1}


def test_scripts_have_no_words() -> None:
    assert page_words(b"<script>var hidden</script><p>seen", "text/html")["words"] == {"seen": 1}


@pytest.mark.parametrize("facts", [{}, {"words": None}, {"words": {"title": "x"}}, {"words": {"words": 3}}])
def test_damaged_facts_hold_no_words(facts: dict[str, object]) -> None:
    assert words_of_facts(facts)["words"] == {}
