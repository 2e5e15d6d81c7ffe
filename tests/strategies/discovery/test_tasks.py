from __future__ import annotations

from collections.abc import Sequence

import pytest

from coati.model import EVERY_HOST
from coati.strategies.discovery.tasks import Stage, Task, TaskQueue


class SomeHosts:
    def __init__(self, *busy: str) -> None:
        self.busy = set(busy)
        self._woken: list[str] = []

    def ready(self, host: str) -> bool:
        return host not in self.busy

    def take_ready(self) -> Sequence[str]:
        woken, self._woken = self._woken, []
        return woken

    def wake(self, host: str) -> None:
        self.busy.discard(host)
        self._woken.append(host)


def task(
    host: str, stage: Stage = Stage.CANDIDATE, page: str = "", group: int = 0, worth: float = 0.0
) -> Task:
    return Task(f"http://{host}.test/{page}", stage, group, worth=worth)


def drained(queue: TaskQueue) -> list[str]:
    urls = []
    while (taken := queue.pop(EVERY_HOST)) is not None:
        urls.append(taken.url.removeprefix("http://"))
    return urls


def test_stages_then_groups_then_worth_then_arrival() -> None:
    queue = TaskQueue()
    for waiting in (
        task("a", Stage.CHECK, group=1),
        task("b", Stage.CHECK, group=0),
        task("c", Stage.CANDIDATE),
        task("d", Stage.CANDIDATE, worth=2.0),
        task("c", Stage.CANDIDATE, "2"),
    ):
        queue.push(waiting)
    assert drained(queue) == ["d.test/", "c.test/", "c.test/2", "b.test/", "a.test/"]
    assert len(queue) == 0


def test_hosts_that_may_not_get_a_request_sleep_until_they_are_woken() -> None:
    queue, hosts = TaskQueue(), SomeHosts("a.test")
    queue.push(task("a"))
    queue.push(task("b"))
    assert queue.pop(hosts) == task("b")
    assert queue.pop(hosts) is None
    queue.push(task("a", page="2"))
    assert queue.pop(hosts) is None
    hosts.wake("a.test")
    assert [queue.pop(hosts), queue.pop(hosts), queue.pop(hosts)] == [task("a"), task("a", page="2"), None]


def test_taking_out_of_turn_and_dropping() -> None:
    queue = TaskQueue()
    for page in "123":
        queue.push(task("a", Stage.CHECK, page, group=int(page)))
    assert queue.take("http://a.test/2") == task("a", Stage.CHECK, "2", group=2)
    assert queue.drop_of_host("a.test", lambda waiting: waiting.group == 1) == ["http://a.test/1"]
    assert drained(queue) == ["a.test/3"]
    with pytest.raises(ValueError, match="is not waiting"):
        queue.take("http://a.test/1")


def test_what_was_dropped_may_be_pushed_again() -> None:
    queue = TaskQueue()
    queue.push(task("a"))
    assert queue.drop(lambda _: True) == ["http://a.test/"]
    queue.push(task("a"))
    assert drained(queue) == ["a.test/"]


def test_saved_tasks_keep_their_order() -> None:
    queue, loaded = TaskQueue(), TaskQueue()
    for page in "1234":
        queue.push(task("a", Stage.CHECK, page, group=5 - int(page)))
    loaded.load(queue.save())
    assert drained(loaded) == drained(queue)
