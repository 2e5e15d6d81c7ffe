"""Draws that groups share choose arms as often as a draw for each arm does; seeds are fixed."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from coati.bandits.beta_tails import log_coefficient, point_with_share_above, share_above, shares_above
from coati.bandits.thompson_groups import LEVELS, ThompsonGroups

DRAWS = 4000
Arm = tuple[int, int, float]

# Counts and how many arms have them: alone, small groups, and groups so large that their maximum is inverted.
MIXED = [
    ((0, 0), 40),
    ((1, 1), 90),
    ((0, 2), 60),
    ((3, 0), 5),
    ((2, 1), 45),
    ((5, 2), 6),
    ((9, 1), 1),
    ((4, 3), 40),
]


def arms_of(groups: list[tuple[tuple[int, int], int]], seed: int = 1) -> list[Arm]:
    chance = Random(seed)
    return [(good, bad, chance.random()) for (good, bad), many in groups for _ in range(many)]


def chosen(arms: list[Arm], *, weighted: bool) -> list[int]:
    groups = ThompsonGroups(weighted=weighted)
    for arm, (good, bad, weight) in enumerate(arms):
        groups.put(arm, good, bad, weight)
    return [groups.choose(np.random.Generator(np.random.Philox(key=[7, turn]))).arm for turn in range(DRAWS)]


def chosen_naively(arms: list[Arm], *, weighted: bool) -> list[int]:
    table = np.array(arms)
    draws = np.random.default_rng(11).beta(table[:, 0] + 1, table[:, 1] + 1, (DRAWS, len(arms)))
    wins: list[int] = (draws * table[:, 2] if weighted else draws).argmax(axis=1).tolist()
    return wins


def chi_square(one: Counter[object], other: Counter[object]) -> tuple[float, int]:
    """Return the statistic of two samples of one size over the classes that are not rare, and how many."""
    classes = [each for each in one | other if one[each] + other[each] >= 20]
    return sum((one[each] - other[each]) ** 2 / (one[each] + other[each]) for each in classes), len(classes)


def test_groups_win_as_often_as_with_a_draw_for_each_arm() -> None:
    arms = arms_of(MIXED)
    one = Counter[object](arms[arm][:2] for arm in chosen(arms, weighted=False))
    other = Counter[object](arms[arm][:2] for arm in chosen_naively(arms, weighted=False))
    statistic, classes = chi_square(one, other)
    # The 99.9 % point of chi square is below 2.5 times the degrees of freedom plus 10.
    assert classes >= 6
    assert statistic < 2.5 * classes + 10


def test_within_a_group_every_arm_wins_alike() -> None:
    wins = Counter(chosen(arms_of([((2, 2), 50)]), weighted=False))
    assert len(wins) == 50
    assert max(wins.values()) < 2 * min(wins.values())


def test_the_winning_draw_is_distributed_as_the_largest_of_all() -> None:
    arms = arms_of(MIXED)
    groups = ThompsonGroups(weighted=False)
    for arm, (good, bad, _) in enumerate(arms):
        groups.put(arm, good, bad)
    ours = np.sort(
        [groups.choose(np.random.Generator(np.random.Philox(key=[5, t]))).score for t in range(DRAWS)]
    )
    table = np.array(arms)
    naive = np.random.default_rng(2).beta(table[:, 0] + 1, table[:, 1] + 1, (DRAWS, len(arms))).max(axis=1)
    places = np.searchsorted(ours, naive) / DRAWS
    # Kolmogorov and Smirnov: the 99.9 % point is 1.95 * sqrt(2 / n).
    largest_gap = np.abs(np.sort(places) - np.arange(DRAWS) / DRAWS).max()
    assert largest_gap < 1.95 * np.sqrt(2 / DRAWS)


def test_weighted_draws_win_nearly_as_often() -> None:
    arms = arms_of(MIXED)

    def sixteenth(arm: int) -> object:
        good, bad, weight = arms[arm]
        return good, bad, int(16 * weight)

    one = Counter(map(sixteenth, chosen(arms, weighted=True)))
    other = Counter(map(sixteenth, chosen_naively(arms, weighted=True)))
    statistic, classes = chi_square(one, other)
    assert classes >= 10
    assert statistic < 2.5 * classes + 10


def test_a_weighted_winner_is_never_far_from_the_best() -> None:
    # Without chance: draws of arms with so many pulls are their shares.
    arms = [(900_000, 100_000, (arm + 0.4) / 200) for arm in range(200)]
    for arm in chosen(arms, weighted=True)[:50]:
        assert arms[arm][2] > 1 - 1.5 / LEVELS


def test_arms_come_change_and_go() -> None:
    chance, groups = Random(3), ThompsonGroups(weighted=True)
    held: dict[int, tuple[int, int, int]] = {}
    for turn in range(3000):
        arm = chance.randrange(80)
        if arm in held and chance.random() < 0.4:
            groups.remove(arm)
            del held[arm]
        else:
            level = chance.randrange(4)
            held[arm] = (chance.randrange(3), chance.randrange(3), level)
            groups.put(arm, *held[arm][:2], (level + 0.5) / LEVELS)
        assert (len(groups), groups.groups) == (len(held), len(set(held.values())))
        if held and turn % 5 == 0:
            choice = groups.choose(np.random.default_rng(turn))
            assert choice.arm in held
            assert 0 <= choice.score <= 1


@pytest.mark.parametrize(("alpha", "beta"), [(2, 2), (5, 3), (3, 30), (40, 2)])
def test_the_share_above_a_point(alpha: int, beta: int) -> None:
    constant = log_coefficient(alpha, beta)
    draws = np.sort(np.random.default_rng(1).beta(alpha, beta, 200_000))
    for share in (0.3, 0.05, 0.001):
        point = float(np.quantile(draws, 1 - share))
        assert share_above(point, alpha, beta, constant) == pytest.approx(share, rel=0.2)
        columns = [np.array([float(each)]) for each in (point, alpha, beta, constant)]
        assert shares_above(*columns)[0] == pytest.approx(share_above(point, alpha, beta, constant), rel=1e-9)
        again = point_with_share_above(share, alpha, beta, constant, 0.0)
        assert share_above(again, alpha, beta, constant) == pytest.approx(share, rel=1e-6)
    assert share_above(0.0, alpha, beta, constant) == 1.0
    assert share_above(1.0, alpha, beta, constant) == 0.0
