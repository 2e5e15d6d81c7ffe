"""The files, one by one with their sources; then by type."""

from __future__ import annotations

from sqlite3 import Connection, Row

from coati.archive.sources.file_types import media_type_of
from coati.reporting.charts import bar
from coati.reporting.run_facts import RunFacts
from coati.reporting.safe_html import (
    Html,
    breakable,
    data_block,
    element,
    file_link,
    joined,
    shortened,
    web_address,
    web_link,
)
from coati.reporting.tables import Column, TableCell, counted, table
from coati.runs.other_types import other_types
from coati.runs.shared_titles import SHARED_TITLES, TELLING_TITLE
from coati.times import format_moment
from coati.units import format_bytes, format_count

# A report of this many files is quick to write and to search, and a few megabytes; files.csv has the rest.
MAX_FILES = 10_000
# What stands in the page itself, for those who read it without scripts, or on paper.
MAX_ROWS = 100
# Addresses are linked to as they are; longer ones are cut, and lead nowhere.
_MAX_ADDRESS_CHARS = 2000
_MAX_TYPES = 30

# What an extension says of a file that its server calls text or binary, and nothing more.
_TOLD_EXTENSIONS = (
    "csv",
    "tsv",
    "json",
    "geojson",
    "xml",
    "rdf",
    "pdf",
    "zip",
    "gz",
    "doc",
    "docx",
    "xls",
    "xlsx",
    "ods",
)
_DECLARED = """trim(lower(CASE instr(media_type, ';') WHEN 0 THEN media_type
                  ELSE substr(media_type, 1, instr(media_type, ';') - 1) END))"""
_TOLD_BY_NAME = " ".join(
    f"WHEN file LIKE '%.{extension}' THEN '{media_type_of(f'file.{extension}', b'')}'"
    for extension in _TOLD_EXTENSIONS
)
_TYPE = f"""CASE WHEN {_DECLARED} IN ('', 'text/plain', 'application/octet-stream')
            THEN CASE {_TOLD_BY_NAME} ELSE {_DECLARED} END ELSE {_DECLARED} END"""
_TYPES = f"""
SELECT {_TYPE} AS type,
       count(*) AS files, sum(size_bytes) AS bytes, min(size_bytes) AS least, max(size_bytes) AS most
FROM targets GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?
"""  # noqa: S608 - our own text
_FILES = f"""
{SHARED_TITLES}
SELECT file, {TELLING_TITLE} AS title, found_on, url, {_TYPE} AS type, size_bytes, fetched_at FROM targets
WHERE file <> '' ORDER BY request LIMIT ?
"""  # noqa: S608 - our own text

_SHORT_NAMES = {
    "text/csv": "CSV",
    "application/csv": "CSV",
    "text/tab-separated-values": "TSV",
    "application/json": "JSON",
    "application/geo+json": "GeoJSON",
    "application/pdf": "PDF",
    "application/xml": "XML",
    "text/xml": "XML",
    "text/plain": "plain text",
    "application/zip": "ZIP",
    "application/octet-stream": "unnamed binary",
    "application/msword": "Word (old)",
    "application/vnd.ms-excel": "Excel (old)",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
    "application/vnd.oasis.opendocument.spreadsheet": "OpenDocument sheet",
    "application/vnd.oasis.opendocument.text": "OpenDocument text",
    "application/rss+xml": "RSS",
    "application/rdf+xml": "RDF",
    "application/x-gzip": "gzip",
    "application/gzip": "gzip",
}


def files(connection: Connection, facts: RunFacts) -> Html:
    """Show the files, then the types."""
    if not facts.totals.targets:
        return element(
            "section",
            element("h2", "The files"),
            element("p", _none(facts)),
            _not_wanted(connection, facts),
            id="files",
        )
    types = connection.execute(_TYPES, (_MAX_TYPES,)).fetchall()
    rows = connection.execute(_FILES, (MAX_FILES,)).fetchall()
    where = joined(
        "All of them are listed in ",
        element("a", "files.csv", href="files.csv"),
        " and, with all details, in run.sqlite.",
    )
    if facts.totals.targets > len(rows):
        note = joined(
            f"The first {format_count(len(rows))} of {format_count(facts.totals.targets, 'file')}. ", where
        )
    else:
        note = where
    return element(
        "section",
        element("h2", "The files"),
        element("p", note, class_="note"),
        _files_table(rows[:MAX_ROWS], facts),
        data_block("file-list", _file_data(rows, facts)),
        element("h3", "By type"),
        _types_table(types),
        _not_wanted(connection, facts),
        id="files",
    )


