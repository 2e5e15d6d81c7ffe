"""What other sites tell of a site's links, on links made by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from click.testing import CliRunner

from benchmarks.links_across_sites import QUESTIONS, Question, across, area, areas_of, main, within
from tests.replaying import tiny_site

SHARED, OTHER, FIRST_OWN = 7, 8, 100


def a_site(own: int, *, telling: bool = True) -> Question:
    """Forty links: the word `SHARED` tells all, the words from ``own`` on tell the same within the site."""
    answers = (np.arange(40) % 2).astype(float)
    words = np.where(answers == 1, SHARED, OTHER) if telling else np.full(40, OTHER)
    return Question(np.column_stack([words, own + answers.astype(int)]), answers)


def test_what_sites_share_is_told_across() -> None:
    sites = [a_site(FIRST_OWN + 10 * number) for number in range(4)]
    from_others = across(sites[1:], sites[0].rows)
    assert area(from_others, sites[0].answers) == 1


def test_what_one_site_alone_has_is_learnt_from_itself_only() -> None:
    known = [a_site(FIRST_OWN + 10 * number) for number in range(3)]
    rows_to_predict = a_site(500, telling=False)
    assert area(across(known, rows_to_predict.rows), rows_to_predict.answers) == 0.5
    assert area(within(rows_to_predict), rows_to_predict.answers) == 1


def test_a_word_of_two_sites_is_not_learnt() -> None:
    known = [a_site(FIRST_OWN, telling=False), a_site(FIRST_OWN, telling=False), a_site(300, telling=False)]
    rows_to_predict = a_site(FIRST_OWN, telling=False)
    assert area(across(known, rows_to_predict.rows), rows_to_predict.answers) == 0.5


def test_sites_that_are_alike_tell_nothing_of_each_other() -> None:
    made_alike = {name: {QUESTIONS[0]: a_site(FIRST_OWN, telling=False)} for name in "abcd"}
    others = {name: {QUESTIONS[0]: a_site(own, telling=False)} for name, own in (("e", 300), ("f", 400))}
    sites = made_alike | others
    assert areas_of(sites, [])["a"] == {QUESTIONS[0]: (1, 1)}
    assert areas_of(sites, [set("abcd")])["a"] == {QUESTIONS[0]: (0.5, 1)}
    assert areas_of(made_alike, [set("abcd")])["a"] == {QUESTIONS[0]: (None, 1)}


def test_links_that_are_all_of_one_sort_have_no_area() -> None:
    assert area(np.zeros(3), np.ones(3)) is None


def test_the_table_of_a_folder(tmp_path: Path) -> None:
    for name in ("one", "two"):
        tiny_site.make(tmp_path / "archives" / name)
    out = tmp_path / "across.md"
    done = CliRunner().invoke(
        main, ["--archives", str(tmp_path / "archives"), "--out", str(out), "--alike", "one,two"]
    )
    assert done.exit_code == 0, done.output
    text = out.read_text(encoding="utf-8")
    assert "Alike: one,two." in text
    assert [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| ")] == [
        "| site", "| ---", "| one", "| two", "| **mean**",
    ]  # fmt: skip
