"""What happens in a crawl is appended to files as it happens, whatever the screen shows."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from coati.stop_reasons import StopReason
from tests.cli.commands import Coati, coati
from tests.live.scripted import Script, file, page, scripted

__all__ = ["coati"]

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \S")


@pytest.fixture
def site() -> Iterator[Script]:
    with scripted({"/": page("/a.csv", "/missing"), "/a.csv": file(b"a,b\n")}) as server:
        yield server


def lines(path: Path) -> list[str]:
    found = path.read_text(encoding="utf-8").splitlines()
    assert all(map(LINE.match, found))
    return [line.partition(" ")[2] for line in found]


def test_a_log_says_what_began_what_came_and_how_it_ended(coati: Coati, site: Script, tmp_path: Path) -> None:
    options = ("--delay", "0", "--strategy", "bfs", "--quiet", "--log-file", "log.txt")
    assert coati("crawl", site.start, "--out", "run", "--max-requests", 2, *options).code == 0
    said = lines(tmp_path / "log.txt")
    assert said[0].startswith("coati ")
    assert said[0].endswith(f"{site.start} into {tmp_path / 'run'}")
    assert f"target, 200, 4 B: {site.base}/a.csv" in said
    assert said[-1] == f"ended: {StopReason.BUDGET_REQUESTS.value}; 2 requests, 1 target"
    # A resumed run appends, without being told where.
    assert coati("crawl", "run", "--max-requests", "none").code == 0
    again = lines(tmp_path / "log.txt")
    assert again[: len(said)] == said
    assert again[-1] == f"ended: {StopReason.FINISHED.value}; 3 requests, 1 target"


def test_a_harvest_a_watch_and_a_list_are_logged(coati: Coati, site: Script, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(site.start, encoding="utf-8")
    options = ("--delay", "0", "--log-file", "log.txt")
    assert coati("harvest", "list.txt", "--types", "data", "--out", "all", *options).code == 0
    said = lines(tmp_path / "log.txt")
    assert said[0].endswith(f"1 site into {tmp_path / 'all'}")
    assert f"target, 200, 4 B: {site.base}/a.csv" in said
    assert said[-1].startswith("127.0.0.1: ended: ")
    (run,) = (tmp_path / "all" / "sites").iterdir()
    assert coati("watch", run, "--once", *options).code == 0
    assert lines(tmp_path / "log.txt")[len(said)].endswith(f"a cycle in {run.with_name(run.name + '.watch')}")


@pytest.mark.parametrize("option", ["--log-file", "--events"])
def test_a_file_that_cannot_be_written_is_told_before_anything_is_asked(
    coati: Coati, site: Script, option: str
) -> None:
    said = coati("crawl", site.start, "--out", "run", option, "missing/folder/file")
    assert (said.code, "cannot be written: No such file or directory" in said.err) == (2, True)
    assert site.asked == []


def test_a_search_writes_its_events_too(coati: Coati, tmp_path: Path) -> None:
    with scripted({"*": lambda asked: asked.answer(500)}) as engine:
        coati(
            *(
                "discover",
                "wheat",
                "--search",
                f"searxng={engine.base}",
                "--delay",
                "0",
                "--limits",
                "retries=0",
            ),
            *("--max-requests", 2, "--events", "events.jsonl", "--log-file", "log.txt", "--out", "found"),
        )
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert "chosen" in {event["what"] for event in events}
    assert lines(tmp_path / "log.txt")[0].endswith(f"wheat into {tmp_path / 'found'}")
