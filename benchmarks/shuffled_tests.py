"""A plugin of pytest: files, and the tests of each, in another order (``-p benchmarks.shuffled_tests``)."""

from __future__ import annotations

import os
import random
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle them by the seed that the environment names, so that an order can be repeated.

    The tests of a file stay together: what they share is made once.
    """
    rng = random.Random(os.environ.get("SHUFFLE_SEED", "0"))
    files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    rng.shuffle(files)
    for tests in files:
        rng.shuffle(tests)
    items[:] = [test for tests in files for test in tests]
