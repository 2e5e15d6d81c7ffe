"""A sample of a run's targets, as a sheet to be labelled by hand, and what it says about the run.

The yield is the share of files that hold a statistics table (Table 7 of the EDBT 2026 paper). It is guessed
by looking into the files, and known when somebody has written the true number beside each guess.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from coati.errors import UsageError
from coati.runs.csv_pieces import csv_pieces, unescape_formula
from coati.runs.durable import write_whole

if TYPE_CHECKING:
    from coati.runs.reader import RunReader

_MAX_SHEET_BYTES = 16 << 20
_MAX_TABLES = 1_000_000

_TARGETS = """
SELECT targets.url, targets.file, targets.media_type, targets.size_bytes FROM targets ORDER BY targets.url
"""


@dataclass(frozen=True, slots=True)
class SampledFile:
    """A line of the sheet; the tables are None where nothing was guessed or labelled."""

    number: int
    file: str
    url: str
    media_type: str
    size_bytes: int
    guessed_tables: int | None = None
    guess_note: str = ""
    labelled_tables: int | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Yield:
    """What a sample says: None where no file of it is known."""

    files: int
    yield_pct: float | None
    tables_per_file: float | None
    tables_per_file_with_any: float | None

    @classmethod
    def of(cls, tables: Sequence[int | None]) -> Yield:
        """Sum up the files whose number of tables is known.

        >>> Yield.of([3, 0, None, 1, 0])
        Yield(files=4, yield_pct=50.0, tables_per_file=1.0, tables_per_file_with_any=2.0)
        """
        known = [count for count in tables if count is not None]
        some = [count for count in known if count]
        if not known:
            return cls(0, None, None, None)
        per_file_with_any = sum(some) / len(some) if some else None
        return cls(len(known), 100 * len(some) / len(known), sum(known) / len(known), per_file_with_any)


def draw_sample(reader: RunReader, count: int, seed: int) -> list[SampledFile]:
    """Draw targets of a run, all with the same chance; the same seed draws the same ones."""
    if count < 1:
        raise UsageError(f"a sample of {count} files makes no sense: draw at least one")
    targets = reader.connection.execute(_TARGETS).fetchall()
    drawn = Random(seed).sample(targets, min(count, len(targets)))
    return [
        SampledFile(number, row["file"], row["url"], row["media_type"], row["size_bytes"])
        for number, row in enumerate(drawn, start=1)
    ]


def write_sheet(files: Sequence[SampledFile], sheet: Path) -> None:
    """Write the sheet: CSV, with a column to be filled."""
    names = [field.name for field in fields(SampledFile)]
    rows = ([getattr(each, name) for name in names] for each in files)
    write_whole(sheet, csv_pieces(names, rows, "\r\n"))


def read_sheet(sheet: Path) -> list[SampledFile]:
    """Read a sheet with what was labelled; raises `UsageError` that names the line that makes no sense."""
    with sheet.open("rb") as opened:
        data = opened.read(_MAX_SHEET_BYTES + 1)
    if len(data) > _MAX_SHEET_BYTES:
        raise UsageError(f"{sheet} is too large for a sheet of a sample")
    text = data.decode("utf-8-sig", "replace")
    # A spreadsheet program may write it back with semicolons, as in countries with decimal commas.
    delimiter = ";" if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(",") else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    names = [field.name for field in fields(SampledFile)]
    lacking = [name for name in names if name not in (reader.fieldnames or [])]
    if lacking:
        raise UsageError(f"{sheet} is not a sheet of a sample: it has no column {lacking[0]}")
    try:
        return [_sampled(row, f"{sheet}, line {number}") for number, row in enumerate(reader, start=2)]
    except csv.Error as error:
        raise UsageError(f"{sheet} cannot be read: {error}") from error


def with_guess(file: SampledFile, tables: int | None, note: str) -> SampledFile:
    """Return a line with the guess filled in."""
    return replace(file, guessed_tables=tables, guess_note=note)


def _sampled(row: dict[str, str | None], where: str) -> SampledFile:
    return SampledFile(
        number=_count(row["number"], where) or 0,
        file=unescape_formula(row["file"] or ""),
        url=unescape_formula(row["url"] or ""),
        media_type=unescape_formula(row["media_type"] or ""),
        size_bytes=_count(row["size_bytes"], where, most=1 << 62) or 0,
        guessed_tables=_count(row["guessed_tables"], where),
        guess_note=unescape_formula(row["guess_note"] or ""),
        labelled_tables=_count(row["labelled_tables"], where),
        remark=unescape_formula(row["remark"] or ""),
    )


def _count(text: str | None, where: str, most: int = _MAX_TABLES) -> int | None:
    text = (text or "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > len(str(most)) or int(text) > most:
        raise UsageError(f"{where}: {text[:40]!r} is not a count; write a whole number, or leave it empty")
    return int(text)
