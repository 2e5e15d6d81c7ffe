"""What callers of the library give as arguments, checked before anything is done with it.

A command line has strings only. A notebook also has a list, a path or a result where a string is meant, and a
string where a list is meant: what is clear is accepted, and everything else raises a `UsageError`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from coati.errors import UsageError

PathText = str | os.PathLike[str]


def texts_of(name: str, value: object) -> tuple[str, ...]:
    """Take one string or path, or several of them; raises `UsageError` for anything else.

    >>> texts_of("start", "https://a.example/")
    ('https://a.example/',)
    >>> texts_of("start", ["https://a.example/", 5])
    Traceback (most recent call last):
    coati.errors.UsageError: start: 5 is not a string; give one string, or a list of strings
    """
    if isinstance(value, str | os.PathLike):
        return (os.fspath(value),)
    if not isinstance(value, Iterable) or isinstance(value, bytes | bytearray | Mapping):
        raise UsageError(f"{name}: {value!r} is not a string; give one string, or a list of strings")
    texts = tuple(value)
    for each in texts:
        if not isinstance(each, str | os.PathLike):
            raise UsageError(f"{name}: {each!r} is not a string; give one string, or a list of strings")
    return tuple(os.fspath(each) for each in texts)


def text_of(name: str, value: object) -> str:
    """Take one string or path; raises `UsageError` for anything else, a list included.

    >>> text_of("types", [".csv"])
    Traceback (most recent call last):
    coati.errors.UsageError: types: ['.csv'] is not a string
    """
    if not isinstance(value, str | os.PathLike):
        raise UsageError(f"{name}: {value!r} is not a string")
    return os.fspath(value)


def path_of(name: str, value: object) -> Path:
    """Take a path, a string that is one, or a result that has a folder; raises `UsageError` otherwise.

    >>> path_of("run", None)
    Traceback (most recent call last):
    coati.errors.UsageError: run: None is not a path; give it as a string or a Path
    """
    if not isinstance(value, str | os.PathLike):
        raise UsageError(f"{name}: {value!r} is not a path; give it as a string or a Path")
    return Path(value)


def count_of(name: str, value: object, least: int = 1) -> int:
    """Take a whole number of at least ``least``; raises `UsageError` for anything else.

    >>> count_of("seeds", "3")
    Traceback (most recent call last):
    coati.errors.UsageError: seeds is '3': it must be a whole number of at least 1
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{name} is {value!r}: it must be a whole number of at least {least}")
    return value
