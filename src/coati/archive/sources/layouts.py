"""Which layout a source has, found by looking at it."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from coati.archive.description import FILE_NAME
from coati.archive.sources.replica import Replica
from coati.archive.sources.snapshot_tables import SnapshotTables
from coati.archive.sources.source import SiteSource, SourceOptions
from coati.archive.sources.static_folder import StaticFolder
from coati.archive.sources.wacz import WaczContent, is_zip, read_wacz
from coati.archive.sources.warc_files import WarcFiles, warc_on_disk
from coati.errors import UsageError, unknown_name

LAYOUTS = ("warc", "wacz", "replica", "snapshots", "folder")
_FOLDERS: dict[str, Callable[[Path, SourceOptions], SiteSource]] = {
    "replica": Replica,
    "snapshots": SnapshotTables,
    "folder": StaticFolder,
}

_WARC_ENDINGS = (".warc", ".warc.gz", ".warc.zst", ".wacz")
_VERSION_LINE = b"WARC/"


def open_source(paths: Sequence[Path], layout: str, options: SourceOptions) -> tuple[str, SiteSource]:
    """Open a source in the layout of this name, or in the one that it seems to have (``auto``)."""
    if layout not in {"auto", *LAYOUTS}:
        raise unknown_name("layout", layout, ("auto", *LAYOUTS))
    for path in paths:
        if not path.exists():
            raise UsageError(f"there is nothing at {path}")
        if not path.is_file() and not path.is_dir():
            # A pipe is read once, and would be waited for.
            raise UsageError(f"{path} is neither a file nor a folder; write its output to a file first")
    if layout == "auto":
        layout = detect_layout(paths)
    if layout in {"warc", "wacz"}:
        return layout, _warc_source(paths, layout, options)
    if len(paths) > 1:
        raise UsageError("several sources can be imported as one only if they are WARC or WACZ files")
    path = paths[0]
    if not path.is_dir():
        raise UsageError(f"{path} is not in the layout {layout!r}")
    return layout, _FOLDERS[layout](path, options)


def _warc_source(paths: Sequence[Path], layout: str, options: SourceOptions) -> WarcFiles:
    """Join WARC and WACZ files, in the order in which they are named; the first known start counts."""
    for path in paths:
        if layout == "wacz" and path.is_dir():
            raise UsageError(f"{path} is not in the layout 'wacz'")
    contents = [
        read_wacz(path) if layout == "wacz" or is_zip(path) else WaczContent([warc_on_disk(path)])
        for path in _warc_paths(paths)
    ]
    return WarcFiles(
        [file for content in contents for file in content.files],
        options,
        start_url=next((content.start_url for content in contents if content.start_url), None),
        known_damage=[damage for content in contents for damage in content.damage],
    )


def detect_layout(paths: Sequence[Path]) -> str:
    """Name the layout; raise `UsageError` where it is not one of ours."""
    first = paths[0]
    if len(paths) > 1:
        return "wacz" if all(path.is_file() and is_zip(path) for path in paths) else "warc"
    if first.is_dir():
        return _layout_of_folder(first)
    if is_zip(first):
        return "wacz"
    if first.name.endswith(_WARC_ENDINGS) or _looks_like_warc(first):
        return "warc"
    raise UsageError(
        f"{first} is neither a WARC file, nor a WACZ file, nor a folder; "
        f"--layout says which of {', '.join(LAYOUTS)} it is"
    )


def _layout_of_folder(folder: Path) -> str:
    if (folder / FILE_NAME).is_file():
        raise UsageError(f"{folder} is an archive already")
    if Replica.recognises(folder):
        return "replica"
    if SnapshotTables.recognises(folder):
        return "snapshots"
    # A crawl's folder holds its WARC files, at the top or where Browsertrix puts them.
    if _warc_paths([folder]) and not (folder / "index.html").exists():
        return "warc"
    return "folder"


def _warc_paths(paths: Sequence[Path]) -> list[Path]:
    """List the WARC and WACZ files that are named, or that lie in the folders that are."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = [*path.iterdir(), *(path / "archive").glob("*"), *(path / "warcs").glob("*")]
            found += sorted(file for file in inside if file.name.endswith(_WARC_ENDINGS) and file.is_file())
        else:
            found.append(path)
    return found


def _looks_like_warc(path: Path) -> bool:
    with path.open("rb") as file:
        if file.read(len(_VERSION_LINE)) == _VERSION_LINE:
            return True
    try:
        with gzip.open(path) as unpacked:
            return unpacked.read(len(_VERSION_LINE)) == _VERSION_LINE
    except (OSError, EOFError, zlib.error):
        return False
