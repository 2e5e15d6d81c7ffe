"""What callers of the library give as arguments, checked before anything is done with it.

A command line has texts only. A notebook also has a list, a path or a result where a text is meant, and a
text where a list is meant: what is clear is taken, and all else is told in words.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from typing import ParamSpec, TypeVar

from coati.errors import ConfigError, UsageError
from coati.live.stop_signal import StopSignal
from coati.named_objects import how_to_name
from coati.units import parse_bytes, parse_seconds

PathText = str | os.PathLike[str]
Seconds = float | str | timedelta

P = ParamSpec("P")
T = TypeVar("T")


def checked_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """Let a public function raise `UsageError` for arguments that it could do nothing with.

    Callbacks, ``stop``, truth values, single texts and paths are checked, by their annotations. What the
    function reads itself, such as numbers and lists of texts, it checks with the functions below.

    >>> @checked_arguments
    ... def crawl(url: str, *, on_event: Callable[[str], None] | None = None) -> None: ...
    >>> crawl("https://a.example/", on_event="log.txt")
    Traceback (most recent call last):
    coati.errors.UsageError: on_event: 'log.txt' cannot be called; give a function
    """
    signature = inspect.signature(function)
    checks = {each.name: check for each in signature.parameters.values() if (check := _check_of(each))}

    @wraps(function)
    def check_and_call(*args: P.args, **kwargs: P.kwargs) -> T:
        for name, value in zip(signature.parameters, args, strict=False):
            if name in checks:
                checks[name](name, value)
        for name in kwargs.keys() & checks.keys():
            checks[name](name, kwargs[name])
        return function(*args, **kwargs)

    return check_and_call


def _check_of(parameter: inspect.Parameter) -> Callable[[str, object], object] | None:
    """Return what checks an argument; None where the function itself does."""
    # With `from __future__ import annotations`, which all modules have, it is a text.
    words = str(parameter.annotation)
    kind, may_be_none = words.removesuffix(" | None"), words.endswith(" | None")
    check = _CHECKS.get(kind)
    if parameter.name.startswith("on_"):
        check = callable_of
    if check is None or not may_be_none:
        return check
    needed = check
    return lambda name, value: None if value is None else needed(name, value)


def callable_of(name: str, value: object) -> object:
    """Take what can be called; raises `UsageError` for anything else."""
    if not callable(value):
        raise UsageError(f"{name}: {value!r} cannot be called; give a function")
    return value


def stop_of(name: str, value: object) -> StopSignal:
    """Take a `StopSignal`; raises `UsageError` for anything else."""
    if not isinstance(value, StopSignal):
        raise UsageError(f"{name}: {value!r} is not a coati.StopSignal")
    return value


def flag_of(name: str, value: object) -> bool:
    """Take a truth value; raises `UsageError` for anything else."""
    if not isinstance(value, bool):
        raise UsageError(f"{name}: {value!r} is neither True nor False")
    return value


def texts_of(name: str, value: object) -> tuple[str, ...]:
    """Take one text or path, or several of them; raises `UsageError` for anything else.

    >>> texts_of("start", "https://a.example/")
    ('https://a.example/',)
    >>> texts_of("start", ["https://a.example/", 5])
    Traceback (most recent call last):
    coati.errors.UsageError: start: 5 is not a text; give one text, or a list of texts
    """
    if isinstance(value, str | os.PathLike):
        return (os.fspath(value),)
    if not isinstance(value, Iterable) or isinstance(value, bytes | bytearray | Mapping):
        hint = how_to_name(value) or "; give one text, or a list of texts"
        raise UsageError(f"{name}: {value!r} is not a text{hint}")
    texts = tuple(value)
    for each in texts:
        if not isinstance(each, str | os.PathLike):
            hint = how_to_name(each) or "; give one text, or a list of texts"
            raise UsageError(f"{name}: {each!r} is not a text{hint}")
    return tuple(os.fspath(each) for each in texts)


def text_of(name: str, value: object) -> str:
    """Take one text or path; raises `UsageError` for anything else, a list included.

    >>> text_of("types", [".csv"])
    Traceback (most recent call last):
    coati.errors.UsageError: types: ['.csv'] is not a text
    """
    if not isinstance(value, str | os.PathLike):
        raise UsageError(f"{name}: {value!r} is not a text")
    return os.fspath(value)


def plain_text_of(name: str, value: object) -> str:
    """Take one text that is no path; raises `UsageError` for anything else."""
    if not isinstance(value, str):
        raise UsageError(f"{name}: {value!r} is not a text; give one text")
    return value


def path_of(name: str, value: object) -> Path:
    """Take a path, a text that is one, or a result that has a folder; raises `UsageError` otherwise.

    >>> path_of("run", None)
    Traceback (most recent call last):
    coati.errors.UsageError: run: None is not a path; give it as a text or a Path
    """
    if not isinstance(value, str | os.PathLike):
        raise UsageError(f"{name}: {value!r} is not a path; give it as a text or a Path")
    return Path(value)


def count_of(name: str, value: object, least: int = 1) -> int:
    """Take a whole number of at least ``least``; raises `UsageError` for anything else.

    >>> count_of("seeds", "3")
    Traceback (most recent call last):
    coati.errors.UsageError: seeds is '3': it must be a whole number of at least 1
    """
    number = value
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    # What numpy counts with is such a number, too.
    if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
        raise UsageError(f"{name} is {value!r}: it must be a whole number of at least {least}")
    return int(number)


def number_of(name: str, value: object) -> float:
    """Take a finite number; raises `UsageError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise UsageError(f"{name}: {value!r} is not a number")
    return float(value)


def bytes_of(name: str, value: object) -> int:
    """Take a number of bytes above 0, or a text that tells one; raises `UsageError` for anything else.

    >>> bytes_of("max_bytes", "10MB")
    10000000
    """
    return _read(name, value, parse_bytes) if isinstance(value, str) else count_of(name, value)


def seconds_of(name: str, value: object) -> float:
    """Take seconds, a text that tells a time, or a timedelta; raises `UsageError` for anything else.

    >>> seconds_of("max_time", "2h"), seconds_of("max_time", timedelta(minutes=1))
    (7200.0, 60.0)
    """
    if isinstance(value, timedelta):
        return value.total_seconds()
    return _read(name, value, parse_seconds) if isinstance(value, str) else number_of(name, value)


def _read(name: str, text: str, read: Callable[[str], T]) -> T:
    try:
        return read(text)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from None


# What an annotation says, up to whether None is possible.
_CHECKS: Mapping[str, Callable[[str, object], object]] = {
    "StopSignal": stop_of,
    "bool": flag_of,
    "str": plain_text_of,
    "PathText": path_of,
    "str | Path": path_of,
}
