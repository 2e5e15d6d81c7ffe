"""The files are real: other readers than ours understand them."""

import csv
import io
import json
import re
import zipfile
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.testing.office_files import (
    SheetTable,
    write_csv,
    write_json,
    write_ods,
    write_pdf,
    write_xlsx,
    write_zip,
)

TABLE = SheetTable(
    "Ships & <boats>", ("harbour", "year", "ships"), (("Saltgate (old)", 2024, 3), ('"x", y', 2023, 4.5))
)
SHEETS = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
ODF = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"


def parse(content: bytes) -> ET.Element:
    return ET.fromstring(content)  # noqa: S314 - our own file


def texts_of_pdf(pdf: bytes) -> list[str]:
    strings = re.findall(rb"\(((?:\\.|[^()\\])*)\) Tj", pdf)
    return [re.sub(rb"\\(.)", rb"\1", text).decode() for text in strings]


def test_csv_and_json_hold_the_table() -> None:
    assert list(csv.reader(io.StringIO(write_csv(TABLE).decode()))) == [
        ["harbour", "year", "ships"],
        ["Saltgate (old)", "2024", "3"],
        ['"x", y', "2023", "4.5"],
    ]
    assert json.loads(write_json(TABLE))["records"][1] == {"harbour": '"x", y', "year": 2023, "ships": 4.5}


def test_xlsx_is_a_whole_package_with_the_table() -> None:
    with zipfile.ZipFile(io.BytesIO(write_xlsx(TABLE))) as package:
        assert package.testzip() is None
        parts = {name: parse(package.read(name)) for name in package.namelist()}
    named = {part.get("PartName", "")[1:] for part in parts["[Content_Types].xml"] if part.get("PartName")}
    assert named <= parts.keys()
    cells = parts["xl/worksheets/sheet1.xml"].iter(f"{SHEETS}c")
    values = {cell.get("r"): "".join(cell.itertext()) for cell in cells}
    assert values["A1"] == "harbour"
    assert values["A2"] == "Saltgate (old)"
    assert values["C3"] == "4.5"


def test_ods_begins_with_its_media_type_and_holds_the_table() -> None:
    content = write_ods(TABLE)
    # Where programs that guess by the first bytes look for it.
    assert content[30:38] == b"mimetype"
    assert content[38:84] == b"application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        document = parse(package.read("content.xml"))
        entries = parse(package.read("META-INF/manifest.xml")).iter(ODF % "manifest" + "file-entry")
        assert [entry.get(ODF % "manifest" + "full-path") for entry in entries] == ["/", "content.xml"]
    rows = list(document.iter(ODF % "table" + "table-row"))
    assert [["".join(cell.itertext()) for cell in row] for row in rows][1] == ["Saltgate (old)", "2024", "3"]


@pytest.mark.parametrize("rows", [0, 1, 43, 44, 200])
def test_pdf_says_where_each_object_begins(rows: int) -> None:
    table = SheetTable(TABLE.title, TABLE.columns, tuple(("a", number, 1) for number in range(rows)))
    pdf = write_pdf(table, ("One (1) line.",))
    start = int(pdf.rsplit(b"startxref\n", 1)[1].split()[0])
    lines = pdf[start:].split(b"\n")
    assert lines[0] == b"xref"
    count = int(lines[1].split()[1])
    for number in range(1, count):
        place = int(lines[2 + number].split()[0])
        assert pdf[place:].startswith(b"%d 0 obj\n" % number)
    for length, stream in re.findall(rb"/Length (\d+) >>\nstream\n(.*?)\nendstream", pdf, re.DOTALL):
        assert int(length) == len(stream)
    kids = re.search(rb"/Kids \[(.*?)\] /Count (\d+)", pdf)
    assert kids is not None
    assert kids.group(1).count(b" R") == int(kids.group(2)) == len(re.findall(rb"/Type /Page ", pdf))
    shown = texts_of_pdf(pdf)
    assert shown[:2] == ["Ships & <boats>", "One (1) line."]
    assert shown.count("a") == rows


def test_zip_holds_its_members() -> None:
    members = {"a.csv": b"1,2", "readme.txt": b"read me" * 100}
    with zipfile.ZipFile(io.BytesIO(write_zip(members))) as package:
        assert {name: package.read(name) for name in package.namelist()} == members


@given(
    st.lists(
        st.tuples(st.text(st.characters(codec="ascii", exclude_categories=["C"])), st.integers()), max_size=5
    )
)
def test_any_text_survives(rows: list[tuple[str, int]]) -> None:
    table = SheetTable("T", ("text", "number"), tuple(rows))
    assert list(csv.reader(io.StringIO(write_csv(table).decode())))[1:] == [[t, str(n)] for t, n in rows]
    with zipfile.ZipFile(io.BytesIO(write_xlsx(table))) as package:
        sheet = parse(package.read("xl/worksheets/sheet1.xml"))
    assert ["".join(cell.itertext()) for cell in sheet.iter(f"{SHEETS}c")][2::2] == [text for text, _ in rows]
    shown = texts_of_pdf(write_pdf(table))
    assert [text for text in shown if text] == [
        text for text in ("T", "text", "number", *(str(cell) for row in rows for cell in row)) if text
    ]
