"""How many statistics tables does a grid of cells hold?

A table counts when most of the cells below its header are numbers. Three habits of those who make tables need
care. The first column often holds labels, so it is left out where it holds text. Years at the top are a
header, not data. And a blank line often parts the groups of one table: what follows it without a header of
its own belongs to the table above.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

Grid = Sequence[Sequence[object]]

_NUMBER = re.compile(
    r"""[(+\-−–]? \s? [€$£¥]? \s?
    (?: \d{1,3} (?: [ ,.'’\u00a0\u202f] \d{3} )+ | \d+ )
    (?: [.,] \d+ )? (?: e [+-]? \d+ )?
    \s? [%€$£¥]? \)? [*]? \Z""",
    re.VERBOSE | re.IGNORECASE,
)

# What stands in place of a number that is missing, secret or nil.
_MISSING = frozenset(
    {"-", "–", "—", ".", "..", "...", "…", ":", "n/a", "n.a.", "na", "nan", "null", "x", "*"}
)

_YEARS = range(1800, 2101)

_MIN_COLUMNS = 2
_MIN_ROWS = 2


def count_tables(grid: Grid) -> int:
    """Count the statistics tables of a sheet, or of anything that has rows and columns.

    >>> count_tables([["area", "2023", "2024"], ["North", "1,200", "1,310"], ["South", "90", ".."]])
    1
    >>> count_tables([["name", "remark"], ["a", "see below"], ["b", "none"]])
    0
    """
    tables = 0
    for block in _blocks(grid):
        header = _header_rows(block)
        if not _is_numeric(block[header:]):
            continue
        if header or not tables:
            tables += 1
    return tables


def is_number(cell: object) -> bool:
    """Tell whether a cell holds a number, also as it is written in many countries.

    >>> [is_number(each) for each in (3, 2.5, "1 234,5", "12 %", "(3.1)", "$ 5", "12 May", True, "")]
    [True, True, True, True, True, True, False, False, False]
    """
    if isinstance(cell, bool):
        return False
    if isinstance(cell, int | float):
        return True
    return isinstance(cell, str) and _NUMBER.match(cell.strip()) is not None


def _is_empty(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _is_missing(cell: object) -> bool:
    return _is_empty(cell) or (isinstance(cell, str) and cell.strip().lower() in _MISSING)


def _blocks(grid: Grid) -> list[list[list[object]]]:
    """Part a grid at its blank rows; titles and remarks, which have one cell, go with neither side."""
    blocks: list[list[list[object]]] = [[]]
    for row in grid:
        cells = list(row)
        filled = sum(not _is_empty(cell) for cell in cells)
        if filled >= _MIN_COLUMNS:
            blocks[-1].append(cells)
        elif not filled and blocks[-1]:
            blocks.append([])
    return [_trimmed(block) for block in blocks if len(block) >= _MIN_ROWS]


def _trimmed(block: list[list[object]]) -> list[list[object]]:
    """Cut off the empty columns on the left."""
    first = min(next(at for at, cell in enumerate(row) if not _is_empty(cell)) for row in block)
    return [row[first:] for row in block]


def _header_rows(block: Sequence[Sequence[object]]) -> int:
    """Count the rows above the first that holds data."""
    for number, row in enumerate(block):
        cells = [cell for cell in row[1:] if not _is_missing(cell)]
        numbers = [cell for cell in cells if is_number(cell)]
        if cells and 2 * len(numbers) > len(cells) and not (number == 0 and _are_years(numbers)):
            return number
    return len(block)


def _are_years(numbers: Sequence[object]) -> bool:
    for cell in numbers:
        text = str(cell).strip().removesuffix(".0")
        if not (text.isdecimal() and int(text) in _YEARS):
            return False
    return True


def _is_numeric(body: Sequence[Sequence[object]]) -> bool:
    if not body:
        return False
    labels = [row[0] for row in body if row and not _is_missing(row[0])]
    stub = 2 * sum(is_number(label) for label in labels) <= len(labels)
    cells = [cell for row in body for cell in row[1 if stub else 0 :] if not _is_missing(cell)]
    return bool(cells) and 2 * sum(is_number(cell) for cell in cells) > len(cells)
