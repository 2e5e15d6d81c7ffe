"""Samples of a run's files: drawing, guessing, labelling."""

import csv
import gzip
import importlib.util
import io
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.errors import UsageError
from coati.experiments.errors import MissingExtraError
from coati.experiments.yield_files import (
    Guess,
    decoded,
    guess_bytes,
    guess_files,
    require_readers,
    sniffed_delimiter,
)
from coati.experiments.yield_grids import count_tables, is_number
from coati.experiments.yield_sheet import SampledFile, Yield, read_sheet, write_sheet
from coati.testing.office_files import (
    SheetTable,
    write_csv,
    write_json,
    write_ods,
    write_pdf,
    write_xlsx,
    write_zip,
)

ROWS = tuple((f"Area {number}", 2000 + number % 3, 10.5 * number) for number in range(12))
STATISTICS = SheetTable("Statistics", ("area", "year", "value"), ROWS)
MINUTES = SheetTable("Minutes", ("day", "topic"), tuple((f"day {n}", "what was said") for n in range(12)))


@pytest.mark.parametrize(
    "grid",
    [
        [["Table 1. People"], [], ["area", "2023", "2024"], ["North", 1, 2], ["South", 3, 4], ["Source: us"]],
        [["", 2019, 2020], ["North", 1.5, None], ["South", "..", 3]],
        [["year", "births", "deaths"], [2001, 5, 6], [2002, 7, 8]],
        [["", "a", "b"], ["x", "1 234,5", "12 %"], ["y", "(3)", "€ 4"]],
        [["", "a"], ["North", 1], ["of which"], ["East", 2]],
        # A blank line within a table, and its second part without a header of its own.
        [["area", "men", "women"], ["N", 1, 2], ["S", 3, 4], [None, ""], ["E", 5, 6], ["W", 7, 8]],
        [["", "", "x", "y"], ["", "", 1, 2], ["", "", 3, 4]],
    ],
)
def test_a_table_of_numbers_is_one(grid: list[list[object]]) -> None:
    assert count_tables(grid) == 1


@pytest.mark.parametrize(
    "grid",
    [
        [],
        [[]],
        [["only a title"]],
        [["name", "mail"], ["Ann", "ann@example.org"], ["Bob", "bob@example.org"]],
        [["a", "b"]],
        [["date", "event"], ["12 May 2020", "fair"], ["13 May 2020", "market"]],
        [["x", "-"], ["y", ".."], ["z", "n/a"]],
        [["a", True], ["b", False], ["c", True]],
    ],
)
def test_what_is_mostly_words_is_none(grid: list[list[object]]) -> None:
    assert count_tables(grid) == 0


def test_two_tables_on_a_sheet_are_two() -> None:
    table: list[list[object]] = [["area", "men", "women"], ["N", 1, 2], ["S", 3, 4]]
    assert count_tables([*table, [], ["Table 2"], *table]) == 2


@given(st.lists(st.lists(st.none() | st.text(max_size=5) | st.floats() | st.booleans()), max_size=8))
def test_any_grid_has_a_count(grid: list[list[object]]) -> None:
    assert 0 <= count_tables(grid) <= len(grid)


@given(st.integers(-(10**12), 10**12))
def test_numbers_are_numbers_however_they_are_grouped(number: int) -> None:
    assert is_number(number)
    assert is_number(str(number))
    assert is_number(f"{number:,}")
    assert is_number(f"{number:,}".replace(",", " ") + ",5")


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n3,4\n", ","),
        ("a;b\n1,5;2\n3,5;4\n", ";"),
        ("a\tb\tc\n1\t2\t3\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ('name,n\n"x, y",1\n"z, w, v",2\n', ","),
        ("# a remark, first\na;b;c\n1;2;3\n4;5;6\n7;8;9\n", ";"),
        ("Once upon a time\nthere was, of course, a king\nand that was that\n", None),
        ("", None),
    ],
)
def test_the_delimiter_is_found(text: str, delimiter: str | None) -> None:
    assert sniffed_delimiter(text) == delimiter


def test_text_is_decoded_whatever_wrote_it() -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        assert decoded("Zürich;1".encode(encoding)) == "Zürich;1"
    assert decoded("Zürich".encode()[:2]) == "Z"
    assert decoded(b"") == ""


