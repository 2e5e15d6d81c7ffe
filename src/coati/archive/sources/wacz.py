"""WACZ: a zip file with WARC files in ``archive/`` and a description of the pages beside them.

Nothing is unpacked under a name that the file chooses. WARC files are read where they are in the
zip file, which is how WACZ writers store them; one that was compressed once more is first unpacked
into a nameless file, within limits. A zip file whose directory is lost, because it was cut off, is
searched for WARC records as it is.
"""

from __future__ import annotations

import io
import json
import lzma
import struct
import tempfile
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from coati.archive.sources.source import DamagedPart
from coati.archive.sources.warc_files import warc_on_disk
from coati.archive.sources.warc_stream import WarcFile
from coati.errors import ArchiveError
from coati.machine_errors import writing_to
from coati.web.urls import normalise

_DESCRIPTION = "datapackage.json"
_PAGES = "pages/pages.jsonl"
_MAX_MEMBERS = 100_000
_MAX_DESCRIPTION_BYTES = 16 * 1024 * 1024
_MAX_PAGE_LINES = 100

# A WARC file that was zipped once more shrinks a few times at most, a bomb a thousand times.
_MAX_RATIO = 100
_MAX_UNPACKED_BYTES = 1 << 36

# What is lost in front of a damaged place: zlib gives nothing for a piece that it cannot unpack.
_READ_BYTES = 4096
_COPY_BYTES = 1 << 20
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_ENCRYPTED = 0x1


def is_zip(path: Path) -> bool:
    """Tell whether a file begins as zip files do."""
    with path.open("rb") as file:
        return file.read(4) == b"PK\3\4"


class WaczContent(NamedTuple):
    """The WARC files in a WACZ file, where its collection begins if it says so, and what is lost of it."""

    files: list[WarcFile]
    start_url: str | None = None
    damage: tuple[DamagedPart, ...] = ()


def read_wacz(path: Path) -> WaczContent:
    """Look into a WACZ file; the WARC files in it are read later."""
    try:
        with zipfile.ZipFile(path) as zipped:
            files = [_warc_inside(path, member) for member in _warc_members(path, zipped)]
            start_url = _main_page(zipped)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError, struct.error) as error:
        lost = DamagedPart(str(path), f"its directory cannot be read ({error}); searched for records")
        return WaczContent([warc_on_disk(path)], damage=(lost,))
    if not files:
        raise ArchiveError(f"{path} is a zip file without WARC files: not a WACZ")
    return WaczContent(files, start_url)


def _warc_members(path: Path, zipped: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    members = zipped.infolist()
    if len(members) > _MAX_MEMBERS:
        raise ArchiveError(f"{path} has {len(members)} members; the limit is {_MAX_MEMBERS}")
    if sum(member.compress_size for member in members) > path.stat().st_size:
        raise ArchiveError(f"{path} holds members that overlap; that is not an honest file")
    warcs = [member for member in members if member.filename.endswith((".warc.gz", ".warc"))]
    return sorted(warcs, key=lambda member: member.filename)


def _warc_inside(path: Path, member: zipfile.ZipInfo) -> WarcFile:
    name = f"{path}: {member.filename}"
    if member.flag_bits & _ENCRYPTED:
        raise ArchiveError(f"{name} is encrypted")
    if member.compress_type == zipfile.ZIP_STORED:
        return WarcFile(name, member.compress_size, lambda: _open_stored(path, member))
    if member.compress_type != zipfile.ZIP_DEFLATED:
        raise ArchiveError(f"{name} is compressed in a way that WACZ files are not")
    if member.file_size > min(member.compress_size * _MAX_RATIO, _MAX_UNPACKED_BYTES):
        raise ArchiveError(f"{name} would unpack to {member.file_size} bytes; that is not an honest file")
    return WarcFile(name, member.file_size, lambda: _unpack(path, member))


def _open_stored(path: Path, member: zipfile.ZipInfo) -> BinaryIO:
    if member.header_offset < 0:
        # So says a directory that was damaged, or made up.
        return io.BytesIO()
    file = path.open("rb")
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size:
        return io.BytesIO()
    _, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(header)
    start = member.header_offset + _LOCAL_HEADER.size + name_bytes + extra_bytes
    return cast("BinaryIO", io.BufferedReader(_Window(file, start, member.compress_size)))


class _Window(io.RawIOBase):
    """A part of a file, read as if it were a file; closes the file with itself."""

    def __init__(self, file: BinaryIO, start: int, length: int) -> None:
        super().__init__()
        self._file = file
        self._start = start
        self._length = length
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._length}[whence]
        self._position = max(0, origin + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 -- any writable buffer
        view = memoryview(buffer)
        wanted = min(len(view), max(0, self._length - self._position))
        self._file.seek(self._start + self._position)
        octets = self._file.read(wanted)
        view[: len(octets)] = octets
        self._position += len(octets)
        return len(octets)

    def close(self) -> None:
        self._file.close()
        super().close()


def _unpack(path: Path, member: zipfile.ZipInfo) -> BinaryIO:
    """Unpack a member as far as it can be, and never beyond the size that it states.

    `zipfile` would drop the last part of a member whose check sum is wrong. The records have check sums
    of their own: reading them will show which are good.
    """
    unpacked = tempfile.TemporaryFile()  # noqa: SIM115 -- the caller closes it
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    left = member.file_size
    pending = b""
    try:
        with _open_stored(path, member) as packed, writing_to(Path(tempfile.gettempdir())):
            while left and not unpacker.eof and (pending := pending or packed.read(_READ_BYTES)):
                try:
                    left -= unpacked.write(unpacker.decompress(pending, min(left, _COPY_BYTES)))
                except zlib.error:
                    break
                pending = unpacker.unconsumed_tail
            unpacked.seek(0)
    except BaseException:
        with suppress(OSError):
            unpacked.close()
        raise
    return cast("BinaryIO", unpacked)


def _main_page(zipped: zipfile.ZipFile) -> str | None:
    """Return the page that the collection says it begins with."""
    description = _json(_content(zipped, _DESCRIPTION))
    main = description.get("mainPageUrl") or description.get("mainPageURL")
    if isinstance(main, str) and (url := normalise(main)):
        return url
    for line in _content(zipped, _PAGES).splitlines()[:_MAX_PAGE_LINES]:
        page = _json(line).get("url")
        if isinstance(page, str) and (url := normalise(page)):
            return url
    return None


def _content(zipped: zipfile.ZipFile, name: str) -> bytes:
    try:
        with zipped.open(name) as file:
            return file.read(_MAX_DESCRIPTION_BYTES)
    except (KeyError, OSError, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError, RuntimeError):
        return b""


def _json(octets: bytes) -> dict[str, Any]:
    try:
        value = json.loads(octets)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
