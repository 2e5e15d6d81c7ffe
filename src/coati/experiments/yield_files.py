"""How many statistics tables does a file hold? A guess, from its bytes.

Files come from strangers. So each is read by a process of its own with limits on time and memory
(`coati.experiments.workers`), and only up to a limit: what is cut off can only make a guess too low.
Spreadsheets are read by python-calamine and PDF by pdfplumber, both of the extra ``experiments``.
"""

from __future__ import annotations

import csv
import gzip
import importlib
import importlib.util
import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from coati.errors import CoatiError
from coati.experiments.errors import missing_extra
from coati.experiments.workers import Job, LostJob, Workers
from coati.experiments.yield_grids import Grid, count_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coati.experiments.workers import WorkerCache

_MAX_FILE_BYTES = 64 << 20
_MAX_TEXT_BYTES = 8 << 20
_MAX_MEMBERS = 50
_MAX_SHEETS = 200
_MAX_ROWS = 20_000
_MAX_PAGES = 60
_MAX_SECONDS = 60.0
_MAX_MEMORY_BYTES = 3 << 30

_READERS = {"python_calamine": "python-calamine", "pdfplumber": "pdfplumber"}

_DELIMITERS = ",;\t|"
_SNIFFED_LINES = 200
# Rows that have as many cells as most rows have; prose with commas has fewer.
_EVEN_SHARE = 0.6

_BY_WORDS = {"vertical_strategy": "text", "horizontal_strategy": "text"}

_OLE = b"\xd0\xcf\x11\xe0"
_SPREADSHEETS = ("xl/workbook.", "content.xml")
_DOCUMENTS = ("word/document.xml", "ppt/presentation.xml")


@dataclass(frozen=True, slots=True)
class Guess:
    """How many tables a file seems to hold; None where nothing can be said, and ``note`` says why."""

    tables: int | None
    note: str


class _UnreadableError(Exception):
    """This file says nothing about its tables; the message says why."""


def require_readers() -> None:
    """Raise `MissingExtraError` where a library is missing that reads files."""
    for module, library in _READERS.items():
        if importlib.util.find_spec(module) is None:
            raise missing_extra(library, "looking for tables in files")


def guess_files(files: Sequence[Path], jobs: int) -> Iterator[tuple[int, Guess]]:
    """Guess for each file, in processes of their own; return its place in the list with the guess."""
    workers = Workers(jobs, _MAX_SECONDS, _MAX_MEMORY_BYTES)
    for number, result in workers.run(Job(_guess_job, file, name=f"reading {file}") for file in files):
        yield number, Guess(None, f"given up: {result.reason}") if isinstance(result, LostJob) else result


def _guess_job(_cache: WorkerCache, file: Path) -> Guess:
    return guess_file(file)


