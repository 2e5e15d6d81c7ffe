"""Sizes and times as people write them."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.errors import ConfigError
from coati.units import format_bytes, format_seconds, parse_bytes, parse_seconds


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("512", 512), ("10MB", 10_000_000), ("10 mb", 10_000_000), ("2GiB", 2**31), ("1.5k", 1500)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "MB", "ten", "10 parsecs", "-5MB", "1e3", "10MBB", "99999999TiB"])
def test_what_is_not_a_size(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90.0), ("90s", 90.0), ("2h", 7200.0), ("1h30m", 5400.0), ("1h 30min", 5400.0), ("500ms", 0.5)],
)
def test_times(text: str, seconds: float) -> None:
    assert parse_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "h", "2 weeks", "-1", "-1h", "1h30", "nan", "inf", "1h,2m"])
def test_what_is_not_a_time(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_seconds(text)


@given(st.text(max_size=20))
def test_any_text_is_a_value_or_an_error(text: str) -> None:
    for parse in (parse_bytes, parse_seconds):
        with suppress(ConfigError):
            assert parse(text) >= 0


@given(st.integers(0, 10**15))
def test_what_is_written_can_be_read_and_is_near(size: int) -> None:
    assert parse_bytes(format_bytes(size)) == pytest.approx(size, rel=0.06)


def test_times_are_written_in_their_two_largest_units() -> None:
    assert [format_seconds(value) for value in (0, 59.4, 60, 3600, 3661, 90_000)] == [
        "0 s",
        "59 s",
        "1 min",
        "1 h",
        "1 h 1 min",
        "1 d 1 h",
    ]
