import base64
import gzip
import hashlib
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from coati.archive.record import ArchiveMeta, Record
from coati.archive.sources import warc_stream
from coati.archive.sources.source import DamagedPart, SourceOptions
from coati.archive.sources.warc_files import WarcFiles, warc_on_disk
from coati.errors import ArchiveError, UsageError
from coati.model import Kind
from coati.web.media import PRESETS
from tests.archive.samples import Reports, make, no_progress, volume
from tests.archive.warcs import HTTP, http, packed, response, warc

ROOT = "http://example.test/"
Pack = Callable[[list[bytes]], bytes]


def read(
    *octets: bytes, folder: Path, options: SourceOptions | None = None
) -> tuple[list[Record], list[DamagedPart]]:
    """Read files of these contents; gives the records and what was reported."""
    files = []
    for number, content in enumerate(octets):
        path = folder / f"{number}.warc.gz"
        path.write_bytes(content)
        files.append(warc_on_disk(path))
    reports = Reports()
    return list(WarcFiles(files, options or SourceOptions()).records(reports, no_progress)), reports.all


def urls(records: list[Record]) -> list[str]:
    return [record.entry.url.removeprefix(ROOT) for record in records]


SIX = [response(f"{ROOT}{number}", b"body %d " % number + bytes(500)) for number in range(6)]


@pytest.mark.parametrize("pack", [packed, b"".join, lambda records: gzip.compress(b"".join(records))])
def test_files_packed_by_record_as_a_whole_and_not_at_all_are_read(tmp_path: Path, pack: Pack) -> None:
    records, damaged = read(pack(SIX), folder=tmp_path)
    assert urls(records) == ["0", "1", "2", "3", "4", "5"]
    assert records[3].body == b"body 3 " + bytes(500)
    assert not damaged


def test_a_response_becomes_a_record(tmp_path: Path) -> None:
    block = http(b"a,b\n", media_type="Text/CSV; charset=utf-8", Server="x", Set_Cookie="a=1")
    octets = warc("response", "HTTP://Example.test:80/a/../b.csv#x", block, version="1.1")
    (record,), damaged = read(packed([octets]), folder=tmp_path)
    assert not damaged
    assert record.entry.url == "http://example.test/b.csv"
    assert record.entry.status == 200
    assert record.entry.media_type == "Text/CSV; charset=utf-8"
    assert record.entry.size_bytes == 4
    assert record.entry.kind is None
    assert record.entry.fetched_at == 1714979289.0
    assert ("Set-Cookie", "a=1") in record.headers


def test_addresses_in_angle_brackets_are_wgets(tmp_path: Path) -> None:
    records, _ = read(packed([response(f"<{ROOT}a>")]), folder=tmp_path)
    assert urls(records) == ["a"]


def test_what_is_not_a_response_of_the_web_is_skipped(tmp_path: Path) -> None:
    octets = packed(
        [
            warc("warcinfo", None, b"software: Wget\r\n", "application/warc-fields"),
            warc("request", ROOT, b"GET / HTTP/1.1\r\n\r\n", "application/http; msgtype=request"),
            warc("response", "dns:example.test", b"20240506\n", "text/dns"),
            response(ROOT),
            warc("metadata", ROOT, b"fetchTimeMs: 3\r\n", "application/warc-fields"),
            warc("resource", "metadata://gnu.org/software/wget/warc/wget.log", b"log", "text/plain"),
            warc("resource", "urn:pageinfo:http://example.test/", b"{}", "application/json"),
            warc("conversion", ROOT, b"text", "text/plain"),
            warc("response", f"{ROOT}cached", http(b"", "304 Not Modified")),
        ]
    )
    records, damaged = read(octets, folder=tmp_path)
    assert urls(records) == [""]
    assert not damaged


