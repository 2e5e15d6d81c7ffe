"""What the sample site has to give: its data sets and publications with their real files."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from coati.testing.office_files import (
    SheetTable,
    write_csv,
    write_json,
    write_ods,
    write_pdf,
    write_xlsx,
    write_zip,
)
from coati.testing.sample_region import FIRST_YEAR, LAST_YEAR, TOPICS, OfficeTopic, figures, prose, slug_of

MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "json": "application/json",
    "zip": "application/zip",
    "pdf": "application/pdf",
}

# Of the files, those behind a number instead of a name; of the reports, those with a table beside the text.
_NUMBERED = 0.3
_WITH_ANNEX = 0.4

# Of the reports, those that can be downloaded: by age in years.
_ONLINE = (0.75, 0.6, 0.45, 0.3)


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file and the path under which it is linked; one without an extension says its name in a header."""

    path: str
    name: str
    body: bytes

    @property
    def extension(self) -> str:
        """The format, as its extension."""
        return self.name.rpartition(".")[2]

    @property
    def media_type(self) -> str:
        """What the server says it is."""
        return MEDIA_TYPES[self.extension]


@dataclass(frozen=True, slots=True)
class Dataset:
    """An entry of the data catalogue; some have nothing to download."""

    topic: OfficeTopic
    title: str
    unit: str
    table: SheetTable
    files: tuple[DataFile, ...]

    @property
    def slug(self) -> str:
        """The entry's part of the path."""
        return slug_of(f"{self.topic.slug} {self.title}")

    @property
    def path(self) -> str:
        """The entry's page."""
        return f"/data/{self.slug}"


@dataclass(frozen=True, slots=True)
class Publication:
    """A report; older ones are only announced."""

    title: str
    year: int
    unit: str
    files: tuple[DataFile, ...]

    @property
    def path(self) -> str:
        """The report's page."""
        return f"/publications/{self.year}/{slug_of(self.title)}"


def make_datasets(rng: Random) -> list[Dataset]:
    """Make the entries of the catalogue; some have no files, others up to three."""
    datasets = []
    for topic in TOPICS:
        for title, unit in topic.datasets:
            table = figures(rng, title, unit)
            name = slug_of(f"{topic.slug} {title}")
            formats = rng.sample(["csv", "xlsx", "ods", "json", "zip"], rng.choice([0, 0, 1, 2, 2, 3]))
            files = tuple(
                _published(f"{name}.{extension}", _write(table, name, extension), "/data/files", rng)
                for extension in formats
            )
            datasets.append(Dataset(topic, title, unit, table, files))
    return datasets


def make_publications(rng: Random) -> list[Publication]:
    """Make six reports a year; most of the later ones are there to download, some with a table."""
    publications = []
    for year in range(LAST_YEAR - 3, LAST_YEAR + 1):
        for topic in rng.sample(TOPICS, 6):
            title, unit = rng.choice(topic.datasets)
            heading = f"{topic.title} {year}: {title.lower()}"
            table = figures(rng, title, unit)
            name = slug_of(f"{topic.slug} report {year}")
            files: list[DataFile] = []
            if rng.random() < _ONLINE[LAST_YEAR - year]:
                summary = [text.partition(". ")[0] + "." for text in prose(rng, unit, 3)]
                report = write_pdf(_recent(table), tuple(summary))
                files.append(_published(f"{name}.pdf", report, "/publications/pdf", rng))
                if rng.random() < _WITH_ANNEX:
                    annex = f"{name}-annex.xlsx"
                    files.append(_published(annex, write_xlsx(table), "/publications/tables", rng))
            publications.append(Publication(heading, year, unit, tuple(files)))
    return publications


def make_bulletin(rng: Random, year: int, number: int) -> DataFile:
    """Make a bulletin of the old website."""
    topic = rng.choice(TOPICS)
    title, unit = rng.choice(topic.datasets)
    body = write_pdf(_recent(figures(rng, title, unit)), (f"Bulletin {number} of {year}",))
    return DataFile(f"/archive/{year}/bull{number:02}.pdf", f"bull{number:02}.pdf", body)


def _published(name: str, body: bytes, folder: str, rng: Random) -> DataFile:
    """Return a file its address."""
    if rng.random() < _NUMBERED:
        return DataFile(f"/download/{rng.randrange(1000, 100_000)}", name, body)
    return DataFile(f"{folder}/{name}", name, body)


def _write(table: SheetTable, name: str, extension: str) -> bytes:
    if extension == "zip":
        years = f"{FIRST_YEAR} to {LAST_YEAR}"
        readme = f"{table.title}, {years}. Made-up figures; use them as you like.\n"
        return write_zip({f"{name}.csv": write_csv(table), "readme.txt": readme.encode()})
    writers = {"csv": write_csv, "xlsx": write_xlsx, "ods": write_ods, "json": write_json}
    return writers[extension](table)


def _recent(table: SheetTable) -> SheetTable:
    """Keep the last three years, which fit on a page."""
    rows = tuple(row for row in table.rows if isinstance(row[1], int) and row[1] > LAST_YEAR - 3)
    return SheetTable(table.title, table.columns, rows)
