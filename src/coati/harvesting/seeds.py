"""The URLs that a harvest starts from: a list, or the sites that a discovery found.

A list has one address per line; a bare host name is one, too. What follows a blank or a tab is the list's own
business, lines that begin with ``#`` are comments. A line that is not an address is reported with its number,
and the others are used. A table as spreadsheets save it is a list, too, if its first line names such a
column.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from coati.errors import ConfigError
from coati.machine_errors import read_bounded
from coati.settings.credentials import header_of_address
from coati.web.urls import host_of, normalise, with_scheme

_MAX_LIST_BYTES = 64 << 20
# Files of a discovery, the first that is there.
_FOUND = ("repositories.jsonl", "repositories.csv")
# What people call the column of a table that holds the addresses, the surest first.
_COLUMNS = (
    "url", "start_url", "website", "web site", "homepage", "home page", "web", "address", "link", "uri",
    "site", "domain", "host",
)  # fmt: skip
_SEPARATORS = "\t;,"
# Of the lines that are wrong this many are told one by one.
SHOWN_LINES = 20


class WrongLine(NamedTuple):
    """A line that gives no address, and why."""

    number: int
    text: str
    why: str

    def __str__(self) -> str:
        """Say it in one line."""
        return f"line {self.number}: {self.text[:80]!r} {self.why}"


@dataclass(frozen=True, slots=True)
class Seeds:
    """Addresses in the order of the list, each once; ``duplicates`` counts those that stood there again.

    ``bare`` are those without a scheme.
    """

    source: str
    urls: tuple[str, ...]
    wrong: tuple[WrongLine, ...] = field(default=())
    duplicates: int = 0
    bare: int = 0
    headers: tuple[str, ...] = field(default=(), repr=False)

    def with_headers(self, given: Mapping[str, object]) -> dict[str, object]:
        """Return settings with the headers that users and passwords of the list become; no run keeps them."""
        known = given.get("header")
        headers = (*(known if isinstance(known, tuple) else ()), *self.headers)
        return {**given, "header": headers} if self.headers else dict(given)


def read_seeds(file: Path) -> Seeds:
    """Read a list of addresses; raises `ConfigError` where it cannot be read or holds none."""
    text = _text_of(file)
    return _seeds(str(file), _table_lines(text) or enumerate(text.splitlines(), 1))


def seeds_in(addresses: Sequence[str]) -> Seeds:
    """Take addresses as a list would give them."""
    return _seeds("the list", enumerate(addresses, 1))


def seeds_of_discovery(folder: Path) -> Seeds:
    """Read the sites that a discovery left in its folder; raises `ConfigError` where there are none."""
    for name in _FOUND:
        file = folder / name
        if file.is_file():
            lines = list(_json_lines(file) if name.endswith("jsonl") else _csv_lines(file))
            if not any(text.strip() for _, text in lines):
                raise ConfigError(
                    f"the search in {folder} verified no repository, so there is nothing to harvest:"
                    f" continue it (coati discover {folder}), or try other words"
                )
            return _seeds(str(file), lines)
    raise ConfigError(f"{folder} holds no {' and no '.join(_FOUND)}: it is not the folder of a discovery")


def _text_of(file: Path) -> str:
    return list_text(read_bounded(file, _MAX_LIST_BYTES, "list"))


def list_text(data: bytes) -> str:
    """Decode a list as people save one: UTF-8, or UTF-16 with its mark, as programs of Windows write it."""
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if marked else "utf-8-sig", "replace")


def _table_lines(text: str) -> list[tuple[int, str]]:
    """Return the addresses of a table with their lines; nothing where the first line names no such column."""
    head = text.partition("\n")[0].casefold()
    for separator in _SEPARATORS:
        names = [name.strip(' "\r') for name in head.split(separator)]
        column = next((names.index(known) for known in _COLUMNS if known in names), None)
        if len(names) > 1 and column is not None:
            reader = csv.reader(io.StringIO(text), delimiter=separator)
            try:
                return [(reader.line_num, row[column]) for row in reader if len(row) > column][1:]
            except csv.Error as error:
                raise ConfigError(f"line {reader.line_num} of the table cannot be read: {error}") from None
    return []


def _json_lines(file: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(_text_of(file).splitlines(), 1):
        try:
            found = json.loads(line) if line.strip() else {"url": ""}
        except ValueError:
            found = None
        url = found.get("url") if isinstance(found, dict) else None
        yield number, url if isinstance(url, str) else line


def _csv_lines(file: Path) -> Iterator[tuple[int, str]]:
    reader = csv.DictReader(io.StringIO(_text_of(file)))
    if "url" not in (reader.fieldnames or ()):
        raise ConfigError(f"{file} has no column named url")
    for row in reader:
        # The table also has the sites that were rejected.
        if row.get("state") in (None, "verified"):
            yield reader.line_num, row["url"] or ""


def _seeds(source: str, lines: Iterable[tuple[int, str]]) -> Seeds:
    urls: dict[str, None] = {}
    headers: dict[str, None] = {}
    wrong = []
    duplicates = bare = 0
    for number, line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        address = _address_of(text.split()[0])
        if address is None:
            wrong.append(WrongLine(number, text, "is not a URL"))
        elif address in urls:
            duplicates += 1
        else:
            urls[address] = None
            bare += "://" not in text.split()[0]
            headers.update(dict.fromkeys(filter(None, [header_of_address(text.split()[0])])))
    if not urls:
        first = f"; {wrong[0]}" if wrong else ""
        raise ConfigError(
            f"{source} holds no address{first}. Write one per line, such as https://example.org/"
        )
    return Seeds(source, tuple(urls), tuple(wrong), duplicates, bare, tuple(headers))


def _address_of(text: str) -> str | None:
    """Return an address in normal form; a bare host becomes https, one with a port mostly http.

    >>> _address_of("data.example.org"), _address_of("what"), _address_of("ftp://example.org/")
    ('https://data.example.org/', None, None)
    """
    address = with_scheme(text)
    url = normalise(address) if address.lower().startswith(("http://", "https://")) else None
    host = host_of(url) if url else ""
    return url if "." in host or host == "localhost" or ":" in host else None
