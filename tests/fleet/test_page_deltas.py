from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.fleet.page_deltas import PAGE_BYTES, apply, changed_pages, digests_of, pack_pages, split_pages


def pages(image: bytes, chunk: int = 1000) -> list[bytes]:
    return list(split_pages(image[at : at + chunk] for at in range(0, len(image), chunk)))


def delta(before: bytes, after: bytes) -> bytes:
    changed = changed_pages(digests_of(pages(before)), digests_of(pages(after)))
    return pack_pages(pages(after), set(changed))


def images(seed: int) -> tuple[bytes, bytes]:
    """Make an image, and another one with some pages changed, added or dropped."""
    chance = random.Random(seed)
    before = bytearray(chance.randbytes(chance.randrange(6 * PAGE_BYTES)))
    after = bytearray(before)
    for _ in range(chance.randrange(4)):
        if after:
            after[chance.randrange(len(after))] ^= 1
    del after[chance.randrange(len(after) + 1) :]
    after += chance.randbytes(chance.randrange(3 * PAGE_BYTES))
    return bytes(before), bytes(after)


@given(st.integers(0, 10_000))
def test_what_changed_over_the_older_image_is_the_newer_one(seed: int) -> None:
    before, after = images(seed)
    assert apply(before, delta(before, after)) == after


def test_little_is_sent_where_little_changed(tmp_path: Path) -> None:
    file = tmp_path / "log.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE log (id INTEGER PRIMARY KEY, text BLOB)")
        rows = [(random.Random(number).randbytes(200),) for number in range(5_000)]
        connection.executemany("INSERT INTO log (text) VALUES (?)", rows)
    connection.close()
    before = file.read_bytes()
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO log (text) VALUES (x'00')")
    connection.close()
    packed = delta(before, file.read_bytes())
    assert len(packed) < len(before) / 40
    assert apply(before, packed) == file.read_bytes()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda packed: packed[:-1],
        lambda packed: b"x" + packed[1:],
        lambda packed: packed[:5],
        lambda packed: packed[:14] + b"\xff" * 8 + packed[22:],
        lambda packed: packed[:22] + b"\xff\xff\xff\xff" + packed[26:],
        lambda packed: packed[:30] + b"\0\0\0" + packed[33:],
    ],
)
def test_damage_is_found(spoil: object) -> None:
    packed = delta(b"", random.Random(1).randbytes(3 * PAGE_BYTES))
    assert callable(spoil)
    with pytest.raises(ValueError, match="packed pages"):
        apply(b"", spoil(packed))
