"""What the headers of a download say about it: the name that the server proposes, and types without a format.

Programs that hand out files often declare a type of their own making, so that browsers save the file instead
of showing it. Such a type says as much as ``application/octet-stream``, and the name says the rest.
"""

from __future__ import annotations

import re
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from typing import Final
from urllib.parse import unquote_to_bytes

from coati.web.media import essence

BINARY: Final = "application/octet-stream"

# The first is what Amazon's S3 declares for every file that was uploaded without a type.
_WITHOUT_FORMAT: Final = frozenset({
    "binary/octet-stream", "application/binary", "application/x-binary", "application/x-octet-stream",
    "application/octetstream", "application/octet", "application/download", "application/x-download",
    "application/force-download", "application/x-force-download", "application/x-unknown",
})  # fmt: skip

# With a letter: what follows the dot of "page 2.0" is not an extension.
_EXTENSION = re.compile(r"\.(?=[0-9]*[A-Za-z])([A-Za-z0-9]{1,8})\Z")
_OF_PAGES = frozenset({"asp", "aspx", "htm", "html", "jsp", "php", "shtml", "xht", "xhtml"})

_MAX_DISPOSITION_CHARS = 4096
_EXTENDED_VALUE = re.compile(r"\bfilename\*\s*=\s*\"?([A-Za-z0-9_.:-]+)'[^']*'([^;\"\s]+)", re.IGNORECASE)
_QUOTED_VALUE = re.compile(r'\bfilename\s*=\s*"((?:[^"\\]|\\.)*)"', re.IGNORECASE)
_PLAIN_VALUE = re.compile(r"\bfilename\s*=\s*([^;\"]+)", re.IGNORECASE)
# Other backslashes separate the folders of a path on the server's disk.
_ESCAPED_CHAR = re.compile(r'\\(["\\])')
_ESCAPED_OCTET = re.compile(r"%[0-9A-Fa-f]{2}")


def download_type(content_type: str, disposition: str = "") -> str:
    """Return the type of a download: as declared, or that of any binary file where it names no format.

    Programs that declare nothing send files as HTML. A browser saves these and shows no page, if the
    Content-Disposition says so and proposes a name that is not one of a page.

    >>> download_type("application/force-download"), download_type("text/csv; charset=utf-8")
    ('application/octet-stream', 'text/csv; charset=utf-8')
    >>> download_type("text/html", 'attachment; filename="rents.xlsx"')
    'application/octet-stream'
    """
    declared = essence(content_type)
    if declared in _WITHOUT_FORMAT or (declared == "text/html" and _is_file(disposition)):
        return BINARY
    return content_type


def _is_file(disposition: str) -> bool:
    if not disposition.lstrip().lower().startswith("attachment"):
        return False
    found = _EXTENSION.search(proposed_name(disposition))
    return found is not None and found[1].lower() not in _OF_PAGES


def proposed_name(disposition: str) -> str:
    """Return the file name in a Content-Disposition header, without folders; empty without one.

    >>> proposed_name("attachment; filename*=UTF-8''Donn%C3%A9es.csv"), proposed_name("inline")
    ('Données.csv', '')
    """
    disposition = disposition[:_MAX_DISPOSITION_CHARS]
    if found := _EXTENDED_VALUE.search(disposition):
        octets = unquote_to_bytes(found.group(2))
        charset = "latin-1" if found.group(1).lower() == "iso-8859-1" else "utf-8"
        name = octets.decode(charset, "replace")
    elif found := _QUOTED_VALUE.search(disposition):
        name = _as_meant(_ESCAPED_CHAR.sub(r"\1", found.group(1)))
    elif found := _PLAIN_VALUE.search(disposition):
        name = _as_meant(found.group(1).strip())
    else:
        return ""
    # Some servers send the path on their own disk.
    return re.split(r"[/\\]", name)[-1]


def _as_meant(name: str) -> str:
    """Undo what servers do to names beyond ASCII: raw UTF-8 read as Latin-1, URL escapes, words of mail."""
    try:
        if name.startswith("=?"):
            return str(make_header(decode_header(name)))
        octets = name.encode("latin-1")
        if _ESCAPED_OCTET.search(name):
            octets = unquote_to_bytes(octets)
        return octets.decode()
    except (UnicodeError, LookupError, HeaderParseError):
        return name
