"""The numbers of an experiment as Parquet, by duckdb (extra ``experiments``)."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coati.experiments.errors import missing_extra
from coati.runs.parquet_file import write_parquet

_COLUMNS = {
    "table": "VARCHAR",
    "site": "VARCHAR",
    "strategy": "VARCHAR",
    "variant": "VARCHAR",
    "measure": "VARCHAR",
    "kind": "VARCHAR",
    "seed": "BIGINT",
    "value": "DOUBLE",
    "state": "VARCHAR",
    "runs": "BIGINT",
    "mean": "DOUBLE",
    "sd": "DOUBLE",
    "median": "DOUBLE",
    "low": "DOUBLE",
    "high": "DOUBLE",
    "published": "DOUBLE",
    "published_high": "DOUBLE",
    "published_state": "VARCHAR",
}


def require_duckdb() -> None:
    """Raise `MissingExtraError` where Parquet cannot be written: before the work, not after it."""
    if importlib.util.find_spec("duckdb") is None:
        raise missing_extra("duckdb", "writing Parquet")


def write_numbers(objects: Sequence[Mapping[str, Any]], file: Path) -> None:
    """Write the numbers, one row each."""
    require_duckdb()
    write_parquet(file, _COLUMNS, objects)
