"""Write rows as Parquet, by duckdb (extra ``experiments``)."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from coati.errors import WriteError
from coati.machine_errors import writing_to


def write_parquet(file: Path, columns: Mapping[str, str], rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows under columns of these SQL types; a reader sees the old file or the new one."""
    import duckdb

    types = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
    draft = file.with_name(file.name + ".new")
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        lines = Path(folder) / "rows.jsonl"
        with writing_to(Path(folder)), lines.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)
        source = f"read_json({_quoted(lines)}, format='newline_delimited', columns={{{types}}})"
        try:
            connection.execute(f"COPY (SELECT * FROM {source}) TO {_quoted(draft)} (FORMAT parquet)")  # noqa: S608
        except duckdb.IOException as error:
            draft.unlink(missing_ok=True)
            raise WriteError(f"{file}: it cannot be written ({error})") from error
    draft.replace(file)


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