def test_files_are_looked_into_by_their_bytes() -> None:
    pytest.importorskip("python_calamine")
    pytest.importorskip("pdfplumber")
    for write in (write_csv, write_xlsx, write_ods, write_pdf):
        assert guess_bytes(write(STATISTICS)).tables == 1, write.__name__
        assert guess_bytes(write(MINUTES)).tables == 0, write.__name__
    packed = write_zip({"a/x.csv": write_csv(STATISTICS), "y.xlsx": write_xlsx(STATISTICS), "z.json": b"{}"})
    assert guess_bytes(packed).tables == 2
    assert guess_bytes(gzip.compress(write_csv(STATISTICS))).tables == 1
    for data in (
        write_json(STATISTICS),
        b"<html><p>no",
        b"\x00\x01\x02\x03",
        b"just words",
        b"%PDF-1.4 broken",
    ):
        assert guess_bytes(data).tables is None
    assert guess_bytes(gzip.compress(gzip.compress(b"a,b\n1,2\n"))) == Guess(None, "gzip within gzip")


def test_damaged_files_give_no_guess_and_no_error() -> None:
    pytest.importorskip("python_calamine")
    rng = random.Random(5)
    for whole in (write_xlsx(STATISTICS), write_ods(STATISTICS), write_zip({"a.csv": b"a,b\n1,2\n3,4"})):
        for _ in range(15):
            data = bytearray(whole)
            for _ in range(20):
                data[rng.randrange(len(data))] = rng.randrange(256)
            assert guess_bytes(bytes(data[: rng.randrange(len(data))])).tables in {None, 0, 1}


def test_a_zip_bomb_is_not_unpacked() -> None:
    bomb = write_zip({"a.csv": b"1,2\n" * (20 << 20)})
    assert len(bomb) < 1 << 20
    assert guess_bytes(bomb).tables == 0


def test_files_are_read_by_processes_of_their_own(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    (tmp_path / "a.csv").write_bytes(write_csv(STATISTICS))
    found = dict(guess_files([tmp_path / "a.csv", tmp_path / "gone.csv"], 1))
    assert found[0].tables == 1
    assert found[1].tables is None


def test_without_the_libraries_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match=r"python-calamine.*extra `experiments`"):
        require_readers()


FILES = [
    SampledFile(1, "a.csv", "http://x.test/a, b", "text/csv", 10, 2, "delimited text, 1 grid"),
    SampledFile(2, "ü.pdf", 'http://x.test/"q"', "application/pdf", 20, None, "cannot be read"),
]


def test_a_sheet_comes_back_as_it_went(tmp_path: Path) -> None:
    sheet = tmp_path / "s.csv"
    write_sheet(FILES, sheet)
    assert read_sheet(sheet) == FILES
    labelled = [replace(FILES[0], labelled_tables=3, remark="one more"), replace(FILES[1], labelled_tables=0)]
    write_sheet(labelled, sheet)
    assert read_sheet(sheet) == labelled
    # As a spreadsheet program of a country with decimal commas writes it back.
    text = sheet.read_text(encoding="utf-8-sig")
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=";").writerows(csv.reader(io.StringIO(text, newline="")))
    sheet.write_text(out.getvalue(), encoding="cp1252", errors="replace")
    assert [each.labelled_tables for each in read_sheet(sheet)] == [3, 0]


def test_no_text_of_a_site_is_a_formula_on_the_sheet(tmp_path: Path) -> None:
    sheet = tmp_path / "s.csv"
    formulas = [
        SampledFile(number, f"{sign}cmd.csv", "http://x.test/a", f"{sign}SUM(A1)", 1, remark=f"{sign}1")
        for number, sign in enumerate("=+-@\t", start=1)
    ]
    write_sheet(formulas, sheet)
    cells = [cell for row in csv.reader(io.StringIO(sheet.read_text(encoding="utf-8-sig"))) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t"))]
    assert read_sheet(sheet) == formulas


@pytest.mark.parametrize("label", ["-1", "two", "1.5", "9" * 30, "²"])
def test_a_label_that_is_no_count_is_refused_with_its_line(label: str, tmp_path: Path) -> None:
    sheet = tmp_path / "s.csv"
    write_sheet(FILES, sheet)
    lines = sheet.read_text(encoding="utf-8-sig").splitlines()
    lines[2] = lines[2][:-1] + f"{label},"
    sheet.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(UsageError, match="line 3"):
        read_sheet(sheet)


def test_another_file_is_no_sheet(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="no column"):
        read_sheet(tmp_path / "s.csv")


def test_a_yield_of_nothing_is_not_defined() -> None:
    assert Yield.of([None, None]) == Yield(0, None, None, None)
    assert Yield.of([0, 0]) == Yield(2, 0.0, 0.0, None)
