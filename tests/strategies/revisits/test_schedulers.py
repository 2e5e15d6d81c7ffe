"""Every published scheduler visits what a slow literal version of its text visits."""

from __future__ import annotations

import pytest

from coati.strategies.revisits.schedulers import SCHEDULERS
from tests.strategies.revisits import literal
from tests.strategies.revisits.histories import Made

METHODS = {"rr": literal.rr, "od-win": literal.od_win, "reg": literal.reg}


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", METHODS)
def test_it_does_what_its_text_says(name: str, seed: int) -> None:
    made = Made(seed)
    expected = literal.run(made, METHODS[name], 3)
    assert made.watched(SCHEDULERS[name].build(0), 3) == expected


def test_it_forgets_what_leaves_the_window() -> None:
    made = Made(5, sites=2, pages=3, cycles=190)
    expected = literal.run(made, literal.od_win, 2)
    assert made.watched(SCHEDULERS["od-win"].build(0), 2) == expected


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_site_gets_no_more_than_its_share(name: str) -> None:
    made = Made(1)
    for pages in made.watched(SCHEDULERS[name].build(0), 3, per_site=1):
        assert len({made.site_of[page] for page in pages}) == 3
