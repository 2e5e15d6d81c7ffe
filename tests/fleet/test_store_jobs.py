"""Harvesting into a store and watching it, as functions of the library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import coati
from coati.errors import UsageError
from tests.live.scripted import Route, Script, file, page, scripted


@pytest.fixture
def site() -> Iterator[Script]:
    routes: dict[str, Route] = {
        "/": page("/data"),
        "/data": page("/a.csv"),
        "/a.csv": file(b"a\n1\n"),
    }
    with scripted(routes) as script:
        yield script


def test_a_harvest_into_a_store_can_be_pulled_and_watched(
    site: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = tmp_path / "store"
    heard: list[str] = []
    done = coati.harvest_into_store(
        [site.start],
        store=store,
        types="data",
        strategy="bfs",
        delay=0.0,
        events="events.jsonl",
        on_event=lambda event: heard.append(event.what.value),
    )
    written = Path("events.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["what"] for line in written] == heard
    assert (done.stop, done.exit_code) == (coati.StopReason.FINISHED, 0)
    (found,) = done.sites
    assert (found.targets, Path(done.report).is_file()) == (1, True)
    assert "ended" in heard
    assert found.site in done._repr_html_()
    assert coati.pull(store, found.site, tmp_path / "pulled").files == 1

    heard.clear()
    cycle = coati.watch_store(
        store, per_cycle=5, delay="0s", on_event=lambda event: heard.append(event.what.value)
    )
    assert "ended" in heard
    assert (cycle.sites, list(cycle.results)) == (1, [found.site])
    assert cycle.changes == []
    assert "Changes on 1 of 1 sites" in cycle._repr_html_()
    assert "requests" in cycle.results[found.site]._repr_html_()
    status = coati.describe_store(store)
    assert (status.as_json()["targets"], done.as_json()["targets"]) == (1, 1)
    assert found.site in status._repr_html_()


def test_a_store_takes_files_only(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with pytest.raises(UsageError, match="files only"):
        coati.harvest_into_store(["https://a.test/"], store=store, goal=("structured-data",))
    with pytest.raises(UsageError, match="types"):
        coati.harvest_into_store(["https://a.test/"], store=store)
    assert not store.exists()


def test_a_store_in_memory_is_of_one_process(site: Script) -> None:
    with pytest.raises(UsageError, match="in memory"):
        coati.harvest_into_store([site.start], store="memory://one", cluster="local:2", types="data")
