"""The reference of the run folder names everything that a run folder has."""

import re
from pathlib import Path

from coati.runs.files_csv import COLUMNS
from coati.runs.layout import Layout
from coati.runs.skip_reasons import REASONS
from tests.runs.synthetic import Loop, Site, new_store, rows

REFERENCE = (Path(__file__).parents[2] / "docs" / "reference" / "run-folder.md").read_text(encoding="utf-8")


def test_every_table_view_and_column_is_explained(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        loop = Loop(store, Site(1, 30), "bfs", 1)
        loop.steps()
        store.finish(2000.0, "nothing left", loop.strategy)
        names = rows(store, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        columns = rows(
            store,
            "SELECT columns.name FROM sqlite_master JOIN pragma_table_info(sqlite_master.name) AS columns"
            " WHERE sqlite_master.type = 'table'",
        )
    wanted = {name for (name,) in names + columns}
    written = set(re.findall(r"`([^`]+)`", REFERENCE))
    assert wanted - written == set()
    assert set(COLUMNS) - written == set()
    files = {path.name for path in tmp_path.iterdir()}
    assert {name for name in files if f"`{name}`" not in REFERENCE and f"`{name}/" not in REFERENCE} == set()
    assert f"`warc/{Layout(tmp_path).warc.name}`" in REFERENCE


def test_every_reason_is_listed() -> None:
    assert [reason for reason in REASONS if f"`{reason}`" not in REFERENCE] == []