def test_a_resource_with_a_web_address_is_a_record(tmp_path: Path) -> None:
    octets = warc("resource", f"{ROOT}x.csv", b"a,b\n", "text/csv")
    (record,), _ = read(packed([octets]), folder=tmp_path)
    assert (record.entry.status, record.entry.media_type, record.body) == (200, "text/csv", b"a,b\n")


def test_bodies_are_decoded(tmp_path: Path) -> None:
    page = b"<p>" + b"text " * 100
    squeezed = gzip.compress(page)
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(squeezed), squeezed)
    octets = packed(
        [
            response(f"{ROOT}chunked", chunks, Content_Encoding="gzip", Transfer_Encoding="chunked"),
            response(f"{ROOT}joined", squeezed, Content_Encoding="gzip", Transfer_Encoding="chunked"),
            response(f"{ROOT}undone", page, Content_Encoding="gzip"),
            response(f"{ROOT}zlib", zlib.compress(page), Content_Encoding="deflate"),
        ]
    )
    records, damaged = read(octets, folder=tmp_path)
    assert [record.body for record in records] == [page] * 4
    assert [record.entry.size_bytes for record in records] == [len(page)] * 4
    assert not damaged


def test_a_body_that_cannot_be_decoded_to_its_end_is_kept_and_reported(tmp_path: Path) -> None:
    squeezed = gzip.compress(bytes(range(256)) * 40)[:-20]
    (record,), (damaged,) = read(packed([response(ROOT, squeezed, Content_Encoding="gzip")]), folder=tmp_path)
    assert record.body
    assert "cannot be decoded to its end" in damaged.reason
    assert damaged.url == ROOT


def hexadecimal(algorithm: str, octets: bytes) -> str:
    return f"{algorithm}:{hashlib.new(algorithm, octets).hexdigest()}"


def base_32(algorithm: str, octets: bytes) -> str:
    return f"{algorithm}:{base64.b32encode(hashlib.new(algorithm, octets).digest()).decode()}"


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
@pytest.mark.parametrize("written", [hexadecimal, base_32])
def test_what_is_not_what_its_digest_says_is_reported_and_kept(
    tmp_path: Path, algorithm: str, written: Callable[[str, bytes], str]
) -> None:
    block = http(b"<p>hello</p>")
    sound = [
        {"WARC_Block_Digest": written(algorithm, block)},
        {"WARC_Payload_Digest": written(algorithm, b"<p>hello</p>")},
        # The block is told without a doubt; of payloads, tools have different ideas.
        {"WARC_Block_Digest": hexadecimal(algorithm, block), "WARC_Payload_Digest": "sha1:" + "A" * 32},
    ]
    damaged = [
        {"WARC_Block_Digest": hexadecimal(algorithm, block[:-1])},
        {"WARC_Payload_Digest": written(algorithm, b"<p>hullo</p>")},
    ]
    octets = [warc("response", f"{ROOT}{n}", block, **fields) for n, fields in enumerate(sound + damaged)]
    records, reported = read(packed(octets), folder=tmp_path)
    assert urls(records) == ["0", "1", "2", "3", "4"]
    assert [each.url.removeprefix(ROOT) for each in reported] == ["3", "4"]
    assert {each.reason for each in reported} == {"it is not what its digest says; it is kept as it is"}


@pytest.mark.parametrize(
    "digest", ["", "sha1", "sha1:", "sha1:xyz", "sha256:" + "A" * 32, "md5:00", "crc:1", "sha1:é" + "A" * 31]
)
def test_a_digest_that_cannot_be_read_says_nothing(tmp_path: Path, digest: str) -> None:
    fields = {"WARC_Block_Digest": digest, "WARC_Payload_Digest": digest}
    (record,), reported = read(packed([warc("response", ROOT, http(b"<p>"), **fields)]), folder=tmp_path)
    assert (record.body, reported) == (b"<p>", [])


