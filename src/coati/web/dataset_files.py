"""Which links lead to files of data, judged by the URL alone: what verifies a data repository.

The formats are those that the DSDD paper (CIKM 2021) names, with their relatives; its own expressions are not
published. Files that pages need for themselves (manifests, feeds, sitemaps) do not count.
"""

from __future__ import annotations

import re
from functools import lru_cache

from coati.web.urls import extension_of, path_of, query_of

_FORMATS = (
    "csv|tsv|tab|json|jsonl|geojson|topojson|xlsx?|xlsm|ods|xml|rdf|ttl|nt|shp|shx|dbf|kmz?|kml|gpkg|gml|parquet|feather"
    "|arrow|avro|sqlite3?|db|sav|dta|por|sas7bdat|rds|rdata|nc4?|cdf|hdf5?|h5|grib2?|mat|zip|gz|tgz|bz2|xz|7z|rar|tar|zst"
)
_PATH = re.compile(rf"\.(?:{_FORMATS})(?:\.(?:gz|zip|bz2|xz|zst))?\Z", re.IGNORECASE)
_TOLD = re.compile(rf"\((?:[a-z]{{1,20}}/)?({_FORMATS})\)\Z", re.IGNORECASE)
_OTHER_FILES = re.compile(
    r"\((?:(?:application|image|audio|video)/[a-z0-9.+-]{1,80}|pdf|docx?|odt|pptx?|odp|txt)\)\Z",
    re.IGNORECASE,
)
_QUERY = re.compile(
    r"(?:\A|[&;])(?:format|type|accessType|outputFormat)=(csv|json|xlsx?|xml|shapefile|geojson|DOWNLOAD)(?:\Z|[&;])",
    re.IGNORECASE,
)
# The export URLs of Socrata, CKAN and ArcGIS.
_EXPORTS = re.compile(
    r"/api/views/[a-z0-9]{4}-[a-z0-9]{4}/rows\.|/dataset/[^/]+/resource/[^/]+/download/"
    r"|/datasets/.+\.(?:csv|zip|geojson|kml)",
    re.IGNORECASE,
)
_NOT_DATA = re.compile(
    r"/(?:manifest\.json|package\.json|sitemap[^/]*\.xml(?:\.gz)?|(?:feed|rss|atom|opensearch|osd)\.xml)\Z"
    r"|/wp-json(?:/|\Z)|oembed|/opensearch[^/]*\.xml\Z",
    re.IGNORECASE,
)

# Links of a site repeat from page to page.
_REMEMBERED = 1 << 16


@lru_cache(_REMEMBERED)
def is_dataset_file(url: str) -> bool:
    """Tell whether a URL in normal form looks like a file of data.

    >>> is_dataset_file("http://a.test/rain.csv.gz"), is_dataset_file("http://a.test/sitemap.xml")
    (True, False)
    >>> is_dataset_file("http://a.test/export?format=csv"), is_dataset_file("http://a.test/csv")
    (True, False)
    """
    path = path_of(url)
    if _NOT_DATA.search(path) or _NOT_DATA.search("/" + query_of(url)):
        return False
    return bool(_PATH.search(path) or _EXPORTS.search(path) or _QUERY.search(query_of(url)))


def named_format(text: str) -> str:
    """Name the format of data that the text beside a link ends with, as lists of APIs give it; else empty.

    >>> [named_format(text) for text in ("Taxes (CSV)", "Taxes (text/csv)", "Plan (PDF)", "CSV")]
    ['csv', 'csv', '', '']
    """
    found = _TOLD.search(text)
    return found[1].lower() if found else ""


def names_format(text: str) -> bool:
    """Tell whether the text beside a link ends with any format: then the link leads to a file, not to a page.

    >>> names_format("Plan (application/pdf)"), names_format("Plan (draft)"), names_format("Page (text/html)")
    (True, False, False)
    """
    return bool(named_format(text) or _OTHER_FILES.search(text))


def file_format(url: str) -> str:
    """Name the format of a file of data, in lower case; "file" where its URL does not say.

    >>> file_format("http://a.test/rain.csv.gz"), file_format("http://a.test/export?format=JSON")
    ('csv', 'json')
    """
    found = re.search(rf"\.({_FORMATS})(?:\.(?:gz|zip|bz2|xz|zst))?\Z", path_of(url), re.IGNORECASE)
    if found is None:
        found = _QUERY.search(query_of(url))
    if found is None:
        return extension_of(url) or "file"
    return found.group(1).lower()
