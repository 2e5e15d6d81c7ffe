"""``archive.toml``: what an archive says about itself, in a form that people read and tools parse."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from coati.archive.record import ArchiveMeta
from coati.errors import ArchiveError
from coati.file_lock import FileHeldError, FileLock
from coati.toml_writer import to_toml
from coati.web.media import TargetTypes

FILE_NAME = "archive.toml"

# Raised whenever an older Coati would misread what a newer one writes, here or in the index.
FORMAT = 2

# Format 1 is without histories: it is read, and becomes the newer one where it is written.
_READABLE = frozenset({1, FORMAT})

_MAX_BYTES = 1 << 20
_KEYS = frozenset({"format", "name", "start_url", "origin", "licence", "blocked_extensions", "types"})
_TYPES_KEYS = frozenset({"name", "media_types", "extensions", "everything"})


def write_description(folder: Path, meta: ArchiveMeta) -> None:
    """Write ``archive.toml``; a reader sees the old file or the new one, never a part."""
    described: dict[str, object] = {
        "format": FORMAT,
        "name": meta.name,
        "start_url": meta.start_url,
        "origin": meta.origin,
        "licence": meta.licence,
        "blocked_extensions": meta.blocked_extensions,
    }
    comment = "A website on disk, archived by Coati. The records are in warc/."
    if meta.types is None:
        comment += "\nNo [types]: each record carries the kind that it is."
    else:
        described["types"] = {name: getattr(meta.types, name) for name in sorted(_TYPES_KEYS)}
    draft = folder / (FILE_NAME + ".new")
    draft.write_text(to_toml(described, comment), encoding="utf-8")
    draft.replace(folder / FILE_NAME)


def lock_archive(folder: Path) -> FileLock:
    """Take the right to write an archive: two writers would cut off each other's ends."""
    try:
        return FileLock(folder / FILE_NAME)
    except FileHeldError as error:
        raise ArchiveError(f"the archive {folder} is open for writing elsewhere") from error


def read_description(folder: Path) -> ArchiveMeta:
    """Read ``archive.toml``; raise `ArchiveError` that says what is wrong with the folder."""
    return _read(folder)[1]


def upgrade_description(folder: Path, meta: ArchiveMeta) -> None:
    """Write the description of an archive of an older format again, as one of this format."""
    if _read(folder)[0] != FORMAT:
        write_description(folder, meta)


def _read(folder: Path) -> tuple[int, ArchiveMeta]:
    path = folder / FILE_NAME
    if not folder.exists():
        raise ArchiveError(f"there is no archive at {folder}")
    if not path.is_file():
        raise ArchiveError(
            f"{folder} is not an archive: it has no {FILE_NAME}. "
            f"`coati archive import {folder} DEST` makes one of it"
        )
    try:
        with path.open("rb") as file:
            data = tomllib.loads(file.read(_MAX_BYTES).decode())
        return data["format"], _meta(data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArchiveError(f"{path} cannot be read: {error}") from error


def _meta(data: dict[str, Any]) -> ArchiveMeta:
    version = data["format"]
    if version not in _READABLE:
        raise ValueError(f"its format is {version!r}, and this version of Coati reads {FORMAT}")
    _refuse_unknown(data, _KEYS)
    types = data.get("types")
    return ArchiveMeta(
        name=_str(data["name"]),
        start_url=_str(data["start_url"]),
        types=None if types is None else _target_types(types),
        origin=_str(data.get("origin", "")),
        licence=_str(data.get("licence", "")),
        blocked_extensions=_strs(data["blocked_extensions"]),
    )


def _target_types(data: dict[str, Any]) -> TargetTypes:
    _refuse_unknown(data, _TYPES_KEYS)
    return TargetTypes(
        _str(data["name"]),
        _strs(data["media_types"]),
        _strs(data["extensions"]),
        everything=data["everything"] is True,
    )


def _refuse_unknown(data: dict[str, Any], known: frozenset[str]) -> None:
    # A misspelt key would otherwise count as absent, and change what a replay measures.
    unknown = sorted(data.keys() - known)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}")


def _str(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} should be a string")
    return value


def _strs(values: object) -> frozenset[str]:
    if not isinstance(values, list):
        raise TypeError(f"{values!r} should be a list of strings")
    return frozenset(map(_str, values))
