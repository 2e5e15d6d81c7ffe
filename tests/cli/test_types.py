from __future__ import annotations

import json

from click.testing import CliRunner

from coati.cli.types import types
from coati.web.media import PRESETS, parse_types


def test_every_preset_is_listed_with_all_that_it_takes() -> None:
    listed = CliRunner().invoke(types, ["--format", "json"])
    assert listed.exit_code == 0
    rows = {row["name"]: row for row in map(json.loads, listed.stdout.splitlines())}
    assert list(rows) == list(PRESETS)
    for name, preset in PRESETS.items():
        assert rows[name]["media_types"] == sorted(preset.media_types)
        assert rows[name]["extensions"] == sorted(preset.extensions)
        assert rows[name]["everything"] is preset.everything
        assert rows[name]["meaning"]


def test_what_the_table_shows_can_be_given_back() -> None:
    table = CliRunner().invoke(types, [])
    assert table.exit_code == 0
    for line in table.stdout.splitlines():
        given = parse_types(line.partition(": ")[0].strip())
        assert given.media_types | given.extensions or given.everything or given.name == "none"
    assert "tables: CSV and spreadsheets" in table.stdout.splitlines()
    assert "  text/csv" in table.stdout.splitlines()
    assert "  .parquet" in table.stdout.splitlines()


def test_another_form_is_wrong_usage() -> None:
    assert CliRunner().invoke(types, ["--format", "xml"]).exit_code == 2
