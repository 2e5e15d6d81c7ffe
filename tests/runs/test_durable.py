"""Files that replace older ones."""

from __future__ import annotations

import json
from pathlib import Path

from coati.runs.durable import write_json_lines


def test_lines_of_json_hold_whatever_a_text_holds(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    objects = [{"name": "caf\udce9"}, {"name": "für \U0001f99d"}]
    write_json_lines(path, objects)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == objects
    assert "für" in lines[1]
