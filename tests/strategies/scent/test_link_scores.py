from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coati.learners.value_chains import ChainSettings
from coati.model import Link
from coati.strategies.scent.link_keys import LinkKeys
from coati.strategies.scent.link_scores import BYTES_UNIT, Aim, Expected, LinkOutcome, LinkScores
from coati.strategies.scent.scent import CHAINS
from coati.strategies.state import pack, unpack

START = "http://a.test/"
FILES = ("html", "body", "ul.files", "li", "a")
MENU = ("html", "body", "nav", "a")

keys = LinkKeys({"csv", "zip"})
source = keys.source(START)


def row(path: str, tag_path: tuple[str, ...] = FILES) -> np.ndarray:
    return np.array(keys.row(Link(START + path, tag_path, path), source), np.uint32)


def scores(aim: Aim = Aim.TARGETS_PER_REQUEST, *, expect_errors: bool = True) -> LinkScores:
    return LinkScores(aim, 0.15, CHAINS, ChainSettings(), expect_errors=expect_errors)


def target(size_bytes: int = 1_000) -> LinkOutcome:
    return LinkOutcome(target=True, page=False, size_bytes=size_bytes)


def page(size_bytes: int = 1_000) -> LinkOutcome:
    return LinkOutcome(target=False, page=True, size_bytes=size_bytes)


def score(own: LinkScores, link: np.ndarray, hope: float) -> float:
    return own.score(link, own.expect(link), hope)


DEAD = LinkOutcome(target=False, page=False, size_bytes=0)


def learnt(
    own: LinkScores, path: str, answer: LinkOutcome, label: float | None = None, times: int = 40
) -> None:
    """Let links of one directory turn out alike; a page has a label."""
    for number in range(times):
        link = row(f"{path.format(chr(97 + number % 26))}")
        own.learn(link, answer)
        if label is not None:
            own.values.learn(link, label)


answers = st.builds(
    LinkOutcome,
    target=st.booleans(),
    page=st.booleans(),
    size_bytes=st.integers(0, 2**40),
).filter(lambda answer: not (answer.target and answer.page))
histories = st.lists(
    st.tuples(st.sampled_from(["a/x.html", "a/y.csv", "b/z", "b/c/w.zip"]), answers, st.floats(0, 6)),
    max_size=40,
)


@pytest.mark.parametrize("aim", Aim)
@settings(max_examples=30, deadline=None)
@given(history=histories, hope=st.floats(0, 1))
def test_one_row_scores_as_many_do_under_every_aim(
    aim: Aim, history: list[tuple[str, LinkOutcome, float]], hope: float
) -> None:
    own = scores(aim)
    for path, answer, label in history:
        own.learn(row(path), answer)
        if answer.page:
            own.values.learn(row(path), label)
    rows = np.stack([row(path) for path in ("a/x.html", "a/q.csv", "b/z", "new/v.zip")])
    many = own.score_all(np.concatenate([rows] * 9).T, hope)
    few = own.score_all(rows.T, hope)
    for each, (scored, expected), (also_scored, also_expected) in zip(rows, few, many, strict=False):
        assert scored == pytest.approx(also_scored, rel=1e-2, abs=1e-4)
        assert expected == pytest.approx(also_expected, rel=1e-2, abs=1e-3)
        assert score(own, each, hope) == pytest.approx(scored, rel=1e-2, abs=1e-4)
        assert 0 <= scored < math.inf
        assert 0 <= expected.target <= 1
        assert 0 <= expected.behind(-0.3) < math.inf
        if aim is not Aim.TARGETS_PER_BYTE:
            assert scored <= 1


def test_the_score_of_a_sure_target_is_one_a_request_and_that_of_a_dead_link_none() -> None:
    own = scores()
    learnt(own, "files/{}.csv", target())
    learnt(own, "old/{}", DEAD)
    assert score(own, row("files/new.csv"), 0.0) > 0.9
    assert score(own, row("old/new"), 0.0) < 0.1


def test_dead_links_count_as_pages_where_errors_are_not_expected() -> None:
    wary, naive = scores(), scores(expect_errors=False)
    for own in (wary, naive):
        learnt(own, "old/{}", DEAD)
    assert score(wary, row("old/new"), 0.0) < 0.7 * score(naive, row("old/new"), 0.0)


