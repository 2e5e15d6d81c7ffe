from __future__ import annotations

import pytest

from coati.strategies.discovery.topic import ON_TOPIC, Topic
from coati.strategies.state import pack, unpack


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ("flood", "floods"),
        ("flood", "flooding"),
        ("economics", "economic"),
        ("economics", "economy"),
        ("ethiopia", "ethiopian"),
        ("ethiopia", "éthiopie"),
        ("sécurité", "securite"),
        ("risk", "risk"),
    ],
)
def test_other_forms_of_a_word_count(words: str, form: str) -> None:
    assert Topic(words).score([form]) == 1.0


@pytest.mark.parametrize(
    ("words", "other"), [("rain", "train"), ("food", "foot"), ("international", "internet"), ("war", "warm")]
)
def test_other_words_do_not(words: str, other: str) -> None:
    assert Topic(words).score([other]) == 0.0


def test_small_words_do_not_count() -> None:
    topic = Topic("the price of rice", {"of", "the"})
    assert topic.score(["price", "rice"]) == 1.0
    assert topic.score(["the", "of"]) == 0.0


@pytest.mark.parametrize(
    ("words", "page", "score"),
    [
        ("statistics data", "statistics data", 1.0),
        ("statistics data", "statistical", 0.8),
        ("statistics data", "data", 0.2),
        ("statistics data", "recipe", 0.0),
        ("health data", "health", 2 / 3),
        ("health data", "data", 1 / 3),
        ("public health", "health", 0.5),
        ("flood cases", "cases", 1 / 3),
        ("data", "data", 1.0),
        ("data", "recipe", 0.0),
    ],
)
def test_general_words_count_less(words: str, page: str, score: float) -> None:
    topic = Topic(words, {"data", "health", "public", "cases"}, {"data", "dataset"})
    assert topic.score(page.split()) == pytest.approx(score)


def test_general_words_alone_are_not_a_topic_where_there_are_others() -> None:
    topic = Topic("data about floods from rivers with that", {"about", "from", "with", "that"}, {"data"})
    assert topic.score(["data", "about", "from", "with", "that"]) == pytest.approx(1 / 3)
    assert topic.score(["floods", "rivers"]) == pytest.approx(2 / 3)
    asked = Topic("data about floods from", {"about", "from"}, {"data"})
    assert asked.score(["data", "about", "from", "recipe"]) < ON_TOPIC < asked.score(["floods"])


def test_everything_is_on_a_topic_without_words() -> None:
    assert Topic("of the", {"of", "the"}).score(["recipe"]) == 1.0


def taught(pages: int = 20) -> Topic:
    """A topic whose pages have words of their own; all pages have words about data."""
    topic = Topic("flood risk")
    for number in range(pages):
        topic.learn(
            {"flood": 2, "risk": 1, "gauge": 1, "runoff": 1, f"river{'abcd'[number % 4]}": 1, "csv": 3}
        )
        topic.learn({"school": 2, "pupil": 1, "csv": 3})
    return topic


def test_a_page_with_the_words_that_go_with_the_topic_is_on_it() -> None:
    topic = taught()
    assert topic.score(["gauge", "runoff", "rivera", "csv"]) == 1.0
    assert 0.2 < topic.score(["gauge", "csv"]) < 0.8
    assert topic.score(["school", "pupil", "csv"]) == 0.0


def test_what_all_pages_have_tells_no_topic() -> None:
    topic = taught()
    assert topic.score(["csv"]) == 0.0
    assert topic.terms[:2] == ["gauge", "runoff"]
    assert "csv" not in topic.terms[:6]
    assert "school" not in topic.terms


def test_one_page_teaches_terms_and_no_likeness() -> None:
    topic = taught(pages=1)
    assert topic.terms[:2] == ["gauge", "runoff"]
    assert topic.score(["gauge", "runoff"]) == 0.0


def test_loads_as_it_was_saved() -> None:
    topic, loaded = taught(13), Topic("flood risk")
    loaded.load(unpack(pack({"topic": topic.save()}))["topic"])
    page = {"flood": 1, "gauge": 1, "dam": 2}
    for each in (topic, loaded):
        each.learn(page)
    assert loaded.score(["gauge", "rivera"]) == topic.score(["gauge", "rivera"])
    assert (loaded.terms, loaded.version) == (topic.terms, topic.version)
    assert loaded.save() == topic.save()
