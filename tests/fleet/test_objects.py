from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coati.errors import ConfigError
from coati.fleet.objects import ObjectStore, StoreError, open_store
from coati.fleet.store_retries import StoreRetries


def test_an_object_is_made_once(store: ObjectStore) -> None:
    assert store.create("a/b", b"one")
    assert not store.create("a/b", b"two")
    assert store.read("a/b") == b"one"
    # The answer to the first attempt may have got lost: the same content again is no other object.
    assert store.create("a/b", b"one")


def test_of_several_one_makes_it(store: ObjectStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: store.create("x", str(number).encode()), range(8)))
    assert sum(made) == 1
    assert store.read("x") == str(made.index(True)).encode()


def test_objects_are_found_replaced_and_removed(store: ObjectStore, tmp_path: Path) -> None:
    assert (store.read("no"), store.names("no"), store.exists("no")) == (None, [], False)
    store.replace("f/2", b"x")
    store.replace("f/1", b"y")
    store.replace("f/2", b"z")
    assert (store.names("f"), store.read("f/2")) == (["1", "2"], b"z")
    file = tmp_path / "file"
    store.get_file("f/2", file)
    store.put_file("g", file)
    assert store.read("g") == b"z"
    store.delete("f/1")
    store.delete("f/1")
    assert store.names("f") == ["2"]
    with pytest.raises(StoreError, match="failed at no"):
        store.get_file("no", file)


def test_a_file_that_finds_no_room_in_a_folder_is_a_failure_of_the_store(tmp_path: Path) -> None:
    store = open_store((tmp_path / "store").as_uri())
    store.replace("targets", b"in the way")
    file = tmp_path / "file"
    file.write_bytes(b"x")
    with pytest.raises(StoreError, match="failed at targets/a"):
        store.put_file("targets/a", file)


def test_a_good_store_passes(store: ObjectStore) -> None:
    store.check()
    assert store.names("checks") == []


def test_one_without_conditional_writes_is_refused(
    memory: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "create", lambda _name, _content: True)
    with pytest.raises(ConfigError, match="knows no conditional writes"):
        memory.check()


def test_one_without_rights_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(ConfigError, match=r"does not let us at checks/.*: Permission denied"):
        ObjectStore(str(tmp_path / "store")).check()


def test_a_store_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="Does the store exist"):
        ObjectStore(str(tmp_path / "file")).check()


def test_a_bucket_that_is_not_there_is_refused(s3_url: str) -> None:
    assert s3_url
    with pytest.raises(ConfigError, match="Does the store exist"):
        ObjectStore("s3://no-such-bucket/x").check()


@pytest.mark.parametrize("url", ["nonsense://x", "gs://bucket"])
def test_an_address_that_nobody_serves_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot be used|needs gcsfs"):
        ObjectStore(url)


class Failing:
    """Work that succeeds at the last of several attempts, and time that goes by while one waits."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.now = 0.0

    def work(self) -> str:
        self.failures -= 1
        if self.failures >= 0:
            raise StoreError("away")
        return "done"

    def pause(self, seconds: float) -> None:
        self.now += seconds

    def retries(self, seconds: float) -> StoreRetries:
        return StoreRetries(seconds, lambda: self.now, self.pause)


def test_a_store_that_is_away_is_waited_for() -> None:
    failing = Failing(6)
    assert failing.retries(100.0).run(failing.work) == "done"
    assert 20 < failing.now < 40


def test_retries_end() -> None:
    failing = Failing(1000)
    with pytest.raises(StoreError, match="away"):
        failing.retries(100.0).run(failing.work)
    assert failing.now <= 100.0


def test_what_the_library_of_a_service_raises_is_a_failure_of_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without keys or a network, the library of S3 raises errors of its own, which are no `OSError`."""

    class NoKeysError(Exception):
        pass

    def refuse(*_: object, **__: object) -> None:
        raise NoKeysError("unable to locate credentials")

    store = ObjectStore("s3://bucket/name")
    for name in ("cat_file", "pipe_file", "exists", "ls", "rm_file", "get_file"):
        monkeypatch.setattr(store._files, name, refuse)  # noqa: SLF001 - the library
    for attempt in (
        lambda: store.read("x"),
        lambda: store.create("x", b""),
        lambda: store.replace("x", b""),
        lambda: store.exists("x"),
        lambda: store.names("x"),
        lambda: store.delete("x"),
        lambda: store.get_file("x", Path("nowhere")),
    ):
        with pytest.raises(StoreError, match="failed at x: unable to locate credentials"):
            attempt()
    with pytest.raises(ConfigError, match=r"unable to locate credentials\. Does the store exist"):
        store.check()