def guess_file(file: Path) -> Guess:
    """Guess how many statistics tables a file holds."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_MAX_FILE_BYTES + 1)
    except OSError as error:
        return Guess(None, f"cannot be read: {error.strerror}")
    if len(data) > _MAX_FILE_BYTES:
        return Guess(None, f"larger than {_MAX_FILE_BYTES >> 20} MiB")
    return guess_bytes(data)


def guess_bytes(data: bytes) -> Guess:
    """Guess from the bytes of a file, whatever its name says."""
    try:
        kind, read = _reader(data)
        grids = 0
        tables = 0
        for grid in read(data):
            grids += 1
            tables += count_tables(grid)
    except _UnreadableError as error:
        return Guess(None, str(error))
    except CoatiError:
        raise
    except Exception as error:  # noqa: BLE001 - parsers fail in many ways on what strangers wrote
        return Guess(None, f"cannot be read: {type(error).__name__}")
    return Guess(tables, f"{kind}, {grids} {'grid' if grids == 1 else 'grids'}")


def _reader(data: bytes) -> tuple[str, Callable[[bytes], Iterator[Grid]]]:
    head = data[:1024].lstrip()
    if head.startswith(b"%PDF"):
        return "PDF", _pdf_grids
    if data.startswith(_OLE):
        return "spreadsheet", _sheet_grids
    if data.startswith(b"PK\x03\x04"):
        return _zip_reader(data)
    if data.startswith(b"\x1f\x8b"):
        return "gzip", _gzip_grids
    if head[:1] in {b"{", b"["}:
        raise _UnreadableError("JSON: not looked into")
    if head[:1] == b"<":
        raise _UnreadableError("XML or HTML: not looked into")
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _UnreadableError("of a type that is not looked into")
    return "delimited text", _text_grids


def _zip_reader(data: bytes) -> tuple[str, Callable[[bytes], Iterator[Grid]]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
    if any(name.startswith(_SPREADSHEETS) for name in names):
        return "spreadsheet", _sheet_grids
    if any(name in _DOCUMENTS for name in names):
        raise _UnreadableError("a text document: not looked into")
    return "zip", _zip_grids


def _sheet_grids(data: bytes) -> Iterator[Grid]:
    calamine: Any = importlib.import_module("python_calamine")
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    except Exception as error:
        raise _UnreadableError("no spreadsheet that can be read") from error
    for name in book.sheet_names[:_MAX_SHEETS]:
        yield book.get_sheet_by_name(name).to_python(skip_empty_area=True, nrows=_MAX_ROWS)


def _pdf_grids(data: bytes) -> Iterator[Grid]:
    plumber: Any = importlib.import_module("pdfplumber")
    with plumber.open(io.BytesIO(data)) as document:
        for page in document.pages[:_MAX_PAGES]:
            yield from page.extract_tables() or _by_words(page)
            page.close()


def _by_words(page: Any) -> list[Grid]:  # noqa: ANN401 - the library has no types
    """Find tables without lines, as most in print are, by the places of words.

    That also makes columns of prose, but prose has few numbers; and rows of the space between lines, which
    would part a table.
    """
    grids = page.extract_tables(_BY_WORDS)
    return [[row for row in grid if any(row)] for grid in grids]


def _text_grids(data: bytes) -> Iterator[Grid]:
    text = decoded(data[:_MAX_TEXT_BYTES])
    delimiter = sniffed_delimiter(text)
    if delimiter is None:
        raise _UnreadableError("text without columns")
    yield _rows(text, delimiter, _MAX_ROWS)


def _gzip_grids(data: bytes) -> Iterator[Grid]:
    with gzip.open(io.BytesIO(data)) as packed:
        inner = packed.read(_MAX_TEXT_BYTES)
    _, read = _reader(inner)
    if read is _gzip_grids:
        raise _UnreadableError("gzip within gzip")
    yield from read(inner)


def _zip_grids(data: bytes) -> Iterator[Grid]:
    """Look into the files of a zip archive, but not into archives within."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()][:_MAX_MEMBERS]
        for member in members:
            if PurePosixPath(member.filename).name.startswith("."):
                continue
            with archive.open(member) as opened:
                inner = opened.read(_MAX_TEXT_BYTES + 1)
            if len(inner) > _MAX_TEXT_BYTES:
                continue
            try:
                _, read = _reader(inner)
                if read not in {_zip_grids, _gzip_grids}:
                    yield from read(inner)
            except (_UnreadableError, zipfile.BadZipFile):
                continue


def decoded(data: bytes) -> str:
    """Decode text that does not say how it is encoded; what is no UTF-8 or UTF-16 is taken for Latin."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        # The last character may be cut in two.
        return data.decode("utf-8-sig") if data[-1:] < b"\x80" else data.decode("utf-8-sig", "ignore")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def sniffed_delimiter(text: str) -> str | None:
    r"""Find what parts the cells of a text: what parts most rows into equally many; None for prose.

    >>> sniffed_delimiter("a;b;c\n1,5;2;3\n2,5;3;4\n")
    ';'
    """
    best, best_score = None, (0.0, 0)
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in _rows(text, delimiter, _SNIFFED_LINES) if any(row)]
        wide = [width for width in widths if width > 1]
        if not wide:
            continue
        usual = max(set(wide), key=lambda width: (wide.count(width), width))
        score = (wide.count(usual) / len(widths), usual)
        if score[0] >= _EVEN_SHARE and score > best_score:
            best, best_score = delimiter, score
    return best


def _rows(text: str, delimiter: str, limit: int) -> list[list[str]]:
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            rows.append(row)
            if len(rows) >= limit:
                break
    except csv.Error:
        pass  # a cell that never ends: what was read so far counts
    return rows
