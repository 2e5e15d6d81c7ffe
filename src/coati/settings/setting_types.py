"""Which values a setting takes, from an option, an environment variable or a run file.

Options and variables are text. A run file may say the same as text, or as TOML's own numbers, booleans and
lists. A `SettingType` reads all of them to one form, or says in a few words what is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from coati.errors import ConfigError, unknown_name
from coati.named_objects import how_to_name
from coati.strategies.stopping.stop_when_dry import LEVELS, NORMAL, OFF, floor_of
from coati.units import parse_bytes, parse_seconds

_TRUE = frozenset({"1", "true", "yes", "on", "y", "t"})
_FALSE = frozenset({"0", "false", "no", "off", "n", "f"})


@dataclass(frozen=True, slots=True)
class SettingType:
    """One form of values. ``read`` raises `ConfigError`; ``word`` stands for a value in help texts.

    ``many`` settings are lists; ``choices`` maps names to what they mean, where only some are possible.
    """

    word: str
    read: Callable[[object], object]
    many: bool = False
    flag: bool = False
    choices: Mapping[str, str] | None = None

    def read_as(self, name: str, value: object) -> object:
        """Read the value of something with a name; the error names it."""
        try:
            return self.read(value)
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}") from None


def _read_text(value: object) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{value!r} is not a text{_meant_by(value)}")
    return value.strip()


def _meant_by(value: object) -> str:
    """Say how a caller of the library writes what is meant, where that is clear."""
    if value is None:
        return "; leave it out for the default"
    if isinstance(value, list | tuple) and value and all(isinstance(each, str) for each in value):
        return f"; write {','.join(value)!r}"
    return how_to_name(value)


def _read_integer(value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ConfigError(f"{value!r} is not a whole number")
    try:
        return int(value)
    except ValueError:
        raise ConfigError(f"{value!r} is not a whole number") from None


def _read_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ConfigError(f"{value!r} is not a number")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ConfigError(f"{value!r} is not a number")
    return number


def _read_bytes(value: object) -> int:
    return parse_bytes(value) if isinstance(value, str) else _read_integer(value)


def _read_seconds(value: object) -> float:
    return parse_seconds(value if isinstance(value, str) else str(_read_number(value)))


def _read_flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text in _TRUE | _FALSE:
        return text in _TRUE
    raise ConfigError(f"{value!r} is neither true nor false")


def _read_stop_level(value: object) -> str:
    """Read a level; run files of older versions say true or false."""
    text = str(value).strip().lower()
    if text in _TRUE - {"1"}:
        return NORMAL
    if text in _FALSE:
        return OFF
    floor_of(text)
    return text


def read_texts(value: object) -> tuple[str, ...]:
    """Read texts from a list, or from a text with one on each line."""
    if isinstance(value, str):
        return tuple(line.strip() for line in value.splitlines() if line.strip())
    if not isinstance(value, Sequence):
        raise ConfigError(f"{value!r} is not a list of texts")
    return tuple(_read_text(item) for item in value)


def read_urls(value: object) -> tuple[str, ...]:
    """Read URLs from a list, or from a text in which blanks stand between them."""
    return tuple(value.split()) if isinstance(value, str) else read_texts(value)


def above_zero(kind: SettingType) -> SettingType:
    """Make a kind of a limit: above zero, or None for no limit (``none`` where it is written)."""

    def read(value: object) -> object:
        if value is None or (isinstance(value, str) and value.strip().lower() == "none"):
            return None
        amount = kind.read(value)
        if not isinstance(amount, int | float) or amount <= 0:
            raise ConfigError(f"{value} must be above zero; `none` means no limit")
        return amount

    return SettingType(kind.word, read)


def at_least(kind: SettingType, least: int) -> SettingType:
    """Make a kind of what must not be smaller than a number."""

    def read(value: object) -> object:
        amount = kind.read(value)
        if not isinstance(amount, int | float) or amount < least:
            raise ConfigError(f"{value} must be at least {least}")
        return amount

    return SettingType(kind.word, read)


def choice(what: str, names: Mapping[str, str]) -> SettingType:
    """Make a kind of one name out of some; a misspelt one is told the nearest."""

    def read(value: object) -> str:
        name = _read_text(value).lower()
        if name not in names:
            raise unknown_name(what, name, names)
        return name

    return SettingType("|".join(names) if len(names) <= 3 else "NAME", read, choices=names)  # noqa: PLR2004 - a short line


TEXT = SettingType("TEXT", _read_text)
PATH = SettingType("PATH", _read_text)
INTEGER = SettingType("N", _read_integer)
NUMBER = SettingType("X", _read_number)
BYTES = SettingType("SIZE", _read_bytes)
SECONDS = SettingType("TIME", _read_seconds)
FLAG = SettingType("true|false", _read_flag, flag=True)
_STOP_LEVELS = {OFF: "never", **{name: f"below {floor:.0f}" for name, floor in LEVELS.items()}}
STOP_LEVEL = SettingType("LEVEL", _read_stop_level, choices=_STOP_LEVELS)
TEXTS = SettingType("TEXT", read_texts, many=True)
URLS = SettingType("URL", read_urls, many=True)
