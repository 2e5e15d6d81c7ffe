import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.archive.sources.content_coding import Decoded, decode_body

LIMIT = 1_000_000


def decode(body: bytes, content: str = "", transfer: str = "", limit: int = LIMIT) -> Decoded:
    return decode_body(body, transfer_coding=transfer, content_coding=content, max_bytes=limit)


def chunked(body: bytes, size: int = 7) -> bytes:
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def bare_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


@given(st.binary(max_size=2000), st.integers(1, 500))
def test_chunks_are_joined(body: bytes, size: int) -> None:
    assert decode(chunked(body, size), transfer="chunked") == Decoded(body, whole=True)


@given(st.binary(max_size=2000))
def test_packed_bodies_are_unpacked(body: bytes) -> None:
    expected = Decoded(body, whole=True)
    assert decode(gzip.compress(body), "gzip") == expected
    assert decode(gzip.compress(body), "X-GZip ") == expected
    assert decode(zlib.compress(body), "deflate") == expected
    assert decode(bare_deflate(body), "deflate") == expected
    assert decode(chunked(gzip.compress(body), 100), "gzip", "chunked") == expected
    assert decode(gzip.compress(zlib.compress(body)), "deflate, gzip") == expected


# "Hello, Brotli" and "Hello, Zstandard", as the reference tools packed them.
BROTLI = bytes.fromhex("0b068048656c6c6f2c2042726f746c6903")
ZSTANDARD = bytes.fromhex("28b52ffd201081000048656c6c6f2c205a7374616e64617264")


def test_brotli_and_zstandard_are_unpacked() -> None:
    assert decode(BROTLI, "br") == Decoded(b"Hello, Brotli", whole=True)
    assert decode(ZSTANDARD, "zstd") == Decoded(b"Hello, Zstandard", whole=True)


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "deflate", "chunked", "identity", "unheard-of"])
@pytest.mark.parametrize("body", [b"", b"<html><p>not packed</p></html>"])
def test_a_body_that_was_unpacked_before_stays(coding: str, body: bytes) -> None:
    transfer, content = ("chunked", "") if coding == "chunked" else ("", coding)
    assert decode(body, content, transfer) == Decoded(body, whole=True)


def test_text_that_looks_like_a_chunk_stays() -> None:
    body = b"10\nis a number at the top of a page, and so it seems to be a size"
    assert decode(body, transfer="chunked") == Decoded(body, whole=True)


def test_a_body_that_ends_early_gives_its_beginning() -> None:
    text = bytes(range(256)) * 2000
    got = decode(gzip.compress(text)[:500], "gzip")
    assert text.startswith(got.body)
    assert got.body
    assert not got.whole
    assert decode(chunked(b"abcdefghij", 4)[:13], transfer="chunked") == Decoded(b"abcde", whole=False)


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_bomb_is_stopped_at_the_limit(coding: str) -> None:
    bomb = b"\0" * 50_000_000
    packed = gzip.compress(bomb, 1) if coding == "gzip" else zlib.compress(bomb, 1)
    got = decode(packed, coding, limit=1000)
    assert got == Decoded(b"\0" * 1000, whole=False)


@given(st.binary(max_size=300), st.text(max_size=20), st.text(max_size=20))
def test_nothing_that_a_server_sends_raises(body: bytes, content: str, transfer: str) -> None:
    decode(body, content, transfer)


@given(st.binary(max_size=300), st.sampled_from(["gzip", "br", "zstd", "deflate", "chunked,gzip"]))
def test_no_damaged_body_raises(body: bytes, coding: str) -> None:
    decode(body, coding)
    decode(gzip.compress(body)[: len(body)], coding)
