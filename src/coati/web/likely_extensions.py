"""What the URLs of wanted files probably end with: a guess before anything is fetched, and no decision.

Only its server says what a file is. But a user who wants spreadsheets would try ``.xlsx`` before ``.pdf``,
and so may a strategy. The table is ours, since those of operating systems differ from machine to machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coati.web.media import TargetTypes

# What files of data and documents end with, where the user's definition of a target leaves it open.
DATA_EXTENSIONS = frozenset({
    "csv", "tsv", "tab", "txt", "xls", "xlsx", "xlsm", "xlsb", "ods", "odt", "odp", "odg", "doc", "docx",
    "ppt", "pptx", "pps", "ppsx", "rtf", "pdf", "ps", "epub", "zip", "gz", "tgz", "bz2", "xz", "tar", "7z",
    "rar", "zst", "json", "jsonl", "ndjson", "jsonld", "geojson", "topojson", "xml", "rdf", "ttl", "nt",
    "owl", "n3", "yaml", "yml", "parquet", "feather", "arrow", "avro", "sqlite", "db", "gpkg", "shp", "kml",
    "kmz", "gml", "nc", "hdf", "h5", "hdf5", "mat", "rds", "rdata", "sav", "dta", "por", "sas7bdat", "ipynb",
    "bib", "sql", "dbf", "mdb", "accdb", "px", "sdmx", "xsd", "dat", "sxw", "sxc", "sxi", "sxd", "wpd", "wps",
    "wks", "wk1",
})  # fmt: skip

# What URLs of pages end with; the empty one is a directory's or a plain name's.
PAGE_EXTENSIONS = frozenset({"", "html", "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "do", "cfm"})

# A server that has no name for a file's type sends this one, so that it may be any file.
_ANY_FILE = "application/octet-stream"

_CSV = ("csv",)
_YAML = ("yaml", "yml")
_ZIP = ("zip",)
_GZIP = ("gz", "tgz")
_RAR = ("rar",)
_SQLITE = ("sqlite", "db")
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_BY_MEDIA_TYPE: dict[str, tuple[str, ...]] = {
    "application/csv": _CSV,
    "application/epub+zip": ("epub",),
    "application/geo+json": ("geojson",),
    "application/geopackage+sqlite3": ("gpkg",),
    "application/gml+xml": ("gml",),
    "application/gzip": _GZIP,
    "application/json": ("json", "geojson", "topojson", "ipynb"),
    "application/ld+json": ("jsonld",),
    "application/msword": ("doc",),
    "application/n-triples": ("nt",),
    "application/pdf": ("pdf",),
    "application/postscript": ("ps",),
    "application/rdf+xml": ("rdf", "owl"),
    "application/rss+xml": ("rss", "xml"),
    "application/rtf": ("rtf",),
    "application/sql": ("sql",),
    "application/vnd.apache.arrow.file": ("arrow", "feather"),
    "application/vnd.apache.parquet": ("parquet",),
    "application/vnd.google-earth.kml+xml": ("kml",),
    "application/vnd.google-earth.kmz": ("kmz",),
    "application/vnd.lotus-1-2-3": ("wk1", "wks"),
    "application/vnd.ms-excel": ("xls",),
    "application/vnd.ms-excel.sheet.binary.macroenabled.12": ("xlsb",),
    "application/vnd.ms-excel.sheet.macroenabled.12": ("xlsm",),
    "application/vnd.ms-powerpoint": ("ppt", "pps"),
    "application/vnd.ms-works": ("wps", "wks"),
    "application/vnd.rar": _RAR,
    "application/vnd.sqlite3": _SQLITE,
    "application/vnd.sun.xml.calc": ("sxc",),
    "application/vnd.sun.xml.draw": ("sxd",),
    "application/vnd.sun.xml.impress": ("sxi",),
    "application/vnd.sun.xml.writer": ("sxw",),
    "application/vnd.wordperfect": ("wpd",),
    "application/x-7z-compressed": ("7z",),
    "application/x-bzip2": ("bz2",),
    "application/x-csv": _CSV,
    "application/x-gtar": ("tar", "tgz"),
    "application/x-gzip": _GZIP,
    "application/x-hdf": ("hdf", "h5"),
    "application/x-hdf5": ("h5", "hdf5", "hdf"),
    "application/x-ipynb+json": ("ipynb",),
    "application/x-ndjson": ("ndjson", "jsonl"),
    "application/x-netcdf": ("nc",),
    "application/x-parquet": ("parquet",),
    "application/x-pdf": ("pdf",),
    "application/x-rar-compressed": _RAR,
    "application/x-sqlite3": _SQLITE,
    "application/x-tar": ("tar",),
    "application/x-xz": ("xz",),
    "application/x-yaml": _YAML,
    "application/x-zip-compressed": _ZIP,
    "application/xml": ("xml",),
    "application/yaml": _YAML,
    "application/zip": _ZIP,
    "application/zip-compressed": _ZIP,
    "application/zstd": ("zst",),
    "text/comma-separated-values": _CSV,
    "text/csv": _CSV,
    "text/json": ("json",),
    "text/plain": ("txt", "csv", "tsv", "tab", "dat", "bib"),
    "text/rtf": ("rtf",),
    "text/tab-separated-values": ("tsv", "tab"),
    "text/turtle": ("ttl",),
    "text/x-comma-separated-values": _CSV,
    "text/x-csv": _CSV,
    "text/x-yaml": _YAML,
    "text/xml": ("xml",),
    "text/yaml": _YAML,
    _OFFICE + "presentationml.presentation": ("pptx",),
    _OFFICE + "presentationml.slideshow": ("ppsx",),
    _OFFICE + "spreadsheetml.sheet": ("xlsx",),
    _OFFICE + "wordprocessingml.document": ("docx",),
    _OFFICE + "wordprocessingml.template": ("dotx",),
    _OPEN_DOCUMENT + "graphics": ("odg",),
    _OPEN_DOCUMENT + "presentation": ("odp",),
    _OPEN_DOCUMENT + "spreadsheet": ("ods",),
    _OPEN_DOCUMENT + "text": ("odt",),
}


def likely_extensions(types: TargetTypes) -> tuple[str, ...]:
    """Return what URLs of such targets probably end with, without dots and in the order of the alphabet.

    >>> from coati.web.media import parse_types
    >>> likely_extensions(parse_types("text/csv,.nc"))
    ('csv', 'nc')
    """
    if types.everything or _ANY_FILE in types.media_types:
        return tuple(sorted(types.extensions | DATA_EXTENSIONS))
    found = set(types.extensions)
    for media_type in types.media_types:
        found.update(_BY_MEDIA_TYPE.get(media_type, ()))
    return tuple(sorted(found))
