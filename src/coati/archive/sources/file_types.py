"""The media type that a static web server would send for a file."""

from __future__ import annotations

import mimetypes
import re

# How much of a file `media_type_of` looks at where the name says nothing.
SNIFFED_BYTES = 512

# The built-in table alone: what a machine knows beyond it would make archives differ.
_BUILT_IN = mimetypes.MimeTypes(filenames=())
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_OURS = {
    "7z": "application/x-7z-compressed",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": _OFFICE + "wordprocessingml.document",
    "geojson": "application/geo+json",
    "gpkg": "application/geopackage+sqlite3",
    "ipynb": "application/x-ipynb+json",
    "jsonl": "application/x-ndjson",
    "jsonld": "application/ld+json",
    "kml": "application/vnd.google-earth.kml+xml",
    "md": "text/markdown",
    "nc": "application/x-netcdf",
    "ndjson": "application/x-ndjson",
    "nt": "application/n-triples",
    "odp": _OPEN_DOCUMENT + "presentation",
    "ods": _OPEN_DOCUMENT + "spreadsheet",
    "odt": _OPEN_DOCUMENT + "text",
    "parquet": "application/vnd.apache.parquet",
    "pptx": _OFFICE + "presentationml.presentation",
    "rar": "application/vnd.rar",
    "rdf": "application/rdf+xml",
    "rtf": "application/rtf",
    "sqlite": "application/vnd.sqlite3",
    "tgz": "application/gzip",
    "ttl": "text/turtle",
    "woff": "font/woff",
    "woff2": "font/woff2",
    "xhtml": "application/xhtml+xml",
    "xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
    "xlsx": _OFFICE + "spreadsheetml.sheet",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "zst": "application/zstd",
}
_PACKED = {
    "gzip": "application/gzip",
    "bzip2": "application/x-bzip2",
    "xz": "application/x-xz",
    "compress": "application/x-compress",
    "br": "application/x-brotli",
}
_HTML = re.compile(rb"\s*<(?:!doctype html|html|head|body)\b", re.IGNORECASE)


def media_type_of(name: str, head: bytes) -> str:
    """Guess by the name, and by the first bytes where that says nothing.

    >>> media_type_of("table.csv.gz", b""), media_type_of("LICENCE", b"You may ...")
    ('application/gzip', 'text/plain')
    """
    extension = name.rpartition(".")[2].lower()
    if extension in _OURS:
        return _OURS[extension]
    guessed, packing = _BUILT_IN.guess_type(name)
    if packing is not None:
        return _PACKED.get(packing, "application/octet-stream")
    if guessed is not None:
        return guessed
    if _HTML.match(head):
        return "text/html"
    return "application/octet-stream" if b"\0" in head else "text/plain"