def _none(facts: RunFacts) -> str:
    if facts.watches:
        return "No file was new or changed since the watch began."
    return "No file of the wanted types was found. The next steps below say what may help."


def type_name(media_type: str) -> str:
    """Return the name that people use for a media type.

    >>> type_name("text/csv; charset=utf-8"), type_name("application/x-netcdf")
    ('CSV', 'application/x-netcdf')
    """
    essence = media_type.partition(";")[0].strip().lower()
    return _SHORT_NAMES.get(essence, essence) or "not said"


def _types_table(rows: list[Row]) -> Html:
    most = max(row["files"] for row in rows)
    columns = (
        Column("Type"),
        Column("Files", numeric=True),
        Column(""),
        Column("Total size", numeric=True),
        Column("Smallest", numeric=True),
        Column("Largest", numeric=True),
    )
    cells = [
        (
            element("span", shortened(type_name(row["type"]), 60), title=shortened(row["type"])),
            counted(row["files"]),
            bar(row["files"], most),
            _size(row["bytes"]),
            _size(row["least"]),
            _size(row["most"]),
        )
        for row in rows
    ]
    return table(columns, cells, "Types of files")


def _not_wanted(connection: Connection, facts: RunFacts) -> Html | None:
    """Show what was met and not collected, so that nobody takes the list for all that the site has."""
    rows = other_types(connection, facts.settings)
    if not rows:
        return None
    columns = (Column("Type"), Column("Files", numeric=True), Column("For example", wide=True))
    cells = [
        (
            element("span", shortened(type_name(row.media_type), 60), title=shortened(row.media_type)),
            TableCell(format_count(row.files), row.files),
            web_link(row.example, facts.on_site(row.example), 90),
        )
        for row in rows[:_MAX_TYPES]
    ]
    return element(
        "div",
        element("h3", "Other types, not collected"),
        element("p", "The crawl came upon these files, too. They are not of the wanted types."),
        table(columns, cells, "Types of files that were not collected"),
    )


def _files_table(rows: list[Row], facts: RunFacts) -> Html:
    """Show the first files; the script puts the whole list in their place."""
    columns = (
        Column("File", wide=True),
        Column("Found on", wide=True),
        Column("Type"),
        Column("Size", numeric=True),
        Column("When (UTC)"),
    )
    cells = [
        (
            joined(file_link(row["file"], row["title"]), _where(row)),
            web_link(row["found_on"], facts.on_site(row["found_on"]), 70) if row["found_on"] else "",
            shortened(type_name(row["type"]), 40),
            _size(row["size_bytes"]),
            TableCell(
                element("span", format_moment(row["fetched_at"], short=True), class_="date"),
                row["fetched_at"],
            ),
        )
        for row in rows
    ]
    return table(columns, cells, "Files", style="files")


def _where(row: Row) -> Html:
    name = "" if row["file"] in row["title"] else breakable(f"{shortened(row['file'], 90)} · ")
    return element("small", name, web_link(row["url"], "on the web"))


def _file_data(rows: list[Row], facts: RunFacts) -> dict[str, object]:
    """Return the list for the script; what many rows share stands once: it is most of a long report."""
    types: dict[str, int] = {}
    pages: dict[str, int] = {"": 0}
    listed = [
        [
            _clean(row["file"]),
            shortened(row["title"], 120),
            facts.on_site(_clean(web_address(row["url"]))),
            pages.setdefault(facts.on_site(_clean(web_address(row["found_on"]))), len(pages)),
            types.setdefault(shortened(type_name(row["type"]), 40), len(types)),
            row["size_bytes"],
            format_moment(row["fetched_at"], short=True),
        ]
        for row in rows
    ]
    return {"site": web_address(facts.origin), "types": list(types), "pages": list(pages), "files": listed}


def _clean(text: str) -> str:
    return shortened(text, _MAX_ADDRESS_CHARS)


def _size(size_bytes: int) -> TableCell:
    return TableCell(format_bytes(size_bytes), size_bytes)
