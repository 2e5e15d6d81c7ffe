"""The tables of the MIME Sniffing Standard, line by line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.web.sniffing import SNIFFED_BYTES, sniffed_type

MP4 = b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp42"
WEBM = b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01\x42\x82\x84webm"

TABLE = [
    *(
        (tag, "text/html")
        for tag in (
            *(b"<!DOCTYPE HTML>", b"<!doctype html ", b"<HTML>", b"<html lang=x", b"<HEAD>", b"<SCRIPT "),
            *(b"<IFRAME ", b"<H1>", b"<DIV>", b"<FONT ", b"<TABLE>", b"<A ", b"<STYLE>", b"<TITLE>", b"<B>"),
            *(b"<BODY>", b"<BR>", b"<P>", b"<!-- x", b" \t\r\n\x0c<p>"),
        )
    ),
    *((text, "text/plain") for text in (b"<ul>", b"<bogus>", b"<a/>", b"x<p>", b"<html", b"a,b\n1,2\n")),
    (b"<?xml version='1.0'?>", "text/xml"),
    (b"\n<?xml", "text/xml"),
    (b"%PDF-1.7", "application/pdf"),
    (b" %PDF-1.7", "text/plain"),
    (b"%!PS-Adobe-3.0", "application/postscript"),
    (b"\xfe\xff\x00a", "text/plain"),
    (b"\xff\xfea\x00", "text/plain"),
    (b"\xef\xbb\xbfa;b", "text/plain"),
    (b"\x00\x00\x01\x00\x01", "image/x-icon"),
    (b"\x00\x00\x02\x00\x01", "image/x-icon"),
    (b"BM\x00", "image/bmp"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"RIFF\x01\x02\x03\x04WEBPVP8 ", "image/webp"),
    (b"\x89PNG\r\n\x1a\n\x00", "image/png"),
    (b"\xff\xd8\xff\xe0", "image/jpeg"),
    (b"FORM\x01\x02\x03\x04AIFF", "audio/aiff"),
    (b"ID3\x04", "audio/mpeg"),
    (b"OggS\x00", "application/ogg"),
    (b"MThd\x00\x00\x00\x06", "audio/midi"),
    (b"RIFF\x01\x02\x03\x04AVI ", "video/avi"),
    (b"RIFF\x01\x02\x03\x04WAVE", "audio/wave"),
    (MP4, "video/mp4"),
    (MP4[:20], "application/octet-stream"),
    (WEBM, "video/webm"),
    (b"\x1a\x45\xdf\xa3" + b"\x00" * 40, "application/octet-stream"),
    (b"\x1f\x8b\x08\x00", "application/x-gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"Rar \x1a\x07\x00", "application/x-rar-compressed"),
    (b"Rar!\x1a\x07\x01\x00", "application/x-rar-compressed"),
    *((bytes([byte]) + b"x", "application/octet-stream") for byte in (*range(9), 0x0B, *range(0x0E, 0x1B))),
    *((b"x" + bytes([byte]), "application/octet-stream") for byte in range(0x1C, 0x20)),
    *((b"x" + bytes([byte]), "text/plain") for byte in (9, 0x0A, 0x0C, 0x0D, 0x1B, 0x20, 0x7F, 0x80, 0xFF)),
]


@pytest.mark.parametrize(("beginning", "media_type"), TABLE)
def test_what_has_no_type_is_recognised_by_its_first_bytes(beginning: bytes, media_type: str) -> None:
    for declared in ("", "unknown/unknown", "application/unknown", "*/*", ";;;=/x", "no type", "text/"):
        assert sniffed_type(declared, beginning) == media_type


@pytest.mark.parametrize(
    "declared",
    [
        "text/plain",
        "text/plain; charset=ISO-8859-1",
        "text/plain; charset=iso-8859-1",
        "text/plain; charset=UTF-8",
    ],
)
def test_plain_text_is_believed_of_text(declared: str) -> None:
    assert sniffed_type(declared, b"<html>a,b") == declared
    assert sniffed_type(declared, b"\xff\xfea\x00") == declared
    assert sniffed_type(declared, b"PK\x03\x04\x00") == "application/octet-stream"


@pytest.mark.parametrize(
    "declared", ["text/csv", "application/octet-stream", "text/plain; charset=utf-8", "Text/HTML; charset=x"]
)
@given(beginning=st.binary())
def test_any_other_type_is_believed(declared: str, beginning: bytes) -> None:
    assert sniffed_type(declared, beginning) == declared


def test_nothing_is_said_of_nothing_and_no_more_is_looked_at_than_the_standard_does() -> None:
    assert sniffed_type("", b"") == ""
    assert sniffed_type("", b" " * SNIFFED_BYTES + b"\x00<html>") == "text/plain"
