import io
import uuid
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from coati.archive.record import Entry, Record
from coati.archive.warc_record import read_body, read_member, write_member, write_warcinfo
from coati.errors import UsageError
from coati.model import Kind
from tests.archive.samples import failure, page, redirect, target

names = st.text("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789-_", min_size=1, max_size=20)
values = st.text(max_size=60)
headers = st.lists(st.tuples(names, values), max_size=6).map(tuple)
paths = st.text("abcdef/0123456789%-._~?=&", max_size=40)


@st.composite
def records(draw: st.DrawFn) -> Record:
    body = draw(st.none() | st.binary(max_size=400))
    size = draw(st.integers(0, 10**15)) if body is None or draw(st.booleans()) else len(body)
    entry = Entry(
        url="http://example.test/" + draw(paths),
        status=draw(st.integers(100, 999)),
        media_type=draw(st.sampled_from(["", "text/html", "text/csv; charset=utf-8", "odd ü"])),
        size_bytes=size,
        kind=draw(st.none() | st.sampled_from(Kind)),
        location=draw(st.just("") | paths.map("http://example.test/{}".format)),
        fetched_at=draw(st.none() | st.integers(0, 4 * 10**9).map(float)),
    )
    return Record(entry, draw(headers), body)


@given(records())
def test_what_is_written_is_read_back(record: Record) -> None:
    member = write_member(record)
    reading = read_member(member.data)
    assert reading is not None
    assert reading.record.entry == member.entry
    assert reading.record.body == record.body
    assert reading.digest_claimed == member.body_digest
    if record.body is not None:
        assert read_body(member.data, len(record.body)) == record.body


@given(records())
def test_writing_again_what_was_read_changes_nothing(record: Record) -> None:
    first = read_member(write_member(record).data)
    assert first is not None
    second = read_member(write_member(first.record).data)
    assert second == first


@given(records())
def test_a_member_is_exactly_one_gzip_member(record: Record) -> None:
    unpacker = zlib.decompressobj(31)
    unpacker.decompress(write_member(record).data)
    assert unpacker.eof
    assert not unpacker.unused_data


@given(records())
def test_other_tools_read_it_and_find_the_digest_right(record: Record) -> None:
    for found in ArchiveIterator(io.BytesIO(write_member(record).data), check_digests="raise"):
        assert found.rec_headers.get_header("WARC-Target-URI") == record.entry.url
        assert found.http_headers.get_statuscode() == str(record.entry.status)
        assert found.content_stream().read() == (record.body or b"")
        break
    else:
        pytest.fail("no record")


def test_a_request_names_its_answer_and_each_record_is_named_by_a_random_uuid() -> None:
    record = Record(Entry("http://example.test/a", 200, "text/html", 1), body=b"x", sent=(("Accept", "*/*"),))
    member = write_member(record)
    request, response = ArchiveIterator(io.BytesIO(member.request + member.data))
    names = [each.rec_headers.get_header("WARC-Record-ID") for each in (request, response)]
    assert request.rec_headers.get_header("WARC-Concurrent-To") == names[1]
    parsed = {uuid.UUID(name.removeprefix("<").removesuffix(">")) for name in names}
    assert len(parsed) == 2
    assert all((name.version, name.variant) == (4, uuid.RFC_4122) for name in parsed)


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("http://example.test/", "/"),
        ("http://example.test:8080/a/b?c=/d", "/a/b?c=/d"),
        ("http://example.test//a", "//a"),
    ],
)
def test_a_request_has_the_path_and_the_query_of_its_url(url: str, asked: str) -> None:
    member = write_member(Record(Entry(url, 200, "text/html", 1), body=b"x", sent=()))
    request, _ = ArchiveIterator(io.BytesIO(member.request + member.data))
    assert request.http_headers.statusline == f"{asked} HTTP/1.1"
    assert request.http_headers.get_header("Host") == url.split("/")[2]


