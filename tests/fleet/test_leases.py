from __future__ import annotations

import pytest

from coati.fleet.leases import LeaseHeldError, LeaseLostError, Leases, lease_name
from coati.fleet.objects import DamagedObjectError, ObjectStore


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_one_holds_a_lease_until_it_is_released(store: ObjectStore) -> None:
    clock = Clock()
    first, second = Leases(store, "first", 60.0, clock), Leases(store, "second", 60.0, clock)
    held = first.take("a.org", "site a", pace_seconds=1.0)
    with pytest.raises(LeaseHeldError, match=r"first holds a.org for site a"):
        second.take("a.org", "site a")
    second.take("b.org", "site b")
    held.release(free_at=1001.5)
    with pytest.raises(LeaseHeldError) as left_alone:
        second.take("a.org", "site a")
    assert left_alone.value.lease.takes_until() == 1001.5
    clock.now = 1001.5
    taken = second.take("a.org", "site a")
    assert (taken.number, taken.left_by) == (held.number + 1, None)


def test_who_died_is_followed_when_its_term_and_the_pace_are_over(store: ObjectStore) -> None:
    clock = Clock()
    first, second = Leases(store, "first", 60.0, clock), Leases(store, "second", 60.0, clock)
    held = first.take("a.org", "site a", pace_seconds=10.0)
    clock.now += 30
    held.renew()
    # By this time one asks no more, if it cannot renew; another may only begin a good while later.
    assert held.seconds_usable == 45.0
    clock.now += 69
    with pytest.raises(LeaseHeldError):
        second.take("a.org", "site a")
    clock.now += 1
    taken = second.take("a.org", "site a")
    assert taken.left_by == held.lease
    # It was not dead: it learns that it has lost the lease, and cannot get it back by renewing it.
    for deed in (held.check, held.renew, held.release):
        with pytest.raises(LeaseLostError, match="taken over by second"):
            deed()
    taken.check()


def test_a_late_object_below_the_highest_number_means_nothing(memory: ObjectStore) -> None:
    clock = Clock()
    leases = Leases(memory, "first", 60.0, clock)
    leases.take("a.org", "x").release()
    held = leases.take("a.org", "x")
    assert memory.names("leases/a.org") == [f"{held.number:012}"]

    class Late(ObjectStore):
        """Lists what stood there some time ago, once."""

        stale = True

        def names(self, folder: str) -> list[str]:
            if self.stale:
                self.stale = False
                return []
            return super().names(folder)

    late = Leases(Late(memory.url), "late", 60.0, clock)
    with pytest.raises(LeaseHeldError, match="first holds"):
        late.take("a.org", "x")
    held.check()


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.data.gouv.fr/x", "data.gouv.fr"),
        ("https://a.b.example.org/", "example.org"),
        ("http://[::1]:80/", "1"),
        ("http://localhost/", "localhost"),
    ],
)
def test_sites_of_one_domain_share_a_lease(url: str, name: str) -> None:
    assert lease_name(url) == name


@pytest.mark.parametrize("content", [b"\xff", b"[]", b"{}", b'{"name": "a.org", "of_another_version": 1}'])
def test_a_lease_that_cannot_be_read_is_named(memory: ObjectStore, content: bytes) -> None:
    memory.replace("leases/a.org/000000000001", content)
    with pytest.raises(DamagedObjectError, match=r"leases/a\.org/000000000001 in the store is damaged"):
        Leases(memory, "first", 60.0, Clock()).newest("a.org")
