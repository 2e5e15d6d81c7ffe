from __future__ import annotations

import json
import pickle
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.errors import UsageError
from coati.strategies.state import pack, unpack

MAGIC = b"coati-state-1\n"

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=8), JSON | st.binary(), max_size=6))
def test_what_is_packed_comes_back(state: dict[str, Any]) -> None:
    back = unpack(pack(state))
    assert back == state
    assert list(back) == list(state)
    assert all(type(back[name]) is type(state[name]) for name in state)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(7, dtype=np.uint32),
        np.zeros(0),
        np.zeros((0, 4), np.int32),
        np.array([[1.5, -np.inf], [np.nan, 1e-300]]),
        np.array([True, False]),
        np.arange(12, dtype=np.int64).reshape(3, 4)[:, ::2],
        np.arange(3, dtype=">i4"),
        np.array(7),
    ],
)
def test_arrays_keep_their_form(array: np.ndarray[Any, Any]) -> None:
    back = unpack(pack({"before": b"xyz", "array": array, "after": np.arange(2)}))
    np.testing.assert_array_equal(back["array"], array)
    assert back["array"].dtype == array.dtype
    assert back["array"].shape == array.shape
    assert back["before"] == b"xyz"
    assert back["after"].tolist() == [0, 1]


def test_it_is_compressed() -> None:
    assert len(pack({"text": b"http://example.org/" * 10_000})) < 5_000


@given(st.binary(max_size=60))
def test_what_is_not_a_state_is_refused(data: bytes) -> None:
    for damaged in (data, MAGIC + data, MAGIC + zlib.compress(data)):
        with pytest.raises(ValueError, match="state"):
            unpack(damaged)


@given(st.data())
def test_a_damaged_state_is_refused_or_as_it_was(data: st.DataObject) -> None:
    state = {"urls": b"http://example.org/" * 3, "ends": np.arange(9), "open": [[1, "x"], []], "turn": 7}
    packed = bytearray(pack(state))
    for _ in range(data.draw(st.integers(1, 3))):
        packed[data.draw(st.integers(0, len(packed) - 1))] ^= data.draw(st.integers(1, 255))
    cut = data.draw(st.integers(0, len(packed)))
    for damaged in (bytes(packed), pack(state)[:cut]):
        try:
            back = unpack(damaged)
        except ValueError:
            continue
        np.testing.assert_equal(dict(back), state)


def directory(entries: object, parts: bytes = b"") -> bytes:
    head = json.dumps(entries).encode()
    return MAGIC + zlib.compress(struct.pack("<Q", len(head)) + head + parts)


@pytest.mark.parametrize(
    "entries",
    [
        [["x", "array", "O", [1], 8]],
        [["x", "array", "V0", [0], 8]],
        [["x", "array", "<f8", [3], 8]],
        [["x", "array", "<f8", [1], 800]],
        [["x", "array", "nonsense", [1], 8]],
        [["x", "array", 7, [1], 8]],
        [["x", "bytes", "", [], -8]],
        [["x", "bytes", "", [], 2**70]],
        [["x", "bytes", "", [], "8"]],
        [["x"]],
        [7],
        7,
        {"x": 1},
        [[["x"], "json", 1, [], 0]],
        [],
    ],
)
def test_a_directory_that_lies_is_refused(entries: object) -> None:
    with pytest.raises(ValueError, match="damaged state"):
        unpack(directory(entries, b"12345678"))


def test_a_directory_of_endless_brackets_is_refused() -> None:
    head = b"[" * 1_000_000
    with pytest.raises(ValueError, match="damaged state"):
        unpack(MAGIC + zlib.compress(struct.pack("<Q", len(head)) + head))


def test_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="not a state of this version"):
        unpack(pack({"turn": 1}).replace(b"coati-state-1", b"coati-state-2"))


def test_nothing_that_could_run_code_is_written_or_read() -> None:
    with pytest.raises(UsageError):
        pack({"code": print})
    with pytest.raises(ValueError, match="not a state of this version"):
        unpack(pickle.dumps({"turn": 1}))


def test_what_cannot_be_stored_is_said_to_who_wrote_the_strategy() -> None:
    with pytest.raises(UsageError, match=r"save returned what cannot be stored.*type set"):
        pack({"step": 3, "seen": {"a"}})
