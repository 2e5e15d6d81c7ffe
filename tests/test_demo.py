"""The demo runs, also where it ran before."""

import re
from pathlib import Path

import pytest

from coati.runs.store import RunStore
from coati.testing.demo import main


def test_the_demo_runs_where_it_ran_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    RunStore.create(tmp_path / "demo" / "default", {"url": "http://127.0.0.1:1/"}, now=0.0).close()
    assert main(tmp_path / "demo") == 0
    said = capsys.readouterr().out
    rows = re.findall(r"^(Coati's default|breadth-first) +(\d+) +(\d+) % +(\d+) +(\d+)", said, re.MULTILINE)
    assert [row[0] for row in rows] == ["Coati's default", "breadth-first"]
    found = {int(row[3]) for row in rows}
    assert len(found) == 1
    assert min(found) > 20
    assert "Coati fetched all of this small site" in said
    report = re.search(r"The report: +(.+)", said)
    assert report is not None
    assert Path(report.group(1)).is_file()