def test_hope_raises_a_score_where_there_is_doubt_and_little_where_there_is_none() -> None:
    own = scores()
    learnt(own, "barren/{}.html", page(), label=0.0, times=200)
    known, unknown = row("barren/a.html"), row("never/seen.html", MENU)
    raised = [score(own, link, 1.0) - score(own, link, 0.0) for link in (known, unknown)]
    assert 0 < 2 * raised[0] < raised[1]


def test_caution_lowers_what_a_link_promises_to_the_page_that_leads_to_it() -> None:
    expected = scores().expect(row("never/seen.html"))
    assert expected.behind(-0.5) < expected.behind(0.0)


def per_byte(aim: Aim) -> LinkScores:
    """Four directories: files and pages, small and large; all pages lead to as many files."""
    own = scores(aim)
    learnt(own, "small/{}.csv", target(10_000))
    learnt(own, "large/{}.zip", target(10_000_000))
    learnt(own, "light/{}.html", page(2_000), label=1.0)
    learnt(own, "heavy/{}.html", page(2_000_000), label=1.0)
    return own


@pytest.mark.parametrize("aim", [Aim.TARGETS_PER_BYTE, Aim.BYTES_PER_BYTE])
def test_of_two_pages_with_as_many_files_the_smaller_one_is_worth_more_bytes(aim: Aim) -> None:
    own = per_byte(aim)
    assert score(own, row("light/new.html"), 0.0) > 1.2 * score(own, row("heavy/new.html"), 0.0)


def test_requests_do_not_care_for_size() -> None:
    own = per_byte(Aim.TARGETS_PER_REQUEST)
    light, heavy = (score(own, row(f"{folder}/new.html"), 0.0) for folder in ("light", "heavy"))
    assert light == pytest.approx(heavy, rel=0.2)


def test_many_targets_for_few_bytes_means_small_files_and_much_volume_large_ones() -> None:
    few_bytes, volume = per_byte(Aim.TARGETS_PER_BYTE), per_byte(Aim.BYTES_PER_BYTE)
    small, large = row("small/new.csv"), row("large/new.zip")
    assert score(few_bytes, small, 0.0) > 10 * score(few_bytes, large, 0.0)
    assert score(volume, large, 0.0) > score(volume, small, 0.0)
    # Pages that are as large as a file do not hide how much of the volume is wanted.
    assert score(volume, large, 0.0) > 0.9


@pytest.mark.parametrize(
    ("aim", "expected"),
    [
        (Aim.TARGETS_PER_REQUEST, 0.5),
        (Aim.TARGETS_PER_BYTE, BYTES_UNIT / 4_000),
        (Aim.BYTES_PER_BYTE, 0.75),
    ],
)
def test_what_the_crawl_had_so_far_is_in_the_unit_of_a_score(aim: Aim, expected: float) -> None:
    own = scores(aim)
    for _ in range(400):
        own.learn(row("a.csv"), target(3_000))
        own.learn(row("a.html"), page(1_000))
    assert own.so_far == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("aim", Aim)
def test_what_was_saved_scores_and_learns_the_same(aim: Aim) -> None:
    own, twin = per_byte(aim), scores(aim)
    twin.load(unpack(pack(own.save())))
    for path in ("small/q.csv", "large/q.zip", "light/q.html", "else/q"):
        own.learn(row(path), page())
        twin.learn(row(path), page())
        assert score(twin, row(path), 0.3) == score(own, row(path), 0.3)
    assert twin.so_far == own.so_far


def test_an_answer_that_was_expected_teaches_nothing_unless_it_is_a_page() -> None:
    own = scores()
    learnt(own, "files/{}.csv", target(), times=1_000)
    before, lessons = score(own, row("files/new.csv"), 0.0), own.lessons
    learnt(own, "files/{}.csv", target(), times=26)
    assert (score(own, row("files/new.csv"), 0.0), own.lessons) == (before, lessons)
    own.learn(row("files/a.csv"), DEAD)
    assert own.lessons == lessons + 1
    assert score(own, row("files/new.csv"), 0.0) < before
    learnt(own, "pages/{}.html", page(), times=2_000)
    assert own.lessons == lessons + 2_001


def test_no_page_promises_without_end() -> None:
    own = scores()
    boundless = Expected(0.0, 1.0, 1e6, 1e6)
    assert boundless.behind(0.4) < 30_000
    assert 0.99 < own.score(row("a/b.html"), boundless, 0.4) < 1
