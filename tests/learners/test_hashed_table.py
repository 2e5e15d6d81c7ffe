from __future__ import annotations

import numpy as np

from coati.learners.hashed_table import HashedTable
from coati.strategies.state import pack, unpack


def keys(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.uint32)


def ones(count: int) -> np.ndarray:
    return np.ones((count, 2), np.float32)


def test_keys_that_share_a_place_part_when_the_table_grows() -> None:
    table = HashedTable(2, bits=4, most_bits=12)
    table.put(keys(5), ones(1))
    assert table.take(keys(5 + 16)).any()
    table.put(keys(1, 2, 3, 4), ones(4))
    assert len(table) == 32
    table.put(keys(5 + 16), 7 * ones(1))
    assert table.take(keys(5, 21)).tolist() == [[1, 1], [7, 7]]


def test_numbers_can_be_read_into_an_array() -> None:
    table = HashedTable(3, bits=4)
    table.put(keys(5, 6, 5), np.arange(9, dtype=np.float32).reshape(3, 3))
    read = np.ones((4, 3), np.float32)
    table.take_into(keys(6, 5, 0), read[:3])
    assert read.tolist() == [[3, 4, 5], [6, 7, 8], [0, 0, 0], [1, 1, 1]]
    assert table.take(keys(6, 5, 0)).tolist() == read[:3].tolist()


def test_it_grows_no_further_than_it_may() -> None:
    table = HashedTable(2, bits=4, most_bits=6)
    for key in range(1, 500):
        table.put(keys(key), ones(1))
    assert len(table) == 64


def test_no_key_fills_no_place() -> None:
    table = HashedTable(2, bits=4)
    for _ in range(50):
        table.put(keys(0, 0, 7, 0), ones(4))
    assert not table.take(keys(0)).any()
    assert len(table) == 16


def test_what_was_saved_continues_the_same() -> None:
    table, twin = HashedTable(2, bits=6), HashedTable(2, bits=18)
    for key in range(1, 40):
        table.put(keys(key, key + 3), ones(2) * key)
    twin.load(unpack(pack(table.save("numbers"))), "numbers")
    for each in (table, twin):
        for key in range(100, 140):
            each.put(keys(key), ones(1) * key)
    everything = keys(*range(300))
    assert twin.take(everything).tolist() == table.take(everything).tolist()
    assert len(twin) == len(table)
