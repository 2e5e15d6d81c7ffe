"""The requests and targets of each slice as Parquet, which other tools read from the store as one table.

``tables/requests/SITE/SLICE.parquet`` and ``tables/targets/SITE/SLICE.parquet``. They are made from what was
published, after it was: rows that were not published are in no table, and no row is in two.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from coati.fleet.generations import Manifest, target_object
from coati.fleet.objects import ObjectStore

_REQUESTS = """
SELECT id, url, method, kind, status, charged, new_target, size_bytes, media_type, location, reason, host,
       arm, score, reward, started_at, finished_at
FROM requests WHERE observed_event > ? AND observed_event <= ? ORDER BY observed_event
"""
_TARGETS = """
SELECT targets.request, targets.url, targets.version, targets.file, targets.size_bytes, targets.media_type,
       targets.title, targets.anchor, targets.found_on, targets.fetched_at, targets.licence, targets.sha256
FROM targets JOIN requests ON requests.id = targets.request
WHERE requests.observed_event > ? AND requests.observed_event <= ? ORDER BY requests.observed_event
"""
_NUMBERS: Final = frozenset({"id", "status", "charged", "size_bytes", "arm", "request", "version", "slice"})
_FRACTIONS: Final = frozenset({"score", "reward"})
_FLAGS: Final = frozenset({"new_target"})


def table_names(manifest: Manifest, place: str) -> dict[str, str]:
    """Return the names of the tables of the last slice that ended, by what they hold."""
    kind = "watched-" if place.startswith("watches/") else ""
    return {
        what: f"tables/{kind}{what}/{manifest.site}/{manifest.slices:06}.parquet"
        for what in ("requests", "targets")
    }


def write_tables(store: ObjectStore, place: str, manifest: Manifest, log: sqlite3.Connection) -> None:
    """Write the tables of the last slice that ended, where they are missing; ``place`` is that of the run."""
    after, until = manifest.tables
    names = table_names(manifest, place)
    # The second is written last.
    if after == until or store.exists(names["targets"]):
        return
    for what, query in (("requests", _REQUESTS), ("targets", _TARGETS)):
        cursor = log.execute(query, (after, until))
        rows = cursor.fetchall()
        columns: dict[str, Sequence[object]] = {
            "site": [manifest.site] * len(rows),
            "slice": [manifest.slices] * len(rows),
        }
        for place_of, (name, *_) in enumerate(cursor.description):
            columns[name] = [row[place_of] for row in rows]
        if what == "targets":
            columns["object"] = [target_object(str(sha256)) for sha256 in columns["sha256"]]
        store.replace(names[what], _parquet(columns))


def _parquet(columns: dict[str, Sequence[object]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {
        name: pa.array(list(map(bool, values)) if name in _FLAGS else values, _type(pa, name))
        for name, values in columns.items()
    }
    out = pa.BufferOutputStream()
    # Snappy, the default: on tables this small other codecs save nothing and take twice the time.
    pq.write_table(pa.table(arrays), out)
    content: bytes = out.getvalue().to_pybytes()
    return content


def _type(pa: Any, name: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    if name in _NUMBERS:
        return pa.int64()
    if name in _FRACTIONS:
        return pa.float64()
    return pa.bool_() if name in _FLAGS else pa.string()
