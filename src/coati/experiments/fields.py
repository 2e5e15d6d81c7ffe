"""Read the tables of a TOML file strictly: a misspelt key is an error that names the nearest known one."""

from __future__ import annotations

import dataclasses
import enum
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from coati.errors import ConfigError, unknown_name

_Value = TypeVar("_Value")
_Record = TypeVar("_Record")


def refuse_unknown(table: Mapping[str, object], known: Iterable[str], where: str) -> None:
    """Raise for the first key that nobody would read."""
    names = list(known)
    for key in table:
        if key not in names:
            raise unknown_name(f"key of {where}", key, names)


def take(table: Mapping[str, object], key: str, kind: type[_Value], default: _Value, where: str) -> _Value:
    """Return a value of this kind, or the default where the key is absent.

    >>> take({"seeds": 3}, "seeds", int, 1, "the experiment")
    3
    """
    value = table.get(key, default)
    if kind is float and type(value) is int:
        value = float(value)
    # A boolean is an int to Python, and to nobody who writes `seeds = true`.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError(f"{where}: {key} is {value!r}, and should be {_in_words(kind)}")
    return value


def need(table: Mapping[str, object], key: str, where: str) -> str:
    """Return a text that must be there."""
    text = take(table, key, str, "", where)
    if not text:
        raise ConfigError(f"{where} has no {key}")
    return text


def texts(table: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
    """Return a list of texts, empty where the key is absent."""
    values = take(table, key, list, [], where)
    if not all(isinstance(value, str) for value in values):
        raise ConfigError(f"{where}: {key} should be a list of strings")
    return tuple(values)


def filled(record: _Record, changes: Mapping[str, object], where: str) -> _Record:
    """Return a copy of a frozen dataclass with some fields changed, records within it by tables of their own.

    A field keeps its kind; one that is None by default takes any number or text.

    >>> from coati.budget import Budget
    >>> filled(Budget(), {"max_requests": 50}, "budget").max_requests
    50
    """
    known = {field.name for field in dataclasses.fields(cast("Any", record))}
    refuse_unknown(changes, known, where)
    values: dict[str, object] = {}
    for name, value in changes.items():
        old = getattr(record, name)
        if dataclasses.is_dataclass(old):
            if not isinstance(value, Mapping):
                raise ConfigError(f"{where}: {name} should be a table of settings")
            values[name] = filled(old, value, f"{where}.{name}")
        elif isinstance(old, enum.StrEnum):
            values[name] = _member_like(old, value, f"{where}: {name}")
        elif isinstance(old, tuple):
            values[name] = _tuple_like(old, value, f"{where}: {name}")
        elif old is None:
            if not isinstance(value, int | float | str):
                raise ConfigError(f"{where}: {name} is {value!r}, and should be a number or a text")
            values[name] = value
        else:
            values[name] = take({name: value}, name, type(old), old, where)
    return cast("_Record", dataclasses.replace(cast("Any", record), **values))


def _member_like(old: enum.StrEnum, value: object, where: str) -> enum.StrEnum:
    """Return the member of an enumeration with this value."""
    known = [member.value for member in type(old)]
    if value not in known:
        raise unknown_name(where, str(value), known)
    return type(old)(str(value))


def _tuple_like(old: tuple[Any, ...], value: object, where: str) -> tuple[object, ...]:
    """Make a tuple of a list: of lists where the old one held tuples, of an enumeration's members by name."""
    if not isinstance(value, list):
        raise ConfigError(f"{where} is {value!r}, and should be a list")
    sample = old[0] if old else ""
    if isinstance(sample, tuple):
        return tuple(_tuple_like(sample, item, where) for item in value)
    if isinstance(sample, enum.Enum):
        members = type(sample).__members__
        for item in value:
            if item not in members:
                raise unknown_name(where, str(item), members)
        return tuple(members[str(item)] for item in value)
    return tuple(take({"item": item}, "item", type(sample), sample, where) for item in value)


def called(make: Callable[..., _Record], arguments: Mapping[str, object], where: str) -> _Record:
    """Call something with the arguments of a table; an argument that it does not take is an error."""
    parameters = inspect.signature(make).parameters
    refuse_unknown(arguments, parameters, where)
    for name, value in arguments.items():
        take({name: value}, name, type(parameters[name].default), value, where)
    return make(**arguments)


def _in_words(kind: type) -> str:
    words = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", list: "a list"}
    return words.get(kind, "a table")
