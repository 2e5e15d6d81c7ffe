"""Members stand for themselves, whatever was packed before them."""

from __future__ import annotations

import gzip
import io
import threading

import pytest

from coati.archive.gzip_members import member_length, packed


@pytest.mark.parametrize("parts", [(b"one",), (b"a", b"", b"bc"), (b"many " * 50_000,)])
def test_each_member_stands_alone(parts: tuple[bytes, ...]) -> None:
    packed(b"something else before it")
    member = packed(*parts)
    assert gzip.decompress(member) == b"".join(parts)
    assert member_length(io.BytesIO(member + packed(b"next")), 0) == len(member)


def test_the_same_bytes_give_the_same_member() -> None:
    first = packed(b"a page")
    packed(b"another one")
    assert packed(b"a page") == first


def test_what_was_interrupted_leaves_nothing_behind() -> None:
    with pytest.raises(TypeError):
        packed(b"a beginning", "no bytes")  # type: ignore[arg-type]
    assert gzip.decompress(packed(b"whole")) == b"whole"


def test_threads_do_not_get_into_each_others_members() -> None:
    wrong: list[bytes] = []

    def pack(text: bytes) -> None:
        wrong.extend(text for _ in range(200) if gzip.decompress(packed(text)) != text)

    threads = [threading.Thread(target=pack, args=(letter * 10_000,)) for letter in (b"a", b"b", b"c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