@pytest.mark.parametrize("of", ["sent", "unpacked"])
def test_the_digest_of_a_body_may_be_that_of_its_coded_form(tmp_path: Path, of: str) -> None:
    page, squeezed = b"<p>text", gzip.compress(b"<p>text")
    block = http(squeezed, Content_Encoding="gzip")
    digest = base_32("sha1", squeezed if of == "sent" else page)
    octets = packed([warc("response", ROOT, block, WARC_Payload_Digest=digest)])
    (record,), reported = read(octets, folder=tmp_path)
    assert (record.body, reported) == (page, [])


def test_the_digest_of_what_was_cut_off_is_not_compared(tmp_path: Path) -> None:
    fields = {"WARC_Truncated": "length", "WARC_Payload_Digest": base_32("sha1", b"the whole of it")}
    _, reported = read(packed([warc("response", ROOT, http(b"the whole"), **fields)]), folder=tmp_path)
    assert not reported


def test_redirects_lead_to_absolute_addresses(tmp_path: Path) -> None:
    octets = packed(
        [
            warc("response", f"{ROOT}a/b", http(b"", "301 Moved", "", Location="../c#x")),
            warc("response", f"{ROOT}d", http(b"", "302 Found", "", Location="http://[")),
        ]
    )
    records, _ = read(octets, folder=tmp_path)
    assert [record.entry.location for record in records] == [f"{ROOT}c", ""]


def test_lines_that_end_as_they_like_are_read(tmp_path: Path) -> None:
    block = b"HTTP/1.0 200 OK\nContent-Type: text/html\nno header\n\n<p>"
    (record,), damaged = read(packed([warc("response", ROOT, block)]), folder=tmp_path)
    assert (record.entry.media_type, record.body) == ("text/html", b"<p>")
    assert not damaged


@pytest.mark.parametrize("block", [b"", b"garbage", b"ICY 200 OK\r\n\r\nx", b"\0" * 50])
def test_a_response_that_is_none_is_damaged(tmp_path: Path, block: bytes) -> None:
    records, (damaged,) = read(packed([*SIX[:1], warc("response", ROOT, block), SIX[2]]), folder=tmp_path)
    assert urls(records) == ["0", "2"]
    assert damaged.reason == "it holds no HTTP response"
    assert damaged.url == ROOT
    assert "0.warc.gz, byte" in damaged.where


def test_a_part_of_a_file_has_the_size_of_the_whole(tmp_path: Path) -> None:
    part = http(b"abcd", "206 Partial Content", "text/csv", Content_Range="bytes 0-3/4000")
    cut = http(b"abcd", media_type="text/csv", Content_Length="5000")
    octets = packed(
        [warc("response", f"{ROOT}1", part), warc("response", f"{ROOT}2", cut, WARC_Truncated="time")]
    )
    records, _ = read(octets, folder=tmp_path)
    assert [record.entry.size_bytes for record in records] == [4000, 5000]


def test_a_body_that_is_too_large_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc_stream, "MAX_BODY_BYTES", 400)
    octets = packed([response(f"{ROOT}small"), SIX[0], response(f"{ROOT}after")])
    records, damaged = read(octets, folder=tmp_path)
    assert [record.body is None for record in records] == [False, True, False]
    assert records[1].entry.size_bytes == 507
    assert not damaged


# -- revisits ------------------------------------------------------------------------------------


def revisit(url: str, block: bytes = b"", **fields: str) -> bytes:
    profile = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
    return warc("revisit", url, block, HTTP if block else "", WARC_Profile=profile, **fields)


def original(url: str, body: bytes, digest: str, name: str = "<urn:uuid:1>") -> bytes:
    return warc("response", url, http(body), WARC_Payload_Digest=digest, WARC_Record_ID=name)


