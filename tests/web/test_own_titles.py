"""Titles that documents state about themselves: found cheaply, and no file is a danger."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.testing.office_files import write_zip
from coati.web.own_titles import MAX_TITLE_CHARS, own_title

CORE = '<cp:coreProperties xmlns:dc="x"><dc:title>{}</dc:title></cp:coreProperties>'


def pdf(info: bytes, *, between: bytes = b"") -> bytes:
    return (
        b"%PDF-1.4\n1 0 obj\n<</Title (A bookmark)>>\nendobj\n"
        + between
        + b"\n7 0 obj\n"
        + info
        + b"\nendobj\n"
        b"trailer\n<</Info 7 0 R /Root 2 0 R>>\n%%EOF"
    )


def title(data: bytes) -> str:
    return own_title(io.BytesIO(data))


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (b"<</Title (Annual report 2020)>>", "Annual report 2020"),
        (rb"<</Title (A \(small\) caf\351\n(and more))>>", "A (small) café (and more)"),
        (b"<</Title <FEFF00C90074006100740073>>>", "États"),
        (b"<</Title(\xef\xbb\xbfB\xc3\xa4ume)>>", "Bäume"),
        (b"<</Title(B\xc3\xa4ume)>>", "Bäume"),
        (b"<</Title(B\xe4ume)>>", "Bäume"),
        (b"<</Title (Microsoft Word - Report.doc)>>", "Report.doc"),
        (b"<</Producer (x)>>", ""),
    ],
)
def test_a_pdf_says_its_title_in_the_information_dictionary(info: bytes, expected: str) -> None:
    assert title(pdf(info)) == expected
    # It may stand far from the beginning: the end is looked at too.
    assert title(pdf(info, between=b"x" * 3_000_000)) == expected


def test_a_pdf_may_say_it_as_xmp() -> None:
    xmp = b'<dc:title><rdf:Alt><rdf:li xml:lang="x-default">Rents &amp; wages</rdf:li></rdf:Alt></dc:title>'
    assert title(b"%PDF-1.7\n" + xmp) == "Rents & wages"


def test_strings_of_an_encrypted_pdf_are_not_text() -> None:
    assert title(pdf(b"<</Title (\x8f\x03q)>> /Encrypt 9 0 R")) == ""


@pytest.mark.parametrize("name", ["docProps/core.xml", "meta.xml"])
def test_office_files_say_it_in_their_metadata(name: str) -> None:
    assert (
        title(write_zip({"a": b"1", name: CORE.format("Pr\u00e9visions &lt;2030&gt;").encode()}))
        == "Prévisions <2030>"
    )


def test_other_files_have_none() -> None:
    assert title(b"a,b\n1,2\n") == ""
    assert title(write_zip({"data.csv": b"1"})) == ""
    assert title(b"") == ""


def test_a_zip_bomb_is_read_no_further_than_a_title_can_be() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("docProps/core.xml", b" " * 50_000_000 + CORE.format("late").encode())
    assert title(packed.getvalue()) == ""
    many = write_zip({f"{'n' * 200}{number}": b"" for number in range(6000)} | {"meta.xml": CORE.encode()})
    assert title(many) == ""


def test_a_title_is_one_line_and_not_too_long() -> None:
    found = title(pdf(b"<</Title (" + b"word\n" * 700 + b")>>"))
    assert found.startswith("word word")
    assert len(found) <= MAX_TITLE_CHARS


@given(st.binary(max_size=400), st.sampled_from([b"%PDF-1.4\n", b"PK\x03\x04", b""]), st.integers(0, 400))
def test_nothing_raises(noise: bytes, start: bytes, at: int) -> None:
    title(start + noise)
    whole = write_zip({"meta.xml": CORE.encode()}) if start.startswith(b"PK") else pdf(b"<</Title (x)>>")
    title(whole[:at] + noise + whole[at:])
    title(whole[:at])
