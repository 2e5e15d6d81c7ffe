import pytest

from coati.experiments.confusion import CONFUSIONS, mean_matrix, misclassification_pct, percentages
from coati.experiments.measures import check_measure, measure


def matrix(*counts: int) -> dict[str, int]:
    return dict(zip(CONFUSIONS, counts, strict=True))


def test_sites_weigh_the_same_whatever_their_size() -> None:
    small, large, nothing = matrix(8, 2, 0, 10, 0, 0), matrix(400, 0, 0, 100, 500, 0), matrix(*[0] * 6)
    mean = mean_matrix([small, large, nothing])
    assert list(mean.values()) == [40, 5, 0, 30, 25, 0]
    assert misclassification_pct(mean) == pytest.approx(100 * 5 / 75)


def test_no_rate_without_pages_and_targets() -> None:
    assert misclassification_pct(matrix(0, 0, 0, 0, 7, 1)) is None
    assert misclassification_pct(mean_matrix([])) is None
    assert percentages(matrix(*[0] * 6)) is None
    assert percentages({}) is None


def test_the_rate_of_the_published_matrix() -> None:
    slides = dict(zip(CONFUSIONS, (58.04, 1.37, 0.75, 32.19, 5.34, 2.41), strict=True))
    assert misclassification_pct(slides) == pytest.approx(2.3, abs=0.01)


def test_each_cell_is_a_measure() -> None:
    for name in CONFUSIONS:
        check_measure(f"{name}_pct", [])
        assert "% of predictions" in measure(f"{name}_pct").meaning