def test_a_revisit_has_the_body_that_it_refers_to_wherever_that_is(tmp_path: Path) -> None:
    first = packed(
        [
            revisit(f"{ROOT}later", WARC_Payload_Digest="sha1:B"),
            original(f"{ROOT}a", b"A", "sha1:A"),
            revisit(f"{ROOT}same", http(b"", X_Own="1"), WARC_Payload_Digest="sha1:A"),
            revisit(f"{ROOT}named", WARC_Refers_To="<urn:uuid:1>"),
        ]
    )
    second = packed([original(f"{ROOT}b", b"B", "sha1:B", "<urn:uuid:2>")])
    records, damaged = read(first, second, folder=tmp_path)
    assert {record.entry.url: record.body for record in records} == {
        f"{ROOT}a": b"A",
        f"{ROOT}b": b"B",
        f"{ROOT}same": b"A",
        f"{ROOT}later": b"B",
        f"{ROOT}named": b"A",
    }
    assert ("X-Own", "1") in next(record.headers for record in records if record.entry.url.endswith("same"))
    assert not damaged


def test_each_revisit_of_a_page_is_a_capture_of_its_own(tmp_path: Path) -> None:
    dates = ["2024-05-07T00:00:00Z", "2024-05-08T00:00:00Z"]
    visits = [revisit(ROOT, WARC_Payload_Digest="sha1:A", WARC_Date=date) for date in dates]
    # They may stand before what they repeat.
    octets = packed([*visits, original(ROOT, b"A", "sha1:A")])
    records, damaged = read(octets, folder=tmp_path)
    assert [record.body for record in records] == [b"A"] * 3
    assert len({record.entry.fetched_at for record in records}) == 3
    assert not damaged


def test_a_revisit_of_something_that_is_not_there_is_reported(tmp_path: Path) -> None:
    octets = packed([*SIX[:1], revisit(f"{ROOT}x", WARC_Payload_Digest="sha1:X"), revisit(f"{ROOT}y")])
    records, damaged = read(octets, folder=tmp_path)
    assert urls(records) == ["0"]
    assert [(report.url, report.reason) for report in damaged] == [
        (f"{ROOT}x", "what it repeats is not in these files"),
        (f"{ROOT}y", "what it repeats is not in these files"),
    ]


def test_not_modified_says_nothing_new(tmp_path: Path) -> None:
    octets = packed(
        [*SIX[:1], revisit(f"{ROOT}x").replace(b"identical-payload-digest", b"server-not-modified")]
    )
    records, damaged = read(octets, folder=tmp_path)
    assert urls(records) == ["0"]
    assert not damaged


# -- damage --------------------------------------------------------------------------------------


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_file_that_ends_anywhere_gives_the_records_before(tmp_path: Path, data: st.DataObject) -> None:
    members = [gzip.compress(record) for record in SIX]
    whole = b"".join(members)
    end = data.draw(st.integers(1, len(whole) - 1))
    ends = [sum(map(len, members[: number + 1])) for number in range(6)]
    records, damaged = read(whole[:end], folder=tmp_path)
    complete = sum(1 for place in ends if place <= end)
    assert urls(records) == [str(number) for number in range(complete)]
    assert [report.where.rpartition(" ")[2] for report in damaged] == (
        [] if end in ends else [str(ends[complete - 1] if complete else 0)]
    )


def unpacks_to(member: bytes, record: bytes) -> bool:
    try:
        return gzip.decompress(member) == record
    except (OSError, EOFError, zlib.error):
        return False


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_costs_the_record_that_it_touches(tmp_path: Path, data: st.DataObject) -> None:
    members = [bytearray(gzip.compress(record)) for record in SIX]
    hit = data.draw(st.integers(0, 5))
    place = data.draw(st.integers(10, len(members[hit]) - 1))
    members[hit][place] ^= 1 << data.draw(st.integers(0, 7))
    # The last bits before the check sum only fill a byte up: whatever they are, the record is as it was.
    assume(not unpacks_to(bytes(members[hit]), SIX[hit]))
    records, (damaged,) = read(b"".join(members), folder=tmp_path)
    assert urls(records) == [str(number) for number in range(6) if number != hit]
    assert damaged.where.endswith(f"byte {sum(map(len, members[:hit]))}")


