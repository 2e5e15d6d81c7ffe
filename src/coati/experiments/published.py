"""The numbers that a paper prints, as data: one line per number."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

from coati.errors import ConfigError

_COLUMNS = ["strategy", "variant", "site", "measure", "value"]
_MAX_LINES = 100_000


@dataclass(frozen=True, slots=True)
class Published:
    """Published numbers by strategy, variant (empty: none), site (empty: all of them) and measure.

    Infinity stands for "never reached". ``missing`` says why there are none, where the file is not there: a
    part of an experiment is run without them.
    """

    numbers: dict[tuple[str, str, str, str], float]
    missing: str = ""

    def find(self, strategy: str, variant: str, site: str, measure: str) -> float | None:
        """Return the number; None where the paper prints none."""
        return self.numbers.get((strategy, variant, site, measure))

    @classmethod
    def read(cls, file: Path) -> Published:
        """Read a CSV file with the columns strategy, variant, site, measure and value."""
        numbers: dict[tuple[str, str, str, str], float] = {}
        try:
            with file.open(newline="", encoding="utf-8") as lines:
                reader = csv.DictReader(line for line in lines if not line.startswith("#"))
                if reader.fieldnames != _COLUMNS:
                    raise ConfigError(f"the columns of {file} should be {', '.join(_COLUMNS)}")
                for number, row in enumerate(reader):
                    if number >= _MAX_LINES:
                        raise ConfigError(f"{file} has more than {_MAX_LINES} lines")
                    key = (row["strategy"], row["variant"], row["site"], row["measure"])
                    numbers[key] = _number(row["value"], file)
        except OSError as error:
            return cls({}, f"{file} cannot be read: {error.strerror}")
        return cls(numbers)


def _number(text: str | None, file: Path) -> float:
    try:
        value = float(text or "")
    except ValueError as error:
        raise ConfigError(f"{file}: {text!r} is not a number") from error
    if math.isnan(value):
        raise ConfigError(f"{file}: {text!r} is not a number; leave the line out where there is none")
    return value
