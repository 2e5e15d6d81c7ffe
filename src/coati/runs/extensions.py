"""Which extension belongs to which media type, and which extensions say what is in a file."""

from __future__ import annotations

# These name the program that made the answer, not what is in it.
PROGRAM_EXTENSIONS = frozenset({
    "action", "ashx", "asp", "aspx", "axd", "cfm", "cgi", "dll", "do", "exe", "fcgi", "htm", "html", "jsf",
    "jsp", "jspx", "nsf", "page", "php", "php3", "php5", "phtml", "pl", "py", "rb", "shtml", "xhtml",
})  # fmt: skip

_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
EXTENSIONS = {
    "application/csv": ".csv",
    "application/dbf": ".dbf",
    "application/geo+json": ".geojson",
    "application/geopackage+sqlite3": ".gpkg",
    "application/gzip": ".gz",
    "application/json": ".json",
    "application/ld+json": ".jsonld",
    "application/msword": ".doc",
    "application/n-triples": ".nt",
    "application/pdf": ".pdf",
    "application/rdf+xml": ".rdf",
    "application/rss+xml": ".rss",
    "application/rtf": ".rtf",
    "application/vnd.apache.parquet": ".parquet",
    "application/vnd.google-earth.kml+xml": ".kml",
    "application/vnd.google-earth.kmz": ".kmz",
    "application/vnd.ms-excel": ".xls",
    "application/vnd.ms-excel.sheet.macroenabled.12": ".xlsm",
    "application/vnd.ms-powerpoint": ".ppt",
    "application/vnd.rar": ".rar",
    "application/vnd.sqlite3": ".sqlite",
    "application/x-7z-compressed": ".7z",
    "application/x-bzip2": ".bz2",
    "application/x-csv": ".csv",
    "application/x-gtar": ".tar",
    "application/x-gzip": ".gz",
    "application/x-hdf5": ".h5",
    "application/x-ndjson": ".ndjson",
    "application/x-netcdf": ".nc",
    "application/x-parquet": ".parquet",
    "application/x-pdf": ".pdf",
    "application/x-rar-compressed": ".rar",
    "application/x-sqlite3": ".sqlite",
    "application/x-tar": ".tar",
    "application/x-xz": ".xz",
    "application/x-yaml": ".yaml",
    "application/x-zip-compressed": ".zip",
    "application/xml": ".xml",
    "application/yaml": ".yaml",
    "application/zip": ".zip",
    "application/zip-compressed": ".zip",
    "application/zstd": ".zst",
    "text/comma-separated-values": ".csv",
    "text/csv": ".csv",
    "text/html": ".html",
    "text/json": ".json",
    "text/plain": ".txt",
    "text/tab-separated-values": ".tsv",
    "text/turtle": ".ttl",
    "text/x-comma-separated-values": ".csv",
    "text/x-csv": ".csv",
    "text/x-yaml": ".yaml",
    "text/xml": ".xml",
    "text/yaml": ".yaml",
    _OFFICE + "presentationml.presentation": ".pptx",
    _OFFICE + "spreadsheetml.sheet": ".xlsx",
    _OFFICE + "wordprocessingml.document": ".docx",
    _OFFICE + "wordprocessingml.template": ".dotx",
    _OPEN_DOCUMENT + "presentation": ".odp",
    _OPEN_DOCUMENT + "spreadsheet": ".ods",
    _OPEN_DOCUMENT + "text": ".odt",
}

# A server that says no more than this does not contradict any extension.
VAGUE_TYPES = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream"})

# What people call data files beyond the extensions above.
_MORE_EXTENSIONS = frozenset({
    "accdb", "arrow", "asc", "avro", "bib", "bz", "cdf", "dat", "db", "docm", "dot", "dta", "epub",
    "feather", "fits", "gml", "gpx", "grib", "grib2", "hdf", "hdf5", "htm", "jsonl", "log", "lz4", "mat",
    "md", "mdb", "mdx", "mmdb", "npy", "npz", "odb", "orc", "pot", "potx", "pps", "ppsx", "pptm", "prj",
    "px", "r", "rda", "rdata", "rds", "sas7bdat", "sav", "sbn", "sbx", "sdmx", "shp", "shx", "sps", "sql",
    "tab", "tex", "tgz", "topojson", "trig", "txz", "wkt", "xlsb", "xlt", "xltx", "xpt", "xsd", "xsl",
    "yml", "z",
})  # fmt: skip

KNOWN_EXTENSIONS = _MORE_EXTENSIONS | {extension[1:] for extension in EXTENSIONS.values()}
