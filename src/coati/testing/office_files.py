"""Small real data files, written by hand: the same table gives the same bytes everywhere.

Each writer covers what a table of texts and numbers needs of its format, and no more.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import dataclass
from xml.sax.saxutils import escape

CellValue = str | int | float


@dataclass(frozen=True, slots=True)
class SheetTable:
    """What a data file holds: a title, the names of its columns, and rows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[CellValue, ...], ...]

    @property
    def lines(self) -> tuple[tuple[CellValue, ...], ...]:
        """The header and the rows."""
        return (self.columns, *self.rows)


def write_csv(table: SheetTable) -> bytes:
    r"""Write comma-separated values.

    >>> write_csv(SheetTable("Harbours", ("name", "ships"), (("Saltgate, old", 3),)))
    b'name,ships\r\n"Saltgate, old",3\r\n'
    """
    text = io.StringIO(newline="")
    csv.writer(text).writerows(table.lines)
    return text.getvalue().encode()


def write_json(table: SheetTable) -> bytes:
    """Write one object per row, under the title."""
    records = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return json.dumps({"title": table.title, "records": records}, indent=1).encode()


def write_zip(members: dict[str, bytes]) -> bytes:
    """Pack files; the time stamps are those of no day at all."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            # An OpenDocument file is known by its first member, which is therefore not compressed.
            entry.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return packed.getvalue()


_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_SHEET_ML = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def write_xlsx(table: SheetTable) -> bytes:
    """Write a workbook with one sheet of at most 26 columns."""
    rows = "".join(_xlsx_row(line, number) for number, line in enumerate(table.lines, start=1))
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_SHEET_ML}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_SHEET_ML}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_SHEETS}" xmlns:r="{_RELATIONS}"><sheets>'
        '<sheet name="Data" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship '
        f'Id="r1" Type="{_RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_SHEETS}"><sheetData>{rows}</sheetData></worksheet>',
    }
    return write_zip({name: (_XML + part).encode() for name, part in parts.items()})


def _xlsx_row(line: tuple[CellValue, ...], number: int) -> str:
    cells = "".join(_xlsx_cell(cell, column, number) for column, cell in enumerate(line))
    return f'<row r="{number}">{cells}</row>'


def _xlsx_cell(cell: CellValue, column: int, row: int) -> str:
    place = f"{chr(ord('A') + column)}{row}"
    if isinstance(cell, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    return f'<c r="{place}"><v>{cell}</v></c>'


_ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
_OASIS = "urn:oasis:names:tc:opendocument:xmlns"


def write_ods(table: SheetTable) -> bytes:
    """Write an OpenDocument spreadsheet with one sheet."""
    rows = "".join(
        f"<table:table-row>{''.join(_ods_cell(cell) for cell in line)}</table:table-row>"
        for line in table.lines
    )
    content = (
        f'{_XML}<office:document-content xmlns:office="{_OASIS}:office:1.0" xmlns:table="{_OASIS}:table:1.0" '
        f'xmlns:text="{_OASIS}:text:1.0" office:version="1.2"><office:body><office:spreadsheet>'
        f'<table:table table:name="Data">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = (
        f'{_XML}<manifest:manifest xmlns:manifest="{_OASIS}:manifest:1.0" manifest:version="1.2">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{_ODS_TYPE}"/>'
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
        "</manifest:manifest>"
    )
    return write_zip(
        {
            "mimetype": _ODS_TYPE.encode(),
            "content.xml": content.encode(),
            "META-INF/manifest.xml": manifest.encode(),
        }
    )


def _ods_cell(cell: CellValue) -> str:
    kind = "string" if isinstance(cell, str) else "float"
    value = "" if isinstance(cell, str) else f' office:value="{cell}"'
    return (
        f'<table:table-cell office:value-type="{kind}"{value}>'
        f"<text:p>{escape(str(cell))}</text:p></table:table-cell>"
    )


# An A4 page in points, its margin, and the height of a line.
_PDF_PAGE = (595, 842)
_PDF_MARGIN = 56
_PDF_LINE = 15
_PDF_LINES = 44


def write_pdf(table: SheetTable, paragraphs: tuple[str, ...] = ()) -> bytes:
    """Write a document: the title, short paragraphs of one line each, and the table."""
    width = (_PDF_PAGE[0] - 2 * _PDF_MARGIN) // len(table.columns)
    lines: list[list[tuple[int, str]]] = [[(0, text)] for text in (*paragraphs, "")]
    lines += [[(i * width, str(cell)) for i, cell in enumerate(line)] for line in table.lines]
    sheets = [lines[start : start + _PDF_LINES] for start in range(0, len(lines), _PDF_LINES)]
    pages = [3 + 2 * number for number in range(len(sheets))]
    font = 3 + 2 * len(sheets)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(f'{page} 0 R' for page in pages)}] /Count {len(pages)} >>",
    ]
    for page, sheet in zip(pages, sheets, strict=True):
        drawing = _pdf_text(table.title if page == pages[0] else "", sheet)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {_PDF_PAGE[0]} {_PDF_PAGE[1]}] "
            f"/Resources << /Font << /F1 {font} 0 R >> >> /Contents {page + 1} 0 R >>"
        )
        objects.append(f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream")
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    return _pdf_file(objects)


def _pdf_text(title: str, lines: list[list[tuple[int, str]]]) -> str:
    top = _PDF_PAGE[1] - _PDF_MARGIN
    drawing = [f"BT /F1 16 Tf {_PDF_MARGIN} {top} Td ({_pdf_escape(title)}) Tj ET"] if title else []
    for number, line in enumerate(lines, start=2):
        y = top - number * _PDF_LINE
        for x, text in line:
            drawing.append(f"BT /F1 10 Tf {_PDF_MARGIN + x} {y} Td ({_pdf_escape(text)}) Tj ET")
    return "\n".join(drawing)


def _pdf_escape(text: str) -> str:
    plain = text.encode("ascii", "replace").decode()
    return plain.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _pdf_file(objects: list[str]) -> bytes:
    """Number the objects and write where each begins, as a reader expects at the end of the file."""
    file = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(file))
        file += f"{number} 0 obj\n{content}\nendobj\n".encode("ascii")
    table = len(file)
    file += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    for place in places:
        file += f"{place:010} 00000 n \n".encode()
    file += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n".encode()
    return bytes(file)
