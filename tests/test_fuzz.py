"""What the fuzzer is fed with, once: stored inputs, a few drawn ones, and what it calls a defect."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz import CORPUS, Growing, Round, TooLongError, check, check_growth, corpus, inputs
from benchmarks.fuzz_targets import TARGETS, Target


def test_every_folder_of_the_corpus_is_read() -> None:
    assert {path.name for path in CORPUS.iterdir()} <= set(TARGETS)
    assert all(corpus(name) for name in TARGETS)


@pytest.mark.parametrize("name", TARGETS)
def test_no_stored_input_does_harm(name: str) -> None:
    for data in corpus(name):
        check(TARGETS[name], data)


@pytest.mark.parametrize("name", TARGETS)
def test_no_drawn_input_does_harm(name: str) -> None:
    @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
    @given(inputs(name))
    def feed(data: bytes) -> None:
        check(TARGETS[name], data)

    feed()


def test_what_it_must_not_raise_is_told_and_stored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def read(data: bytes) -> None:
        if b"<" in data:
            raise KeyError(data)

    monkeypatch.setitem(TARGETS, "html", Target(read, (b"<", b"a")))
    monkeypatch.setattr("benchmarks.fuzz.corpus", lambda _: [])
    told = Round("html", 1, tmp_path / "failures").run()
    assert "KeyError" in told
    assert (tmp_path / "failures" / "html-1").read_bytes() == b"<"


def test_an_error_that_a_reader_may_raise_is_none() -> None:
    def read(data: bytes) -> None:
        raise ValueError(data)

    check(Target(read, (b"a",), (ValueError,)), b"x")
    with pytest.raises(ValueError, match="x"):
        check(Target(read, (b"a",)), b"x")


def test_time_that_grows_faster_than_the_input_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.fuzz._seconds", lambda _, data: len(data) ** 2 / 1e9)
    growing = Growing(b"<a", b" b=c", b">")
    with pytest.raises(TooLongError, match="a quarter"):
        check_growth(TARGETS["html"], growing)
    monkeypatch.setattr("benchmarks.fuzz._seconds", lambda _, data: len(data) / 1e5)
    check_growth(TARGETS["html"], growing)


@given(st.integers(100, 10_000))
def test_an_input_grows_to_a_size(size: int) -> None:
    assert abs(len(Growing(b"<", b"abc", b">").of(size)) - size) <= 4
