"""Which extension belongs to which media type, and which extensions say what is in a file."""

from __future__ import annotations

# A name of its own would change the code of strategies, and void their stored results.
from coati.web.likely_extensions import _BY_MEDIA_TYPE

# These name the program that made the answer, not what is in it.
PROGRAM_EXTENSIONS = frozenset({
    "action", "ashx", "asp", "aspx", "axd", "cfm", "cgi", "dll", "do", "exe", "fcgi", "htm", "html", "jsf",
    "jsp", "jspx", "nsf", "page", "php", "php3", "php5", "phtml", "pl", "py", "rb", "shtml", "xhtml",
})  # fmt: skip

EXTENSIONS = {media_type: f".{likely[0]}" for media_type, likely in _BY_MEDIA_TYPE.items()} | {
    "application/dbf": ".dbf",
    "text/html": ".html",
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
