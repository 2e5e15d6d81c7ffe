"""A strategy that was restored continues as if nothing had happened."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coati.assembly import LIVE_STRATEGIES, build_strategy
from coati.model import Outcome, Request, Settlement
from coati.runs.errors import RunMismatchError
from coati.runs.layout import Layout
from coati.runs.snapshots import SnapshotForm
from coati.runs.store import RunStore
from coati.strategies.state import pack
from coati.strategies.strategy import Strategy
from tests.runs.synthetic import START, Loop, Site, dump, fast_folder, form, new_store, rows


@settings(max_examples=30)
@given(
    seed=st.integers(0, 1000),
    size=st.integers(1, 60),
    strategy=st.sampled_from(sorted(LIVE_STRATEGIES)),
    width=st.integers(1, 5),
    cuts=st.lists(st.tuples(st.integers(0, 25), st.booleans()), max_size=3),
)
def test_an_interrupted_run_equals_one_that_was_not(
    seed: int, size: int, strategy: str, width: int, cuts: list[tuple[int, bool]]
) -> None:
    site = Site(seed, size, links=5)
    with fast_folder() as folder:
        with new_store(folder / "whole") as store:
            Loop(store, site, strategy, width, seed).steps()
            expected = dump(store)
        store = new_store(folder / "cut")
        for steps, with_snapshot in cuts:
            loop = Loop(store, site, strategy, width, seed)
            loop.steps(steps)
            if with_snapshot:
                store.snapshot(loop.strategy, loop.form)
            store.close()
            store = RunStore.open(folder / "cut", 2000.0)
            assert store.messages == []
        loop = Loop(store, site, strategy, width, seed)
        loop.steps()
        assert dump(store) == expected
        store.close()


def test_a_restored_strategy_has_the_same_state(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        loop = Loop(store, Site(1, 80), "random", 3)
        loop.steps(40)
        again = store.restore(lambda: build_strategy("random", [START]), loop.form)
        assert pack(again.strategy.save()) == pack(loop.strategy.save())
        assert again.in_flight == loop.open
        assert (again.from_snapshot, again.events_redone) == (False, 40 + 40 + len(loop.open))
        store.snapshot(loop.strategy, loop.form)
        loop.steps(7)
        again = store.restore(lambda: build_strategy("random", [START]), loop.form)
        assert (again.from_snapshot, again.events_redone) == (True, 14)
        assert pack(again.strategy.save()) == pack(loop.strategy.save())
        assert again.totals == store.totals


def test_two_snapshots_are_kept_and_a_damaged_one_is_left_aside(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        loop = Loop(store, Site(1, 80), "bfs", 2)
        for _ in range(3):
            loop.steps(5)
            store.snapshot(loop.strategy, loop.form)
        expected = pack(loop.strategy.save())
    snapshots = sorted(Layout(tmp_path).snapshots.iterdir())
    assert len(snapshots) == 2
    damaged = bytearray(snapshots[1].read_bytes())
    damaged[-5] ^= 1
    snapshots[1].write_bytes(damaged)
    with RunStore.open(tmp_path, 2000.0) as store:
        restored = store.restore(lambda: build_strategy("bfs", [START]), form("bfs"))
        assert restored.from_snapshot
        assert restored.events_redone == 10
        assert [message.split(": ", 1)[1] for message in restored.messages] == ["it is damaged"]
        assert pack(restored.strategy.save()) == expected
        snapshots[0].write_bytes(b"not a snapshot")
        restored = store.restore(lambda: build_strategy("bfs", [START]), form("bfs"))
        assert not restored.from_snapshot
        assert len(restored.messages) == 2
        assert pack(restored.strategy.save()) == expected


def test_snapshots_of_others_are_left_aside(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        loop = Loop(store, Site(1, 80), "bfs", 2)
        loop.steps(20)
        store.snapshot(loop.strategy, loop.form)
        (path,) = Layout(tmp_path).snapshots.iterdir()
        magic, head, state = path.read_bytes().split(b"\n", 2)
        expected = pack(loop.strategy.save())

        def restored_with(**changes: object) -> str:
            changed = json.dumps({**json.loads(head), **changes}).encode()
            path.write_bytes(b"\n".join([magic, changed, state]))
            restored = store.restore(lambda: build_strategy("bfs", [START]), loop.form)
            assert not restored.from_snapshot
            assert pack(restored.strategy.save()) == expected
            (message,) = restored.messages
            return message

        assert "made by Coati 0.0.1-old" in restored_with(coati="0.0.1-old")
        assert "made by dfs under other settings" in restored_with(strategy="dfs")
        assert "under other settings" in restored_with(settings="0")
        assert "ahead of the log" in restored_with(event=10_000)
        assert "ignored" in restored_with(more="unknown")


class _Forgetful:
    """A strategy that cannot load what it saved, and breaks half-way when it tries."""

    def __init__(self) -> None:
        self._inner = build_strategy("bfs", [START])
        self._broken = False
        self.choose = self._inner.choose
        self.save = self._inner.save
        self.arm_label = self._inner.arm_label

    def redo(self, request: Request, now: float) -> None:
        assert not self._broken
        self._inner.redo(request, 0.0)

    def observe(self, request_id: int, outcome: Outcome, now: float) -> tuple[Settlement, ...]:
        self._inner.observe(request_id, outcome, 0.0)
        return ()

    def load(self, state: Mapping[str, Any]) -> None:
        self._broken = True
        raise KeyError("frontier")


def test_a_snapshot_that_does_not_load_spoils_nothing(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        loop = Loop(store, Site(1, 80), "bfs", 2)
        loop.steps(20)
        store.snapshot(loop.strategy, loop.form)
        restored = store.restore(_Forgetful, loop.form)
        assert "cannot be loaded" in restored.messages[0]
        assert pack(restored.strategy.save()) == pack(loop.strategy.save())


def test_a_log_of_another_strategy_is_an_error_in_words(tmp_path: Path) -> None:
    def elsewhere() -> Strategy:
        return build_strategy("bfs", ["http://another.example/"])

    with new_store(tmp_path) as store:
        Loop(store, Site(1, 80), "bfs", 2).steps(10)
        with pytest.raises(RunMismatchError, match="another strategy, seed or version"):
            store.restore(elsewhere, SnapshotForm("bfs", {}))


def test_rewards_that_were_not_written_yet_are_found_again(tmp_path: Path) -> None:
    class Paying(_Forgetful):
        def observe(self, request_id: int, outcome: Outcome, now: float) -> tuple[Settlement, ...]:
            super().observe(request_id, outcome, 0.0)
            return (Settlement(request_id, 2.5),)

    with new_store(tmp_path) as store:
        loop = Loop(store, Site(1, 80), "bfs", 2)
        loop.steps(10)
        query = "SELECT count(*) FROM requests WHERE reward = 2.5"
        assert rows(store, query) == [(0,)]
        store.restore(Paying, loop.form)
        assert rows(store, query) == [(10,)]


def test_snapshots_are_due_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coati.runs.store._SNAPSHOT_EVENTS", 20)
    with new_store(tmp_path) as store:
        loop = Loop(store, Site(1, 400), "bfs", 1)
        taken = []
        for step in range(200):
            loop.steps(1)
            if store.snapshot_due:
                taken.append(step)
                store.snapshot(loop.strategy, loop.form)
    # Two events a step: every ten steps at first, later after a tenth of all events.
    assert taken[:3] == [9, 19, 29]
    assert taken[-1] - taken[-2] > 14
