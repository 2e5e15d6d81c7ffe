"""Ways to spend a budget over recorded sites, on sites small enough to count."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from coati.experiments.spending import Spending, found
from coati.replaying.site_records import SiteRecord


def site(gains: str) -> SiteRecord:
    """Make a record of what each request brings; the strategy promises what comes."""
    gained = np.array([int(gain) for gain in gains], np.uint8)
    promised = gained.astype(np.float32)
    promised[0] = np.nan
    return SiteRecord(len(gains), int(gained.sum()), promised, gained)


SITES = [site("0111"), site("0000000000"), site("00000111111111")]


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    SITES[2].write(tmp_path / "record.npz")
    read = SiteRecord.read(tmp_path / "record.npz")
    assert (read.urls, read.targets, read.gained.tolist()) == (14, 9, SITES[2].gained.tolist())
    assert np.array_equal(read.promised, SITES[2].promised, equal_nan=True)


def test_an_equal_split_loses_what_a_site_does_not_need() -> None:
    assert Spending("equal-split").shares(SITES, 18) == [4, 6, 6]
    assert found(SITES, [4, 6, 6]) == 4


def test_round_robin_gives_it_to_the_others() -> None:
    shares = Spending("round-robin").shares(SITES, 18)
    assert sum(shares) == 18
    assert shares[0] == 4


def test_who_knows_the_curves_asks_no_poor_site() -> None:
    knowing = Spending("knowing")
    assert knowing.shares(SITES, 18) == [4, 0, 14]
    assert found(SITES, knowing.shares(SITES, 4)) == 3
    assert found(SITES, knowing.shares(SITES, 14)) == 9


def test_who_has_to_try_each_site_first_asks_the_poor_one_too() -> None:
    assert Spending("knowing", tries=2).shares(SITES, 20) == [4, 2, 14]
    # What is left after the tries decides: two for the small site instead of nothing from the large one.
    assert Spending("knowing", tries=2).shares(SITES, 8) == [4, 2, 2]
    # The tries alone may cost it all.
    assert Spending("knowing", tries=5).shares(SITES, 7) == [4, 3, 0]


def test_who_knows_sites_from_their_first_file_on_gives_the_others_up() -> None:
    # With patience for six requests the large site shows itself, and the poor one costs six.
    assert Spending("first-file").shares(SITES, 24) == [4, 6, 14]
    # With a small budget the best hindsight is to wait for the small site alone.
    assert found(SITES, Spending("first-file").shares(SITES, 8)) == 3
    # A site without files never shows any, however long it is asked.
    assert Spending("first-file").shares([site("0000")], 3) == [1]


def test_promises_that_are_true_lead_to_nearly_as_much() -> None:
    shares = Spending(doubt=0.1).shares(SITES, 22)
    assert shares[0] == 4
    assert found(SITES, shares) > found(SITES, Spending("equal-split").shares(SITES, 22))
    assert sum(Spending().shares(SITES, 1000)) == 28
    assert Spending(fair=True).shares(SITES, 22)[1] > shares[1]
