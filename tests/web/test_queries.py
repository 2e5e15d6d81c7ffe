from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coati.errors import UsageError
from coati.web.queries import Ability, Query, parse_query
from coati.web.rules import Rules, Scope
from coati.web.urls import (
    MAX_URL_CHARS,
    extension_of,
    host_of,
    is_query,
    normalise,
    path_of,
    query_of,
    resolve,
)

engines = st.from_regex(r"[a-z][a-z0-9-]{0,20}", fullmatch=True)
words = st.text(max_size=60).filter(lambda text: any(c.isprintable() and not c.isspace() for c in text))
queries = st.builds(Query, engines, words, page=st.integers(1, 9999)) | st.builds(
    Query,
    engines,
    st.sampled_from(["http://example.org/", "https://a.test/b?c=d&page=2#e", "http://[::1]:80/%2F"]),
    st.sampled_from([Ability.RELATED, Ability.BACKLINKS]),
    st.integers(1, 9999),
)


@given(queries)
@example(Query("a", "+ & = % # ? / \\ é page=3"))
def test_an_address_gives_its_query_back(query: Query) -> None:
    assert parse_query(query.address) == query
    assert is_query(query.address)
    assert query.address.isascii()
    assert " " not in query.address
    assert "#" not in query.address


@given(queries)
def test_a_query_is_of_no_site(query: Query) -> None:
    address = query.address
    assert host_of(address) == f"search://{query.engine}"
    assert path_of(address) == "/"
    assert not extension_of(address)
    assert query_of(address).startswith(query.ability.value + "=")
    # No web address has such a host.
    assert normalise(f"http://{host_of(address)}/") != address
    assert host_of(normalise(f"http://{query.engine}/") or "http://a/") != host_of(address)


@pytest.mark.parametrize(
    "same",
    [
        "search://local/?q=food+security",
        "search://local?q=food+security",
        "search://local/?q=%20food%20%20security+",
        "search://local/?page=1&q=food+security",
        "search://local/?q=food%0Asecurity&page=1",
        "search://local/?q=food%00security",
    ],
)
def test_one_query_has_one_address(same: str) -> None:
    assert parse_query(same).address == "search://local/?q=food+security"


def test_the_same_word_in_another_unicode_form_is_the_same_query() -> None:
    assert Query("local", "cafe\u0301") == Query("local", "caf\u00e9")


@pytest.mark.parametrize(
    ("odd", "complaint"),
    [
        ("search:", "is an empty query"),
        ("search:local", "is an empty query"),
        ("search:local?q=x", "is an empty query"),
        ("search://", "is an empty query"),
        ("search://local/", "is an empty query"),
        ("search:///?q=x", "names no search engine"),
        ("search://?q=x", "names no search engine"),
        ("search://Local/?q=x", "is not a name of a search engine"),
        ("search://www.example.org/?q=x", "is not a name of a search engine"),
        ("search://user@local/?q=x", "is not a name of a search engine"),
        ("search://local:80/?q=x", "is not a name of a search engine"),
        ("search://local/path?q=x", "is not a name of a search engine"),
        ("search://local/?", "must have one of"),
        ("search://local/?page=2", "must have one of"),
        ("search://local/?ask=x", "must have one of"),
        ("search://local/?q=x&q=y", "must have one of"),
        ("search://local/?q=x&related=http://a.test/", "must have one of"),
        ("search://local/?q=x&lang=en", "must have one of"),
        ("search://local/?q=x&page=2&page=2", "must have one of"),
        ("search://local/?q=", "needs words"),
        ("search://local/?q=+%09", "needs words"),
        ("search://local/?related=", "needs a URL"),
        ("search://local/?backlinks=search://local/?q=x", "needs a URL"),
        ("search://local/?related=javascript:alert(1)", "needs a URL"),
        ("search://local/?q=x&page=0", "is not a page of results"),
        ("search://local/?q=x&page=-1", "is not a page of results"),
        ("search://local/?q=x&page=two", "is not a page of results"),
        ("search://local/?q=x&page=", "is not a page of results"),
        ("search://local/?q=x&page=\u0662", "is not a page of results"),
        ("search://local/?q=x&page=99999", "is not a page of results"),
        ("search://local/?q=" + "x" * MAX_URL_CHARS, "not the URL of a query"),
        ("SEARCH://local/?q=x", "not the URL of a query"),
        ("http://local/?q=x", "not the URL of a query"),
        ("", "not the URL of a query"),
    ],
)
def test_what_is_not_a_query_says_why(odd: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_query(odd)


@given(st.text() | st.text().map(lambda text: "search:" + text))
def test_nothing_else_is_raised(text: str) -> None:
    try:
        query = parse_query(text)
    except UsageError:
        return
    assert parse_query(query.address) == query


def test_a_query_that_is_too_long_is_none() -> None:
    with pytest.raises(UsageError, match="too long"):
        Query("local", "é" * 1000)
    with pytest.raises(UsageError, match="no page 0"):
        Query("local", "x", page=0)


@pytest.mark.parametrize(
    "reference", ["search://local/?q=x", "SEARCH://local/?q=x", "search:local", "//local/?q=x", "?q=x"]
)
def test_no_page_leads_to_a_query(reference: str) -> None:
    """A hostile page cannot spend a quota, and neither can an answer of an engine."""
    assert resolve("search://local/?q=first", reference) is None
    assert not is_query(resolve("http://example.org/", reference) or "")
    assert normalise(reference) is None


def test_a_crawl_may_begin_with_a_query() -> None:
    rules = Rules("search://local?q=rain")
    assert rules.start_url == "search://local/?q=rain"
    assert rules.refusal("search://local/?q=snow") is None
    with pytest.raises(UsageError, match="names no search engine"):
        Rules("search:///?q=rain")


@pytest.mark.parametrize("scope", list(Scope))
def test_the_rules_of_a_site_are_not_for_queries(scope: Scope) -> None:
    rules = Rules("http://example.org/a/", scope)
    assert rules.refusal(Query("local", "a a a a " * 100).address) is None
