"""A watch as a function: what it returns, whom it tells, when it ends."""

import asyncio
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

import coati
from coati.file_lock import FileLock
from coati.watching import watch_cycles
from coati.watching.notifying import ChangeListeners
from coati.watching.watch import find_watch, next_cycle
from tests.live.scripted import Script, file, page, scripted


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    monkeypatch.chdir(tmp_path)
    # Half an hour passes with each look at the clock.
    ticks = count(2_000_000_000, 1800)
    monkeypatch.setattr(watch_cycles, "time", SimpleNamespace(time=lambda: float(next(ticks))))
    monkeypatch.setattr(watch_cycles, "_STEP_SECONDS", 0.001)
    with scripted({"/": page("/a.csv"), "/a.csv": file(b"a\n1\n")}) as script:
        coati.crawl(script.start, out="site", delay=0, strategy="bfs")
        yield script


def test_it_looks_first_and_then_tells_what_changed(site: Script) -> None:
    first = coati.watch("site", per_cycle=10, follow=10, check=10, delay=0)
    assert (first.changes, first.place.resumed, first.exit_code) == ([], False, 0)
    site.routes["/"] = page("/a.csv", "/b.csv")
    site.routes["/b.csv"] = file(b"b\n1\n")
    told: list[coati.Progress] = []
    second = coati.watch("site.watch", exec="touch {what}", on_progress=told.append)
    assert Path("new").is_file()
    assert [(change.what, change.url.rpartition("/")[2]) for change in second.changes] == [("new", "b.csv")]
    assert (second.place.resumed, second.stop, second.moved) == (True, coati.StopReason.FINISHED, False)
    assert second.place.options.per_cycle == 10
    assert told
    assert second.folder == Path("site.watch")
    assert second.run.summary.targets == 2
    assert "b.csv" in second._repr_html_()
    assert "none" in first._repr_html_()
    assert repr(first) == f"<WatchResult {str(first.folder)!r}: 0 changes in 1 cycle; {first.stop.value}>"


@pytest.mark.usefixtures("site")
def test_cycles_follow_one_another_until_there_are_enough() -> None:
    told: list[coati.CycleResult] = []
    run = coati.watch("site", cycles=3, every="1h", delay=0, on_cycle=told.append)
    assert list(run.cycles) == told
    assert [cycle.pages for cycle in told] == [2, 1, 1]


@pytest.mark.usefixtures("site")
def test_a_cycle_that_another_process_is_at_is_left_out() -> None:
    place = find_watch([Path("site")], {}, None, {"delay": 0.0})
    held: list[FileLock] = []
    left_out: list[str] = []

    def hold(_: coati.CycleResult) -> None:
        if not held:
            held.append(FileLock(place.folder / "state" / "watch.lock", names_holder=True))

    def release(why: str) -> None:
        left_out.append(why)
        held[0].release()

    callbacks = watch_cycles.CycleCallbacks(on_cycle=hold, on_skipped=release)
    run = watch_cycles.watch_cycles(place, 2, ChangeListeners(), callbacks, coati.StopSignal())
    assert len(run.cycles) == 2
    assert len(left_out) == 1
    assert "in the middle of a cycle" in left_out[0]


@pytest.mark.usefixtures("site")
def test_one_without_end_is_stopped_from_outside() -> None:
    stop = coati.StopSignal()
    told: list[coati.CycleResult] = []

    def second(cycle: coati.CycleResult) -> None:
        told.append(cycle)
        if len(told) == 2:
            stop.set()

    run = coati.watch("site", cycles=None, delay=0, on_cycle=second, stop=stop)
    assert len(told) == 2
    assert run.cycles == (told[-1],)


@pytest.mark.usefixtures("site")
def test_it_works_where_a_loop_runs_already() -> None:
    async def cell() -> coati.WatchResult:
        return coati.watch("site", delay=0)

    assert asyncio.run(cell()).exit_code == 0


@pytest.mark.usefixtures("site")
def test_what_no_watch_can_be_made_of_is_told() -> None:
    with pytest.raises(coati.CoatiError, match="at least 1"):
        coati.watch("site", cycles=0, delay=0)
    for scheduler in ("rrr", "greedy"):  # the latter knows what only a replay can
        with pytest.raises(coati.CoatiError, match="unknown scheduler"):
            coati.watch("site", scheduler=scheduler)
    with pytest.raises(coati.CoatiError, match="nowhere"):
        coati.watch("nowhere")


@pytest.mark.parametrize("changes_at", [1_774_746_000, 1_792_890_000])
def test_an_hour_of_daylight_saving_is_neither_skipped_nor_repeated(
    changes_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        local = [time.localtime(changes_at + seconds).tm_isdst for seconds in (-1, 0)]
        begun = [next_cycle(3600.0, changes_at + 3600.0 * hour + 5) for hour in range(-3, 3)]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert set(local) == {0, 1}
    assert begun == [changes_at + 3600.0 * hour for hour in range(-2, 4)]
