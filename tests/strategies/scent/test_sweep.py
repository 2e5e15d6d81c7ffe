from __future__ import annotations

from coati.strategies.scent.sweep import MOST_FOLDERS, Sweep
from coati.strategies.state import pack, unpack

START = "http://a.test/"


def met(*paths: str) -> Sweep:
    sweep = Sweep()
    for number, path in enumerate(paths):
        sweep.add(START + path, number)
    return sweep


def rest(sweep: Sweep) -> list[int]:
    found = []
    while (number := sweep.next(lambda _: True)) is not None:
        found.append(number)
    return found


def test_one_link_stands_for_each_folder_the_one_that_was_met_first() -> None:
    assert rest(met("a/x.html", "a/y.html", "b/x.html", "a/z.html?p=/c/d", "b/")) == [0, 2]


def test_folders_that_differ_by_a_number_are_told_apart() -> None:
    assert rest(met("1.4/", "1.5/", "1.5/x.html")) == [0, 1]


def test_shallow_folders_come_first_then_those_that_were_met_first() -> None:
    assert rest(met("a/b/c/d/", "b/c/", "c/", "d/e/")) == [2, 1, 3, 0]


def test_what_is_not_wanted_is_passed_over_for_good() -> None:
    sweep = met("a/", "b/", "c/")
    assert sweep.next(lambda number: number > 0) == 1
    assert rest(sweep) == [2]


def test_saving_keeps_where_it_was_and_a_shallow_one_that_comes_late_is_next() -> None:
    sweep = met("a/b/c/", "a/", "b/", "a/b/c/d/")
    assert sweep.next(lambda _: True) == 1
    twin = Sweep()
    twin.load(unpack(pack(sweep.save())))
    for each in (sweep, twin):
        each.add(START + "z/", 4)
        each.add(START + "a/late.html", 5)
        assert rest(each) == [2, 4, 0, 3]


def test_there_is_an_end_to_the_folders() -> None:
    sweep = Sweep()
    for number in range(MOST_FOLDERS + 10):
        sweep.add(f"{START}{number}/", number)
    assert len(rest(sweep)) == MOST_FOLDERS
