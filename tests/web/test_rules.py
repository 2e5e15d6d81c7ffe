from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.errors import ConfigError
from coati.web.rules import Refusal, Rules, Scope, TrapRule
from coati.web.urls import normalise
from tests.web.nasty import urls

START = "https://www.example.org/data/index.html"


@pytest.mark.parametrize(
    ("url", "domain", "host", "path"),
    [
        ("https://www.example.org/data/a", True, True, True),
        ("http://example.org/data/deeper/a", True, True, True),
        ("https://example.org:8443/data/a", True, True, True),
        ("https://www.example.org/data", True, True, False),
        ("https://www.example.org/database/a", True, True, False),
        ("https://www.example.org/", True, True, False),
        ("https://data.example.org/data/a", True, False, False),
        ("https://www.data.example.org/data/a", True, False, False),
        ("https://a.b.example.org/", True, False, False),
        ("https://notexample.org/data/a", False, False, False),
        ("https://example.org.evil.test/data/a", False, False, False),
        ("https://example.com/data/a", False, False, False),
        ("https://org/data/a", False, False, False),
        ("https://example.org@evil.test/data/a", False, False, False),
        ("https://evil.test/example.org/data/", False, False, False),
        ("https://evil.test/?example.org", False, False, False),
        ("https://example.org./data/a", False, False, False),
        ("https://127.0.0.1/data/a", False, False, False),
    ],
)
def test_the_scope_is_the_host_its_subdomains_or_its_folder(
    url: str, *, domain: bool, host: bool, path: bool
) -> None:
    for scope, inside in ((Scope.DOMAIN, domain), (Scope.HOST, host), (Scope.PATH, path)):
        assert Rules(START, scope).refusal(url) is (None if inside else Refusal.SCOPE)
    assert Rules(START, Scope.ANY).refusal(url) is None


def labels(url: str) -> list[str]:
    host = url.split("/")[2].rpartition("@")[2]
    parts = re.sub(r":\d*$", "", host).split(".")
    return parts[1:] if parts[0] == "www" and len(parts) > 2 else parts


@given(
    st.sampled_from(["a.test", "www.a.test", "b.a.test", "ab.a.test", "a.test.b", "a", "www.a", "b.a"]),
    st.data(),
)
def test_the_scope_agrees_with_a_comparison_of_labels_from_the_right(host: str, data: st.DataObject) -> None:
    other = data.draw(
        st.sampled_from(["a.test", "www.a.test", "b.a.test", "xa.test", "test", "c.b.a", "a", "www.a"])
    )
    start, url = f"http://{host}/", f"http://{other}/"
    mine, theirs = labels(start), labels(url)
    inside = theirs[-len(mine) :] == mine
    assert (Rules(start).refusal(url) is None) is inside


@pytest.mark.parametrize("start", ["http://www.org/", "http://www.localhost/"])
def test_a_host_of_two_labels_does_not_become_a_top_level_domain(start: str) -> None:
    assert Rules(start).refusal(start) is None
    assert Rules(start).refusal("http://example.org/") is Refusal.SCOPE


@pytest.mark.parametrize("start", ["http://127.0.0.1:8000/", "http://[::1]:8000/", "http://localhost/"])
def test_hosts_without_a_domain_are_their_own_scope(start: str) -> None:
    assert Rules(start).refusal(start + "x") is None
    assert Rules(start).refusal("http://192.168.0.1/") is Refusal.SCOPE


@pytest.mark.parametrize(
    "start", ["", "example.org", "mailto:x@example.org", "ftp://example.org/", "http://"]
)
def test_a_start_that_is_not_a_url_is_refused(start: str) -> None:
    with pytest.raises(ConfigError, match="does not begin with http"):
        Rules(start)


def test_the_start_is_taken_in_normal_form() -> None:
    rules = Rules("HTTP://Bücher.Example")
    assert rules.start_url == "http://xn--bcher-kva.example/"
    assert rules.refusal("http://daten.xn--bcher-kva.example/x") is None


@given(urls())
def test_any_url_in_normal_form_gets_an_answer(url: str) -> None:
    normal = normalise(url)
    if normal is not None:
        for scope in Scope:
            assert Rules(START, scope).refusal(normal) in {None, *Refusal}


