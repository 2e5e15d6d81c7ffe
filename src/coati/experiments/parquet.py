"""The numbers of an experiment as Parquet, by duckdb (extra ``experiments``)."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coati.experiments.errors import missing_extra

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
    "published_state": "VARCHAR",
}


def require_duckdb() -> None:
    """Raise `MissingExtraError` where Parquet cannot be written: before the work, not after it."""
    if importlib.util.find_spec("duckdb") is None:
        raise missing_extra("duckdb", "writing Parquet")


def write_parquet(objects: Sequence[Mapping[str, Any]], file: Path) -> None:
    """Write the numbers, one row each; a reader sees the old file or the new one, never a part."""
    require_duckdb()
    import duckdb

    columns = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in _COLUMNS.items()) + "}"
    draft = file.with_name(file.name + ".new")
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        lines = Path(folder) / "objects.jsonl"
        lines.write_text("".join(json.dumps(dict(each)) + "\n" for each in objects), encoding="utf-8")
        connection.execute(
            f"COPY (SELECT * FROM read_json({_quoted(lines)}, format='newline_delimited', columns={columns}))"  # noqa: S608
            f" TO {_quoted(draft)} (FORMAT parquet)"
        )
    draft.replace(file)


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
