from __future__ import annotations

import numpy as np
import pytest

from coati.model import Link
from coati.strategies.scent.link_keys import LinkKeys
from coati.strategies.scent.untried_extensions import UntriedExtensions
from coati.strategies.state import pack, unpack
from coati.web.likely_extensions import DATA_EXTENSIONS

keys = LinkKeys({"csv"})


def row(path: str) -> np.ndarray:
    link = Link("http://a.test/" + path, ("html", "a"))
    return np.array(keys.row(link, keys.source("http://a.test/")), np.uint32)


def test_a_try_costs_most_of_the_chance_and_more_tries_cost_the_rest() -> None:
    untried = UntriedExtensions(0.25)
    chances = []
    for _ in range(4):
        chances.append(untried.least(row("data.csv")))
        untried.tried(row("other/more.csv"), target=False)
    assert chances == pytest.approx([1 / 4, 1 / 16, 1 / 28, 1 / 40])


def test_the_chance_of_what_was_never_tried_falls_with_first_tries_that_brought_nothing() -> None:
    people, files = UntriedExtensions(0.25), UntriedExtensions(0.25)
    for first in range(40):
        people.tried(row(f"people/john.{chr(97 + first % 26) * (1 + first // 26)}"), target=False)
        files.tried(row(f"files/x.{chr(97 + first % 26) * (1 + first // 26)}"), target=True)
    assert people.least(row("people/new.smith")) < 0.03
    assert files.least(row("files/new.sav")) == 0.25


def test_no_extension_of_data_is_taken_for_one_of_pages() -> None:
    untried = UntriedExtensions(0.25)
    assert {untried.least(row(f"x.{extension}")) for extension in DATA_EXTENSIONS} == {0.25}


@pytest.mark.parametrize("path", ["", "a", "a/", "a.html", "a.php"])
def test_pages_have_no_chance_of_their_own(path: str) -> None:
    assert UntriedExtensions(0.25).least(row(path)) == 0


def test_parameters_make_another_extension_of_a_page() -> None:
    assert UntriedExtensions(0.25).least(row("get.php?file=3")) == 0.25


def test_many_rows_have_the_chances_of_each_and_saving_keeps_them() -> None:
    untried = UntriedExtensions(0.25)
    untried.tried(row("a.csv"), target=False)
    twin = UntriedExtensions(0.25)
    twin.load(unpack(pack(untried.save())))
    rows = [row(path) for path in ("b.csv", "b.zip", "b.html")]
    for each in (untried, twin):
        assert each.least_all(np.stack(rows).T).tolist() == [each.least(one) for one in rows]
        assert each.least(rows[0]) == pytest.approx(1 / 16)
