"""What a strategy is made of, in a form that outlives the process and the Python version.

A state is a flat mapping of names to numbers, strings, bytes, numpy arrays and JSON-like lists, under a
version. No pickle: a snapshot from a crawl folder must not be able to run code.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from coati.errors import UsageError

State = Mapping[str, Any]

_MAGIC = b"coati-state-1\n"


def nested(name: str, state: State) -> dict[str, Any]:
    """Return the state of a part, under keys that begin with the part's name.

    >>> nested("cat", {"age": 3}), part_of({"cat.age": 3, "age": 40}, "cat")
    ({'cat.age': 3}, {'age': 3})
    """
    return {f"{name}.{key}": value for key, value in state.items()}


def part_of(state: State, name: str) -> dict[str, Any]:
    """Return what `nested` was given under this name."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}


def pack(state: State) -> bytes:
    """Write a state as bytes: a JSON directory, then the raw parts, compressed.

    >>> unpack(pack({"step": 3, "name": "bfs"}))
    {'step': 3, 'name': 'bfs'}

    Raises `coati.errors.UsageError` where a value is of another type.
    """
    directory: list[list[object]] = []
    parts: list[bytes] = []
    for name, value in state.items():
        if isinstance(value, np.ndarray):
            raw = np.ascontiguousarray(value).tobytes()
            directory.append([name, "array", value.dtype.str, list(value.shape), len(raw)])
            parts.append(raw)
        elif isinstance(value, bytes):
            directory.append([name, "bytes", "", [], len(value)])
            parts.append(value)
        else:
            directory.append([name, "json", value, [], 0])
    try:
        head = json.dumps(directory).encode()
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"the strategy's save returned what cannot be stored ({error}):"
            " numbers, strings, bytes, numpy arrays and lists of these can"
        ) from None
    return _MAGIC + zlib.compress(b"".join([struct.pack("<Q", len(head)), head, *parts]), level=1)


def unpack(data: bytes) -> dict[str, Any]:
    """Read what `pack` wrote; raise `ValueError` if it is damaged or of another version.

    Arrays are read-only.
    """
    if not data.startswith(_MAGIC):
        raise ValueError("not a state of this version")
    try:
        raw = zlib.decompress(data[len(_MAGIC) :])
        (head_size,) = struct.unpack_from("<Q", raw)
        at = 8 + head_size
        state: dict[str, Any] = {}
        for name, form, detail, shape, size in json.loads(raw[8:at]):
            state[name] = _part(raw[at : at + size], form, detail, shape)
            at += size
    except (zlib.error, struct.error, ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"damaged state: {error}") from error
    if at != len(raw):
        raise ValueError(f"damaged state: {len(raw)} bytes where {at} are listed")
    return state


def _part(raw: bytes, form: str, detail: Any, shape: list[int]) -> Any:  # noqa: ANN401 - whatever was packed
    if form == "array":
        return np.frombuffer(raw, detail).reshape(shape)
    return raw if form == "bytes" else detail