def test_headers_come_back_as_served_though_the_body_is_decoded() -> None:
    served = (
        ("Content-Encoding", "gzip"),
        ("Transfer-Encoding", "chunked"),
        ("Content-Length", "17"),
        ("Content-Type", "text/html"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
    )
    record = Record(Entry("http://example.test/", 200, "text/html", 5), served, b"hello")
    member = write_member(record)
    reading = read_member(member.data)
    assert reading is not None
    assert reading.record == record
    # For other tools, no header may claim that the body is still encoded.
    (other,) = ArchiveIterator(io.BytesIO(member.data))
    assert other.http_headers.get_header("Content-Encoding") is None
    assert other.http_headers.get_header("Content-Length") == "5"
    assert other.http_headers.get_header("X-Crawl-Content-Encoding") == "gzip"


def test_octets_that_are_not_text_survive_in_headers() -> None:
    served = (("X-Odd", b"caf\xe9".decode("utf-8", "surrogateescape")),)
    record = Record(Entry("http://example.test/", 200, "", 0), served, b"")
    reading = read_member(write_member(record).data)
    assert reading is not None
    assert reading.record.headers == served
    assert b"caf\xe9" in zlib.decompress(write_member(record).data, 31)


def test_a_header_value_cannot_start_a_header_of_its_own() -> None:
    entry = Entry("http://example.test/", 200, "text/html\r\nEvil: 1", 0)
    record = Record(entry, (("X", "a\r\nContent-Length: 9\r\n\r\n<html>"), ("bad name\n", "b")), b"")
    reading = read_member(write_member(record).data)
    assert reading is not None
    assert reading.record.body == b""
    assert [name for name, _ in reading.record.headers] == ["X", "Content-Type"]


def test_headers_without_end_are_cut() -> None:
    served = tuple((f"X-{number}", "x" * 1000) for number in range(2000))
    record = Record(Entry("http://example.test/", 200, "", 2), served, b"ok")
    reading = read_member(write_member(record).data)
    assert reading is not None
    assert reading.record.body == b"ok"
    assert 100 < len(reading.record.headers) < 300


@pytest.mark.parametrize(
    "url", ["", "example.test/", "http://example.test/a b", "http://a.test/\nX: y", "ftp://a/"]
)
def test_a_url_that_is_not_in_normal_form_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="normal form"):
        write_member(Record(Entry(url, 200, "", 0), body=b""))


def test_an_impossible_status_is_refused() -> None:
    with pytest.raises(UsageError, match="1000"):
        write_member(Record(Entry("http://example.test/", 1000, "", 0), body=b""))


def test_a_left_out_body_is_marked_as_the_standard_has_it() -> None:
    member = write_member(target("http://example.test/x.csv", None, 12345))
    (other,) = ArchiveIterator(io.BytesIO(member.data))
    assert other.rec_headers.get_header("WARC-Truncated") == "length"
    assert other.rec_headers.get_header("Coati-Kind") == "target"
    assert other.http_headers.get_header("Content-Length") == "12345"
    assert member.body_bytes is None


def test_plain_records_carry_no_field_of_ours() -> None:
    for record in (page("http://example.test/"), redirect("http://example.test/a", "http://example.test/b")):
        text = zlib.decompress(write_member(record).data, 31)
        assert (b"Coati-" in text) == (record.entry.fetched_at is None)


def test_a_failed_fetch_is_a_metadata_record() -> None:
    member = write_member(replace(failure("http://example.test/x"), body=b"half"))
    (other,) = ArchiveIterator(io.BytesIO(member.data))
    assert other.rec_type == "metadata"
    reading = read_member(member.data)
    assert reading is not None
    assert reading.record == failure("http://example.test/x")


def test_notes_of_tools_are_not_records() -> None:
    assert read_member(write_warcinfo({"software": "coati\nfake: 1"})) is None


@pytest.mark.parametrize("octets", [b"", b"garbage", b"\x1f\x8b\x08garbage", zlib.compress(b"x")])
def test_garbage_is_not_a_member(octets: bytes) -> None:
    with pytest.raises(ValueError, match=r"WARC|ompress"):
        read_member(octets)
