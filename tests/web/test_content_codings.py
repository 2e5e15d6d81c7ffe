"""What was packed comes back, in whatever pieces it arrives; what breaks off is told from what is whole."""

import gzip
import random
import sys
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.web.content_codings import CodingError, GzipFileUnpacking, Unpacking, can_undo, codings_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def bare_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


PACK = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "x-gzip": gzip.compress,
}
LARGE = random.Random(3).randbytes(20_000) + bytes(2_000_000)


def unpack(packed: bytes, header: str, size: int) -> tuple[bytes, bool]:
    unpacking = Unpacking(codings_of(header))
    pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
    return b"".join(part for piece in pieces for part in unpacking.feed(piece)), unpacking.whole


@given(st.binary(max_size=2000), st.sampled_from(list(PACK)), st.integers(1, 300))
def test_what_was_packed_comes_back(plain: bytes, coding: str, size: int) -> None:
    packed = PACK[coding](plain)
    assert unpack(packed, coding, size) == (plain, True)
    if not coding.endswith(("br", "deflate")):
        assert unpack(packed + packed, coding, size) == (plain * 2, True)
        assert unpack(packed + b"\0padding", coding, size) == (plain, True)
    got, whole = unpack(packed[:-1], coding, size)
    assert plain.startswith(got)
    # Nothing at all is packed in one byte, and no byte is nothing at all.
    assert whole is (len(packed) == 1)


@given(st.binary(max_size=500), st.permutations(["gzip", "deflate", "br", "zstd"]), st.integers(1, 50))
def test_codings_on_top_of_each_other_are_undone(plain: bytes, codings: list[str], size: int) -> None:
    packed = plain
    for coding in codings:
        packed = PACK[coding](packed)
    assert unpack(packed, ", ".join(codings), size) == (plain, True)


@given(st.binary(max_size=500), st.sampled_from(list(PACK)), st.integers(1, 50))
def test_nothing_else_is_raised(body: bytes, coding: str, size: int) -> None:
    try:
        unpack(body, coding, size)
    except CodingError:
        assert body


@given(st.binary(max_size=500))
def test_a_bare_stream_is_deflate_too(plain: bytes) -> None:
    assert unpack(bare_deflate(plain), "deflate", 7) == (plain, True)


@pytest.mark.parametrize("coding", list(PACK))
def test_a_bomb_comes_out_in_small_pieces(coding: str) -> None:
    parts = list(Unpacking(codings_of(coding)).feed(PACK[coding](LARGE)))
    assert b"".join(parts) == LARGE
    assert max(map(len, parts)) <= 1 << 19


def test_a_large_window_is_refused() -> None:
    options: dict[int, int] = {
        zstd.CompressionParameter.window_log: 27,
        zstd.CompressionParameter.content_size_flag: 0,
    }
    packer = zstd.ZstdCompressor(options=options)
    with pytest.raises(CodingError):
        unpack(packer.compress(b"a" * 100) + packer.flush(), "zstd", 1000)


def test_a_body_of_a_great_many_streams_is_read() -> None:
    assert unpack(gzip.compress(b"x") * 3000, "gzip", 1 << 16) == (b"x" * 3000, True)


@pytest.mark.parametrize(
    ("header", "known"),
    [
        ("", True),
        ("UTF-8", True),
        ("identity, br", True),
        ("squeeze", False),
        ("gzip,gzip,gzip,gzip,gzip", False),
    ],
)
def test_what_can_be_undone_is_known_beforehand(header: str, *, known: bool) -> None:
    assert can_undo(codings_of(header)) is known


@given(st.binary(max_size=300), st.integers(1, 50))
def test_a_file_of_gzip_stays_what_it_is(plain: bytes, size: int) -> None:
    file = gzip.compress(plain)
    for sent in (file, gzip.compress(file)):
        unpacking = GzipFileUnpacking()
        pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
        got = b"".join(part for piece in pieces for part in unpacking.feed(piece)) + unpacking.rest()
        # Unless what is in the file looks like gzip itself.
        assert got == file or plain.startswith(b"\x1f\x8b")
        assert unpacking.whole
