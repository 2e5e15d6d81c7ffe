from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.strategies.known_urls import KnownUrls
from coati.strategies.state import pack, unpack

URLS = st.lists(st.sampled_from([f"http://a.test/{n}" for n in range(12)]) | st.text(min_size=1, max_size=6))


def storable(url: str) -> bool:
    return not any(0xD800 <= ord(character) < 0xE000 for character in url)


@given(URLS)
def test_urls_are_numbered_in_the_order_of_meeting(urls: list[str]) -> None:
    urls = [url for url in urls if storable(url)]
    known = KnownUrls()
    distinct = list(dict.fromkeys(urls))
    numbers = [known.add(url) for url in urls]
    assert [number for number in numbers if number is not None] == list(range(len(distinct)))
    assert [numbers[urls.index(url)] for url in distinct] == list(range(len(distinct)))
    assert len(known) == len(distinct)
    assert [known[number] for number in range(len(known))] == distinct
    assert all(url in known for url in distinct)
    assert "http://never.test/" not in known


@given(URLS)
def test_each_is_found_by_its_url_even_within_others(urls: list[str]) -> None:
    known = KnownUrls()
    for url in urls:
        if storable(url):
            known.add(url)
    for number in range(len(known)):
        assert known.find(known[number]) == number
    with pytest.raises(ValueError, match="is not known"):
        known.find("http://never.test/")


def test_a_url_that_lies_across_two_others_is_not_known() -> None:
    known = KnownUrls()
    for url in ("ab", "cd", "bc"):
        known.add(url)
    assert known.find("bc") == 2
    with pytest.raises(ValueError, match="da is not known"):
        known.find("da")


@given(URLS, URLS)
def test_what_was_saved_continues(urls: list[str], later: list[str]) -> None:
    known = KnownUrls()
    for url in filter(storable, urls):
        known.add(url)
    restored = KnownUrls()
    restored.add("http://forgotten.test/")
    restored.load(unpack(pack(known.save())))
    assert "http://forgotten.test/" not in restored
    for url in filter(storable, later):
        assert (url in restored) == (url in known)
        assert restored.add(url) == known.add(url)
    assert [restored[n] for n in range(len(restored))] == [known[n] for n in range(len(known))]


def test_what_cannot_be_kept_is_not_half_kept() -> None:
    known = KnownUrls()
    with pytest.raises(UnicodeEncodeError):
        known.add("http://a.test/\ud800")
    assert "http://a.test/\ud800" not in known
    assert len(known) == 0
    assert known.add("http://a.test/") == 0


def test_a_url_takes_little_memory() -> None:
    tracemalloc.start()
    known = KnownUrls()
    for number in range(100_000):
        known.add(f"http://www.example.org/statistics/tables/section-{number % 97}/page-{number:08}.html")
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken / len(known) < 220
