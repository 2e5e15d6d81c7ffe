"""Readable names for target files that are safe on every file system, whatever a server proposes.

A name comes from the server's Content-Disposition, else from the URL, else it is "file"; an extension that
is missing comes from the media type. What a name may hold is decided by what is allowed: letters, digits and
a few signs. So there is no separator, no control or direction character, no leading dot or hyphen, no
device name of Windows, and never two dots in a row (which Frictionless forbids in a path). Where files are
kept in the site's folders, the same holds for each folder.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote_to_bytes

from coati.runs.extensions import EXTENSIONS, KNOWN_EXTENSIONS, PROGRAM_EXTENSIONS, VAGUE_TYPES
from coati.web.downloads import proposed_name
from coati.web.media import essence
from coati.web.urls import host_of, path_of

# In UTF-8, a number against clashes not included. File systems take 255 bytes, encrypted ones 143.
MAX_NAME_BYTES = 120
_MAX_EXTENSION_CHARS = 12
# Folders are cut more: Windows takes 260 characters for a whole path.
_MAX_FOLDER_BYTES = 40
_MAX_FOLDERS = 6

_SIGNS = frozenset("._,()+@=[]{}~!$&'-")
_DOTS = re.compile(r"\.{2,}")
_RUNS = re.compile(r"_{2,}")
_EDGES = " ._-~=+@$&!',"
# A letter is required, so that the year in "budget.2020" is not taken for an extension.
_EXTENSION = re.compile(
    rf"(?:\.tar)?\.(?=[0-9_-]*[A-Za-z])([A-Za-z0-9][A-Za-z0-9_-]{{0,{_MAX_EXTENSION_CHARS - 1}}})\Z"
)
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])\Z", re.IGNORECASE)


def file_name(url: str, media_type: str, disposition: str = "") -> str:
    """Name the file at ``url``; ``disposition`` is the Content-Disposition header.

    >>> file_name("http://example.org/get?id=7", "text/csv", 'attachment; filename="Données 2020.csv"')
    'Données_2020.csv'
    >>> file_name("http://example.org/export.php", "application/vnd.ms-excel")
    'export.xls'
    >>> file_name("http://example.org/a/..%2F..%2Fetc/passwd", "text/plain")
    'passwd.txt'
    """
    media_type = essence(media_type)
    by_type = EXTENSIONS.get(media_type, "")
    stem, extension = _split(_safe(proposed_name(disposition)))
    if not stem:
        stem, extension = _split(_safe(_last_segment(url)) or _safe(host_of(url)) or "file")
        if extension[1:].lower() in PROGRAM_EXTENSIONS and by_type:
            extension = ""
    if extension and by_type and media_type not in VAGUE_TYPES:
        last = extension.rpartition(".")[2].lower()
        if last not in KNOWN_EXTENSIONS:
            stem, extension = stem + extension, ""
    return _bounded(stem, extension or by_type)


def folder_name(url: str) -> str:
    """Name the folder of ``url`` after its host and the folders of its path.

    >>> folder_name("http://example.org/data/2020/table.csv?x=1")
    'example.org/data/2020'
    >>> folder_name("http://example.org/../CON/a%2Fb/table.csv")
    'example.org/_CON/a_b'
    """
    parts = [host_of(url), *path_of(url).split("/")[:-1]]
    safe = (_safe(unquote_to_bytes(part).decode("utf-8", "replace")) for part in parts)
    kept = [
        _device_free(part.encode()[:_MAX_FOLDER_BYTES].decode("utf-8", "ignore")) for part in safe if part
    ]
    return "/".join(part.rstrip(_EDGES) or "folder" for part in kept[:_MAX_FOLDERS])


def numbered(name: str, number: int) -> str:
    """Return the variant of a name that is tried when the name itself is taken.

    >>> numbered("table.csv", 2)
    'table-2.csv'
    """
    stem, extension = _split(name)
    return f"{stem}-{number}{extension}"


def name_key(name: str) -> str:
    """Return what is equal for two names that some file system takes for the same.

    >>> name_key("Étude.CSV") == name_key("étude.csv")
    True
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFKC", folded)


def _last_segment(url: str) -> str:
    segments = [segment for segment in path_of(url).split("/") if segment]
    if not segments:
        return ""
    name = unquote_to_bytes(segments[-1]).decode("utf-8", "replace")
    return re.split(r"[/\\]", name)[-1]


def _safe(name: str) -> str:
    # The slice bounds the work; the name is bounded for good after its extension is known.
    name = unicodedata.normalize("NFC", name[:1024])
    name = "".join(char if _is_wanted(char) else "_" for char in name)
    name = _RUNS.sub("_", _DOTS.sub(".", name))
    while name and (name[0] in _EDGES or _is_mark(name[0])):
        name = name[1:]
    return name.rstrip(_EDGES)


def _is_wanted(char: str) -> bool:
    return char.isalnum() or char in _SIGNS or _is_mark(char)


def _is_mark(char: str) -> bool:
    # Vowel signs and accents: without them names in many scripts would fall apart.
    return char > "\x7f" and unicodedata.category(char)[0] == "M"


def _split(name: str) -> tuple[str, str]:
    found = _EXTENSION.search(name)
    if found is None or found.start() == 0:
        return name, ""
    return name[: found.start()], name[found.start() :]


def _bounded(stem: str, extension: str) -> str:
    room = MAX_NAME_BYTES - len(extension.encode())
    stem = stem.encode()[:room].decode("utf-8", "ignore").rstrip(_EDGES) or "file"
    return _device_free(stem) + extension


def _device_free(name: str) -> str:
    # Windows looks at what stands before the first dot only.
    return f"_{name}" if _DEVICE.match(name.partition(".")[0]) else name