@pytest.mark.parametrize("pack", [packed, b"".join])
@pytest.mark.parametrize(
    "garbage", [b"garbage" * 50, b"\0" * 300, b"\x1f\x8b\x08\0\0", b"WARC/1.0\r\nnonsense"]
)
def test_garbage_anywhere_is_passed_over(tmp_path: Path, pack: Pack, garbage: bytes) -> None:
    records, damaged = read(garbage + pack(SIX[:3]) + garbage + pack(SIX[3:]) + garbage, folder=tmp_path)
    assert urls(records) == ["0", "1", "2", "3", "4", "5"]
    assert 1 <= len(damaged) <= 3


@pytest.mark.parametrize("length", [b"-5", b"99999999999999999999", b"abc", b""])
def test_a_length_that_is_none_costs_its_record(tmp_path: Path, length: bytes) -> None:
    bad = SIX[1].replace(b"Content-Length: ", b"Content-Length: " + length + b"\r\nX: ", 1)
    for pack in (packed, b"".join):
        records, damaged = read(pack([SIX[0], bad, SIX[2]]), folder=tmp_path)
        assert urls(records) == ["0", "2"]
        assert len(damaged) == 1


@given(octets=st.binary(max_size=500))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_file_raises(tmp_path: Path, octets: bytes) -> None:
    read(octets, b"\x1f\x8b\x08" + octets, b"WARC/1.0\r\n" + octets, folder=tmp_path)


# -- what the archive will say about itself --------------------------------------------------------


def describe(octets: bytes, folder: Path, options: SourceOptions | None = None) -> ArchiveMeta:
    path = folder / "crawl.warc.gz"
    path.write_bytes(octets)
    return WarcFiles([warc_on_disk(path)], options or SourceOptions()).meta()


def test_a_crawl_began_with_its_first_page_or_redirect(tmp_path: Path) -> None:
    robots = response("https://www.example.test/robots.txt", b"", media_type="text/html")
    image = response("https://www.example.test/a.png", b"", media_type="image/png")
    meta = describe(packed([robots, image, response("https://www.example.test/home")]), tmp_path)
    assert meta.start_url == "https://www.example.test/home"
    assert meta.name == "example.test"
    assert meta.types == PRESETS["data"]
    assert meta.origin == "crawl.warc.gz"


@pytest.mark.parametrize(
    "octets", [b"", b"junk\n", gzip.compress(b"junk\n", mtime=0), bytes(range(256)) * 20]
)
def test_what_is_not_a_warc_file_is_called_so(tmp_path: Path, octets: bytes) -> None:
    with pytest.raises(ArchiveError, match="it is empty, or no WARC file"):
        describe(octets, tmp_path)


def test_wishes_go_first(tmp_path: Path) -> None:
    options = SourceOptions("mine", f"{ROOT}3", PRESETS["tables"])
    meta = describe(packed(SIX), tmp_path, options)
    assert (meta.name, meta.start_url, meta.types) == ("mine", f"{ROOT}3", PRESETS["tables"])


def test_without_a_page_the_start_must_be_said(tmp_path: Path) -> None:
    octets = packed([response(f"{ROOT}x.png", b"", media_type="image/png")])
    with pytest.raises(ArchiveError, match="--start-url"):
        describe(octets, tmp_path)
    assert describe(octets, tmp_path, SourceOptions(start_url=ROOT)).start_url == ROOT


def test_no_file_is_an_error() -> None:
    with pytest.raises(UsageError, match="no WARC file"):
        WarcFiles([], SourceOptions())


def test_our_own_files_come_back_with_their_labels(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    source = WarcFiles([warc_on_disk(volume(folder))], SourceOptions())
    reports = Reports()
    records = list(source.records(reports, no_progress))
    assert not reports.all
    left_out = next(record for record in records if record.entry.url.endswith("large.csv"))
    assert (left_out.body, left_out.entry.size_bytes, left_out.entry.kind) == (None, 10_000_000, Kind.TARGET)
