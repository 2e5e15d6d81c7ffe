"""The numbers that a paper prints, as data: one line per number."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from coati.errors import ConfigError

_COLUMNS = ["strategy", "variant", "site", "measure", "value"]
_MAX_LINES = 100_000
_RANGE = " to "


class PublishedNumber(NamedTuple):
    """A number, or a range: from ``value`` to ``high``."""

    value: float
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Published:
    """Published numbers by strategy, variant (empty: none), site (empty: all of them) and measure.

    Infinity stands for "never reached". ``missing`` says why there are none, where the file is not there: a
    part of an experiment is run without them.
    """

    numbers: dict[tuple[str, str, str, str], PublishedNumber]
    missing: str = ""

    def find(self, strategy: str, variant: str, site: str, measure: str) -> PublishedNumber | None:
        """Return the number or the range; None where the paper prints none."""
        return self.numbers.get((strategy, variant, site, measure))

    @classmethod
    def read(cls, file: Path) -> Published:
        """Read a CSV file with the columns strategy, variant, site, measure and value.

        A value is a number, or a range such as ``18 to 21``.
        """
        numbers: dict[tuple[str, str, str, str], PublishedNumber] = {}
        try:
            with file.open(newline="", encoding="utf-8") as lines:
                reader = csv.DictReader(line for line in lines if not line.startswith("#"))
                if reader.fieldnames != _COLUMNS:
                    raise ConfigError(f"the columns of {file} should be {', '.join(_COLUMNS)}")
                for number, row in enumerate(reader):
                    if number >= _MAX_LINES:
                        raise ConfigError(f"{file} has more than {_MAX_LINES} lines")
                    key = (row["strategy"], row["variant"], row["site"], row["measure"])
                    numbers[key] = _number_or_range(row["value"] or "", file)
        except OSError as error:
            return cls({}, f"{file} cannot be read: {error.strerror}")
        return cls(numbers)


def _number_or_range(text: str, file: Path) -> PublishedNumber:
    low, parted, high = text.partition(_RANGE)
    return PublishedNumber(_number(low, file), _number(high, file) if parted else None)


def _number(text: str, file: Path) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise ConfigError(f"{file}: {text!r} is not a number") from error
    if math.isnan(value):
        raise ConfigError(f"{file}: {text!r} is not a number; leave the line out where there is none")
    return value
