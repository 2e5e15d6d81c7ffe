from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.archive.archive import Archive
from coati.errors import UsageError
from coati.replaying.example_pages import example_pages, join_examples
from coati.replaying.site import ReplaySite
from coati.web.page_text import MAX_TEXT_CHARS, text_of
from tests.replaying import tiny_site
from tests.replaying.tiny_site import START


def test_pages_with_and_without_targets_are_distinguished(tmp_path: Path) -> None:
    with Archive.open(tiny_site.make(tmp_path / "tiny")) as archive:
        site = ReplaySite(archive)
        leading, others = example_pages(site)
        few = example_pages(site, most=1)
    # /a and /b link to targets; / does not, and /c has no words.
    assert leading == ["/a1.csv /a2.csv /", "/b1.csv /style /c"]
    assert [text.split()[:2] for text in others] == [["/a", "/b"]]
    assert few == (leading[:1], others)


def test_examples_of_sites_are_joined_and_both_sorts_are_needed() -> None:
    found = join_examples([(["a"], []), ([], ["b"]), (["c"], ["d"])])
    assert (found.positive, found.negative) == (["a", "c"], ["b", "d"])
    with pytest.raises(UsageError, match="with targets and without"):
        join_examples([(["a"], [])])


def test_what_is_not_a_page_has_no_text(tmp_path: Path) -> None:
    with Archive.open(tiny_site.make(tmp_path / "tiny")) as archive:
        site = ReplaySite(archive)
        assert site.page_text(START + "a") == "/a1.csv /a2.csv /"
        assert site.page_text(START + "nowhere") == ""
        assert not site.remarks
        # Its body was left out of the archive: a remark says so.
        assert site.page_text(START + "a1.csv") == ""
        assert list(site.remarks) == [START + "a1.csv"]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", ""),
        (b"<style>p {}</style><p>a<script>b</script>c<!-- d -->", "a c"),
        ("<p>Überblick".encode("latin-1"), "Überblick"),
        (b"<p>" + b"word " * 10_000, ("word " * 10_000)[:MAX_TEXT_CHARS]),
        (b"<div>" * 100_000 + b"deep", None),
    ],
)
def test_the_text_is_what_a_reader_sees(body: bytes, text: str | None) -> None:
    found = text_of(body, "text/html")
    assert text is None or found == text
    assert len(found) <= MAX_TEXT_CHARS


@given(st.binary(max_size=200))
def test_any_bytes_have_a_text(body: bytes) -> None:
    found = text_of(body)
    assert found == " ".join(found.split()) or found.isspace() or found.strip() != found
