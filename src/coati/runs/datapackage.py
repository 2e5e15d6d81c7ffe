"""``datapackage.json``: the files of a run as a Frictionless data package, with size, hash and sources."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from sqlite3 import Connection

from coati.runs.files_csv import COLUMNS
from coati.runs.shared_titles import SHARED_TITLES, TELLING_TITLE
from coati.web.media import essence
from coati.web.urls import host_of

_START = "SELECT url FROM requests ORDER BY id LIMIT 1"
_FILES = f"""
{SHARED_TITLES}
SELECT files.name, files.size_bytes, files.sha256, files.media_type,
       targets.url, {TELLING_TITLE}, targets.found_on, targets.licence, targets.modified
FROM targets JOIN files ON files.name = targets.file ORDER BY files.rowid, targets.request
"""  # noqa: S608 - our own text
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_NOT_IN_NAMES = re.compile(r"[^a-z0-9._-]+")
_MAX_NAME_CHARS = 80


def datapackage_lines(connection: Connection) -> Iterator[bytes]:
    """Return the parts of the file: one resource per file, and the listing of all.

    The listing also keeps the package valid where no target was found: one resource is the least.
    """
    found = connection.execute(_START).fetchone()
    start = found[0] if found else ""
    package: dict[str, object] = {"name": _slug(host_of(start)) if start else "run"}
    if start:
        package["title"] = f"Files from {start}"
        package["sources"] = [{"title": host_of(start), "path": start}]
    # Everything up to the end of the object, so that the resources need not be held in memory.
    yield json.dumps(package, ensure_ascii=False)[:-1].encode() + b', "resources": [\n'
    yield _json(_listing())
    for resource in _resources(connection):
        yield b",\n" + _json(resource)
    yield b"\n]}\n"


def _listing() -> dict[str, object]:
    fields = [{"name": name, "type": kind} for name, kind in COLUMNS.items()]
    return {
        "name": "files",
        "title": "All files with their source pages",
        "path": "files.csv",
        "profile": "tabular-data-resource",
        "type": "table",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": {"fields": fields},
    }


def _resources(connection: Connection) -> Iterator[dict[str, object]]:
    names = {"files"}
    current: dict[str, object] = {}
    sources: list[dict[str, str]] = []
    for name, size, sha256, media_type, url, title, found_on, *stated in connection.execute(_FILES):
        path = f"files/{name}"
        if current.get("path") != path:
            if current:
                yield current
            sources = []
            current = {"name": _free(_slug(name), names), "path": path}
            if title:
                current["title"] = title
            current |= {"bytes": size, "hash": f"sha256:{sha256}", "sources": sources}
            # Frictionless would otherwise read every CSV as a table and find fault with what the web holds.
            current["type"] = "file"
            if media_type:
                current["mediatype"] = essence(media_type)
            current |= _stated(*stated)
        sources.append({"title": title or url, "path": url})
        if found_on and len(sources) == 1:
            sources.append({"title": "the page that links to it", "path": found_on})
    if current:
        yield current


def _stated(licence: str | None, modified: str | None) -> dict[str, object]:
    """Return what the list that named a file says of it, in Frictionless' words."""
    stated: dict[str, object] = {}
    if licence:
        # A licence has a title or a path; which of both a list gives shows.
        word = "path" if licence.startswith(("http://", "https://")) else "title"
        stated["licenses"] = [{word: licence}]
    if modified:
        stated["modified"] = modified
    return stated


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _NOT_IN_NAMES.sub("-", plain).strip("-._")[:_MAX_NAME_CHARS] or "file"


def _free(name: str, names: set[str]) -> str:
    candidate, number = name, 1
    while candidate in names:
        number += 1
        candidate = f"{name}-{number}"
    names.add(candidate)
    return candidate


def _json(value: dict[str, object]) -> bytes:
    return _ENCODER.encode(value).encode()
