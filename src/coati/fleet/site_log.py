"""The requests to one site, read from the tables in the store."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from coati.fleet.objects import DamagedObjectError, ObjectStore


def site_log(store: ObjectStore, site: str, last: int) -> list[dict[str, Any]]:
    """Return the last requests of a site, in order; those of a running slice are not there yet."""
    rows: list[dict[str, Any]] = []
    for table in _tables(store, site):
        rows = [*table, *rows]
        if len(rows) >= last:
            break
    return rows[-last:]


def _tables(store: ObjectStore, site: str) -> Iterator[list[dict[str, Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name in reversed(store.names(f"tables/requests/{site}")):
        table = f"tables/requests/{site}/{name}"
        content = store.read(table)
        if content is None:
            continue
        try:
            rows = pq.read_table(io.BytesIO(content)).to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise DamagedObjectError(table, f"is damaged: {error}") from None
        yield rows
