"""A run goes to the store and comes back: whole, at any moment, and continued elsewhere."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from coati.errors import ConfigError
from coati.fleet.downloading import download_for_crawl, download_run
from coati.fleet.generations import Chain, ChainBrokenError, Manifest, RunState
from coati.fleet.objects import DamagedObjectError, ObjectStore, StoreError
from coati.fleet.publishing import Publisher, StoredRun
from coati.runs.reader import RunReader
from coati.runs.store import RunStore
from tests.runs.synthetic import Loop, Site, abandon, check_files, dump, new_store

SITE = Site(seed=3, size=120)
STRATEGY = "sb-classifier"
NOTHING = Manifest("a.org", 0, 0, "", 0.0)


def chain(store: ObjectStore) -> Chain:
    return Chain(store, "sites/a.org")


def publisher(store: ObjectStore, folder: Path, base: StoredRun | None = None, token: int = 1) -> Publisher:
    scratch = folder.with_name(folder.name + ".scratch")
    scratch.mkdir()
    made = Publisher(chain(store), folder, scratch, base or StoredRun(NOTHING, [], set()))
    made.claim(token, f"worker {token}", 5.0)
    return made


def publish_within(publishing: Publisher) -> Manifest:
    with RunReader(publishing.copy()) as run:
        return publishing.publish(run, publishing.manifest, ended=False)


def publish_at_end(publishing: Publisher, folder: Path, requests: int = 0) -> Manifest:
    news = replace(
        publishing.manifest, state=RunState(requests=requests), slices=publishing.manifest.slices + 1
    )
    with RunReader(folder) as run:
        return publishing.publish(run, news, ended=True)


def taken(store: ObjectStore, folder: Path) -> StoredRun:
    folder.mkdir()
    newest = chain(store).newest()
    assert newest is not None
    return download_for_crawl(chain(store), newest, folder)


def content(folder: Path) -> dict[str, bytes]:
    """Return everything in a run folder but what is only ours."""
    files = [
        path for path in folder.rglob("*") if path.is_file() and path.name not in {"lock", "report.html"}
    ]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_run_comes_back_byte_for_byte(store: ObjectStore, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with new_store(folder) as run:
        loop = Loop(run, SITE, STRATEGY, width=1)
        publishing = publisher(store, folder)
        for _ in range(3):
            loop.steps(20)
            publish_within(publishing)
        loop.steps(30)
        run.finish(2000.0, "nothing left", loop.strategy, loop.form)
    published = publish_at_end(publishing, folder, requests=90)
    assert (published.slices, published.state.requests) == (1, 90)
    download_run(store, "sites/a.org", tmp_path / "pulled")
    assert content(tmp_path / "pulled") == content(folder)
    assert (tmp_path / "pulled" / "report.html").is_file()


def test_slices_on_several_machines_make_the_run_that_one_would_have_made(
    memory: ObjectStore, tmp_path: Path
) -> None:
    with new_store(tmp_path / "whole") as run:
        Loop(run, SITE, STRATEGY, width=1).steps()
        expected = dump(run)
    base: StoredRun | None = None
    for number in range(1, 100):
        folder = tmp_path / f"machine-{number}"
        if number > 1:
            base = taken(memory, folder)
        publishing = publisher(memory, folder, base, token=number)
        with RunStore.open(folder, 1000.0) if base else new_store(folder) as run:
            loop = Loop(run, SITE, STRATEGY, width=1)
            steps = loop.steps(17)
            assert not run.messages
            run.finish(2000.0, "slice", loop.strategy, loop.form)
        publish_at_end(publishing, folder)
        if steps < 17:
            break
    download_run(memory, "sites/a.org", tmp_path / "pulled")
    with RunStore.open(tmp_path / "pulled", 3000.0) as run:
        assert dump(run) == expected
        assert check_files(run) > 10
    # Old generations and what only they needed is gone; later ones take little room beside the first.
    assert len(memory.names("sites/a.org/generations")) == 3
    newest = chain(memory).newest()
    assert newest is not None
    assert len(memory.names("sites/a.org/parts")) < 3 * len(list(newest.parts()))


def test_after_a_kill_a_run_continues_from_what_was_published(memory: ObjectStore, tmp_path: Path) -> None:
    with new_store(tmp_path / "whole") as run:
        Loop(run, SITE, STRATEGY, width=1).steps()
        expected = dump(run)
    run = new_store(tmp_path / "killed")
    loop = Loop(run, SITE, STRATEGY, width=1)
    publishing = publisher(memory, tmp_path / "killed")
    loop.steps(25)
    publish_within(publishing)
    loop.steps(10)
    abandon(run)
    base = taken(memory, tmp_path / "next")
    with RunStore.open(tmp_path / "next", 1000.0) as run:
        assert run.totals.requests == 25
        Loop(run, SITE, STRATEGY, width=1).steps()
        told = dump(run)
    assert told == expected
    publish_at_end(publisher(memory, tmp_path / "next", base, token=2), tmp_path / "next")
    download_run(memory, "sites/a.org", tmp_path / "pulled")
    with RunStore.open(tmp_path / "pulled", 3000.0) as run:
        assert not run.messages
        check_files(run)
    with sqlite3.connect(tmp_path / "pulled" / "run.sqlite") as database:
        (pages,) = database.execute("SELECT count(*) FROM pages WHERE warc_offset IS NULL").fetchone()
    database.close()
    assert pages == 0


def test_who_was_thought_dead_cannot_publish(memory: ObjectStore, tmp_path: Path) -> None:
    with new_store(tmp_path / "first") as run:
        loop = Loop(run, SITE, STRATEGY, width=1)
        first = publisher(memory, tmp_path / "first", token=1)
        loop.steps(5)
        publish_within(first)
        base = taken(memory, tmp_path / "second")
        second = publisher(memory, tmp_path / "second", base, token=2)
        loop.steps(5)
        with pytest.raises(ChainBrokenError):
            publish_within(first)
        newest = chain(memory).newest()
        assert newest == second.manifest


def test_a_reader_never_sees_a_part_of_a_generation(
    memory: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_store(tmp_path / "run") as run:
        loop = Loop(run, SITE, STRATEGY, width=1)
        publishing = publisher(memory, tmp_path / "run")
        loop.steps(20)
        whole = publish_within(publishing)
        loop.steps(20)
        written = memory.replace
        left = 0

        def fail_at_some_moment(name: str, data: bytes) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise StoreError("away")
            written(name, data)

        monkeypatch.setattr(memory, "replace", fail_at_some_moment)
        for moment in range(100):
            left = moment
            try:
                publish_within(publishing)
            except StoreError:
                assert chain(memory).newest() == whole
                download_run(memory, "sites/a.org", tmp_path / f"pulled-{moment}")
            else:
                break
        assert moment > 3
    newest = chain(memory).newest()
    assert newest is not None
    assert newest.generation == whole.generation + 1


def test_damage_in_the_store_is_told(memory: ObjectStore, tmp_path: Path) -> None:
    with new_store(tmp_path / "run") as run:
        Loop(run, SITE, STRATEGY, width=1).steps(20)
        manifest = publish_within(publisher(memory, tmp_path / "run"))
    memory.replace(manifest.database[0].name, b"other bytes")
    with pytest.raises(DamagedObjectError, match="missing or damaged"):
        download_run(memory, "sites/a.org", tmp_path / "pulled")
    generation = f"sites/a.org/generations/{manifest.generation:012}"
    for content in (b"[]", b"{}", manifest.to_bytes().replace(b'"warc"', b'"other"')):
        memory.replace(generation, content)
        with pytest.raises(DamagedObjectError, match=f"{generation} in the store is damaged"):
            chain(memory).newest()


def test_a_pull_that_was_cut_off_is_made_again(memory: ObjectStore, tmp_path: Path) -> None:
    with new_store(tmp_path / "run") as run:
        Loop(run, SITE, STRATEGY, width=1).steps(20)
        manifest = publish_within(publisher(memory, tmp_path / "run"))
    part = manifest.database[0].name
    whole = memory.read(part)
    assert whole is not None
    memory.replace(part, b"other bytes")
    pulled = tmp_path / "pulled"
    with pytest.raises(DamagedObjectError, match="missing or damaged"):
        download_run(memory, "sites/a.org", pulled)
    memory.replace(part, whole)
    assert download_run(memory, "sites/a.org", pulled) == manifest
    with pytest.raises(ConfigError, match="holds something already"):
        download_run(memory, "sites/a.org", pulled)


def test_what_cannot_be_pulled_is_refused(memory: ObjectStore, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"holds no run of b\.org"):
        download_run(memory, "sites/b.org", tmp_path / "pulled")
    with new_store(tmp_path / "run") as run:
        Loop(run, SITE, STRATEGY, width=1).steps(5)
        publish_within(publisher(memory, tmp_path / "run"))
    with pytest.raises(ConfigError, match="holds something already"):
        download_run(memory, "sites/a.org", tmp_path / "run")
