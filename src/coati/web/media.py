"""What counts as a target, by media type and extension, and what is never worth a request.

The lists are those of the crawler that was published with the EDBT 2026 paper; our own presets are beside
them.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from coati.errors import ConfigError, unknown_name
from coati.model import Kind
from coati.web.urls import extension_of, is_query, path_of

_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."

_CSV = frozenset({
    "text/csv", "text/x-csv", "text/x-comma-separated-values", "text/comma-separated-values",
    "application/csv", "application/x-csv",
})  # fmt: skip
_SHEETS = frozenset({
    "application/vnd.ms-excel", "application/vnd.ms-excel.sheet.macroenabled.12",
    _OFFICE + "spreadsheetml.sheet", _OPEN_DOCUMENT + "spreadsheet",
})  # fmt: skip
_TEXTS = frozenset({
    "application/pdf", "application/x-pdf", "application/msword",
    _OFFICE + "wordprocessingml.document", _OFFICE + "wordprocessingml.template",
    _OFFICE + "presentationml.presentation", _OPEN_DOCUMENT + "text", _OPEN_DOCUMENT + "presentation",
})  # fmt: skip
_PACKED = frozenset({
    "application/zip", "application/x-zip-compressed", "application/zip-compressed", "application/x-tar",
    "application/x-gtar", "application/x-gzip", "application/x-7z-compressed", "application/vnd.rar",
    "application/x-rar-compressed",
})  # fmt: skip
_STRUCTURED = frozenset({
    "application/xml", "application/json", "application/yaml", "application/x-yaml", "application/rdf+xml",
    "application/rss+xml", "text/json", "text/yaml", "text/x-yaml", "text/plain",
})  # fmt: skip

# The published list of 38 has gaps that its paper does not intend; these close them.
_EXTENDED = frozenset({
    "text/tab-separated-values", "application/gzip", "text/xml", "application/vnd.ms-powerpoint",
    "application/geo+json", "application/ld+json", "application/x-ndjson", "application/vnd.apache.parquet",
    "application/x-parquet", "application/x-sqlite3", "application/vnd.sqlite3", "application/x-bzip2",
    "application/x-xz", "application/zstd", "text/turtle", "application/n-triples",
    "application/geopackage+sqlite3", "application/vnd.google-earth.kml+xml",
    "application/vnd.google-earth.kmz", "application/x-netcdf", "application/x-hdf5", "application/rtf",
})  # fmt: skip

# RFC 6838's restricted names.
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+\-]*/[a-z0-9][a-z0-9!#$&^_.+\-]*\Z")

BLOCKED_MEDIA_PREFIXES = ("audio/", "video/", "image/")

BLOCKED_EXTENSIONS = frozenset(
    """
    3g2 3ga 3gp 3gp2 3gpa 3gpp 3gpp2 aac aacp adp aff aif aiff arw asf asx avi avif avifs bmp btif cgm cmx cr2
    crw dcr djv djvu dng dts dtshd dwg dxf ecelp4800 ecelp7470 ecelp9600 eol erf f4v fbs fh fh4 fh5 fh7 fhc
    flac fli flv fpx fst fvt g3 gif h261 h263 h264 heic heif icns ico ief jfi jfif jfif-tbnl jif jpe jpeg jpg
    jpgm jpgv jpm k25 kar kdc lvp m1v m2a m2v m3a m3u m4a m4b m4p m4r m4u m4v mdi mid midi mj2 mjp2 mka mkv
    mmr mov movie mp2 mp2a mp3 mp4 mp4v mpa mpe mpeg mpg mpg4 mpga mrw mxu nef npx oga ogg ogv opus orf pbm
    pct pcx pef pgm pic pjpg png pnm ppm psd ptx pya pyv qt ra raf ram ras raw rgb rlc rmi rmp rw2 rwl snd spx
    sr2 srf svg svgz tif tiff ts viv wav wax wbmp weba webm webp wm wma wmv wmx wvx x3f xbm xif xpm xwd
    """.split()  # noqa: SIM905 - 168 words are easier to compare with the published list than 168 literals
)


@dataclass(frozen=True, slots=True)
class TargetTypes:
    """Which responses are targets: by media type, or by the extension of the URL or the proposed file name.

    An extension helps where a server sends a generic type; it never turns HTML into a target.
    """

    name: str
    media_types: frozenset[str]
    extensions: frozenset[str] = frozenset()
    everything: bool = False

    def kind(self, media_type: str, url: str, file_name: str = "") -> Kind:
        """Classify a successful response; what a search engine found is a page, whatever its form.

        ``file_name`` is the one that the server proposes (`coati.web.downloads.proposed_name`).

        >>> PRESETS["data"].kind("text/csv; charset=utf-8", "http://example.org/get?id=1").value
        'target'
        >>> PRESETS["tables"].kind("application/octet-stream", "http://example.org/get", "Rents.CSV").value
        'target'
        """
        media_type = essence(media_type)
        if "html" in media_type or is_query(url):
            return Kind.PAGE
        if media_type.startswith(BLOCKED_MEDIA_PREFIXES):
            return Kind.OTHER
        wanted = (
            media_type in self.media_types
            or (self.extensions and extension_of(url) in self.extensions)
            or (self.extensions and PurePosixPath(file_name).suffix[1:].lower() in self.extensions)
            or (self.everything and media_type not in _PAGE_PARTS)
        )
        # Every site has one, for crawlers, and its type is that of a text.
        return Kind.TARGET if wanted and path_of(url) != "/robots.txt" else Kind.OTHER


# What a page is made of is not a file worth collecting, even under "all-files".
_PAGE_PARTS = frozenset({
    "text/css", "text/javascript", "text/ecmascript", "application/javascript", "application/x-javascript",
    "application/ecmascript",
})  # fmt: skip


def can_be_wanted(media_type: str) -> bool:
    """Tell whether files of a type may be worth collecting: not pages, pictures, films or fonts.

    >>> can_be_wanted("application/geo+json"), can_be_wanted("font/woff2")
    (True, False)
    """
    media_type = essence(media_type)
    never = (*BLOCKED_MEDIA_PREFIXES, "font/", "application/font", "application/x-font")
    return bool(
        _MEDIA_TYPE.match(media_type)
        and not media_type.startswith(never)
        and media_type not in _PAGE_PARTS
        and "html" not in media_type
    )


def essence(media_type: str) -> str:
    """Strip the parameters of a media type and lower its case.

    >>> essence("Text/CSV; charset=utf-8")
    'text/csv'
    """
    return media_type.partition(";")[0].strip().lower()


_DATA = _CSV | _SHEETS | _TEXTS | _PACKED | _STRUCTURED | {"application/octet-stream"}

PRESETS: dict[str, TargetTypes] = {
    preset.name: preset
    for preset in (
        TargetTypes("data", _DATA),
        TargetTypes("data-extended", _DATA | _EXTENDED),
        TargetTypes(
            "tables",
            _CSV | _SHEETS | {"text/tab-separated-values", "application/x-parquet"},
            frozenset({"csv", "tsv", "tab", "xls", "xlsx", "xlsm", "ods", "parquet"}),
        ),
        TargetTypes(
            "documents",
            _TEXTS | {"application/vnd.ms-powerpoint", "application/rtf"},
            frozenset({"pdf", "doc", "docx", "dotx", "ppt", "pptx", "odt", "odp", "rtf"}),
        ),
        TargetTypes(
            "archives",
            _PACKED | {"application/gzip", "application/x-bzip2", "application/x-xz", "application/zstd"},
            frozenset({"zip", "tar", "gz", "tgz", "bz2", "xz", "7z", "rar", "zst"}),
        ),
        TargetTypes("all-files", frozenset(), everything=True),
        # For crawls that look for pages alone.
        TargetTypes("none", frozenset()),
    )
}


PRESET_MEANINGS = {
    "data": "tables, documents, archives, JSON, XML, plain text; the list of the EDBT 2026 paper",
    "data-extended": "data, and what the paper's list lacks: GeoJSON, KML, Parquet, SQLite, gzip and others",
    "tables": "CSV and spreadsheets",
    "documents": "PDF, texts and slides",
    "archives": "ZIP and other packed files",
    "all-files": "every file except pages, audio, video, images, scripts and style sheets",
    "none": "no file, for crawls that look for pages alone",
}
"""What each preset is for, in a few words."""


def parse_types(text: str) -> TargetTypes:
    """Read a ``--types`` value: presets, media types and extensions, separated by commas.

    Raises `ConfigError` for a name that is unknown or could never match anything.

    >>> sorted(parse_types("tables,.nc,application/x-netcdf").extensions)[:3]
    ['csv', 'nc', 'ods']
    """
    names = [name for part in text.split(",") if (name := part.strip().lower())]
    if not names:
        raise ConfigError(f"no target types given; presets: {', '.join(PRESETS)}")
    media_types: set[str] = set()
    extensions: set[str] = set()
    everything = False
    for name in names:
        if name in PRESETS:
            preset = PRESETS[name]
            media_types |= preset.media_types
            extensions |= preset.extensions
            everything = everything or preset.everything
        elif name.startswith("."):
            extensions.add(_extension(name))
        elif "/" in name:
            media_types.add(_media_type(name))
        else:
            raise _unknown_type(name)
    if len(names) == 1 and names[0] in PRESETS:
        return PRESETS[names[0]]
    return TargetTypes(",".join(names), frozenset(media_types), frozenset(extensions), everything)


def _unknown_type(name: str) -> ConfigError:
    """Build the error for an unknown preset; most often it is an extension without its dot."""
    if name.isalnum() and name.isascii() and not difflib.get_close_matches(name, PRESETS):
        return ConfigError(
            f"unknown target type {name!r}; did you mean '.{name}'? An extension starts with a dot."
            f" Presets: {', '.join(sorted(PRESETS))}"
        )
    return unknown_name("target type", name, PRESETS)


def _extension(name: str) -> str:
    """Read an extension with its dot, and refuse one that no URL could bring in."""
    extension = name[1:]
    if not extension or extension_of(f"http://example.org/x.{extension}") != extension:
        raise ConfigError(
            f"{name!r} is not an extension: give what follows the last dot, such as .csv or .gz"
        )
    if extension in BLOCKED_EXTENSIONS:
        raise ConfigError(
            f"{name!r} cannot be a target: links to pictures, sound and films are never followed"
        )
    return extension


def _media_type(name: str) -> str:
    """Read a media type, and refuse one that no response could match."""
    media_type = essence(name)
    if not _MEDIA_TYPE.match(media_type):
        raise ConfigError(
            f"{name!r} is not a media type: it should look like text/csv (there are no wildcards)"
        )
    if media_type.startswith(BLOCKED_MEDIA_PREFIXES):
        raise ConfigError(f"{name!r} cannot be a target: pictures, sound and films are never collected")
    if "html" in media_type:
        raise ConfigError(f"{name!r} cannot be a target: pages are what links are found on")
    return media_type