def test_each_reason_in_the_order_in_which_they_are_looked_for() -> None:
    rules = Rules(
        "http://example.org/",
        include=(re.compile(r"/data/"), re.compile(r"/list")),
        exclude=(re.compile(r"print=1"),),
    )
    assert rules.refusal("http://other.test/a.png?print=1") is Refusal.SCOPE
    assert rules.refusal("http://example.org/data/a.PNG?print=1") is Refusal.EXTENSION
    assert rules.refusal("http://example.org/data/a?print=1") is Refusal.EXCLUDED
    assert rules.refusal("http://example.org/about") is Refusal.NOT_INCLUDED
    assert rules.refusal("http://example.org/data/" + "x" * 400) is Refusal.TOO_LONG
    assert rules.refusal("http://example.org/data/a/a/a") is Refusal.REPEATS
    assert rules.refusal("http://example.org/list") is None


def test_every_refusal_says_why_in_words() -> None:
    assert all(re.fullmatch(r"[a-z][A-Za-z: ]+", reason.value) for reason in Refusal)


def test_a_url_may_be_350_characters_longer_than_the_start() -> None:
    longest = "http://example.org/" + "x" * 350
    for traps in (TrapRule.OURS, TrapRule.PUBLISHED):
        rules = Rules("http://example.org/", traps=traps)
        assert rules.refusal(longest) is None
        assert rules.refusal(longest + "x") is Refusal.TOO_LONG
    assert Rules("http://example.org/", traps=TrapRule.OFF).refusal(longest + "x") is None


def test_length_counts_letters_not_what_they_take_on_the_way() -> None:
    letter = "%D0%B6"
    longest = "http://example.org/" + letter * 350
    ours, published = (
        Rules("http://example.org/", traps=rule) for rule in (TrapRule.OURS, TrapRule.PUBLISHED)
    )
    assert ours.refusal(longest) is None
    assert ours.refusal(longest + letter) is Refusal.TOO_LONG
    assert published.refusal(longest) is Refusal.TOO_LONG
    # Bytes that are no letter count as one each, as a reader would see them.
    assert ours.refusal("http://example.org/" + "%FF" * 350) is None
    assert ours.refusal("http://example.org/" + "%FF" * 351) is Refusal.TOO_LONG


def test_a_long_name_of_a_wanted_file_is_not_a_trap() -> None:
    url = "http://example.org/" + "x" * 400 + ".csv"
    assert Rules("http://example.org/").refusal(url) is None
    pdf = Rules("http://example.org/", wanted_extensions=frozenset({"pdf"}))
    assert pdf.refusal(url) is Refusal.TOO_LONG
    assert Rules("http://example.org/", traps=TrapRule.PUBLISHED).refusal(url) is Refusal.TOO_LONG
    # What repeats itself is one all the same.
    assert Rules("http://example.org/").refusal("http://example.org/a/a/a/b.csv") is Refusal.REPEATS


@given(st.text("ab/%61&=?.csv", max_size=500).map(lambda path: START + path))
def test_our_rule_refuses_nothing_that_the_published_one_admits(url: str) -> None:
    normal = normalise(url)
    if normal is not None and Rules(START, traps=TrapRule.PUBLISHED).refusal(normal) is None:
        assert Rules(START).refusal(normal) is None


@pytest.mark.parametrize(
    ("path", "trap"),
    [
        ("a/b/a/b/a", True),
        ("a/b/a/b", False),
        ("a/a", False),
        # Whole segments, and no empty ones.
        ("a/aa/aaa/aaaa", False),
        ("////x", False),
        ("a//a//a", True),
        ("aaa", False),
        # The same of the query's atoms.
        ("?x=1&x=1&x=1", True),
        ("?x=1&x=2&x=3", False),
        ("?x=1;x=1;x=1", True),
        ("?x=1&x=1", False),
        ("?&&&&", False),
        ("?aaaa", False),
        ("?x=aaa", False),
        # A segment and an atom are two things.
        ("a/a?a", False),
    ],
)
def test_a_trap_repeats_a_part_three_times(path: str, *, trap: bool) -> None:
    url = "http://example.org/" + path
    assert Rules("http://example.org/").refusal(url) is (Refusal.REPEATS if trap else None)
    assert Rules("http://example.org/", traps=TrapRule.OFF).refusal(url) is None


def test_the_blocklist_is_the_runs() -> None:
    rules = Rules("http://example.org/", blocked_extensions=frozenset({"exe"}))
    assert rules.refusal("http://example.org/a.png") is None
    assert rules.refusal("http://example.org/a.EXE") is Refusal.EXTENSION
    assert rules.refusal("http://example.org/a.exe/") is None
    assert rules.refusal("http://example.org/get?file=a.exe") is None
