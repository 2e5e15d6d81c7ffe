"""What a watch drops and what it never drops, without any network."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.errors import ConfigError
from coati.web.session_ids import session_free
from coati.web.traps import Trap, TrapSettings, TrapWatch, shape_of
from tests.counted_calls import count_calls

BASE = "http://example.org"
SMALL = TrapSettings(max_urls_per_shape=10, max_chain=1000, max_equal_pages=3)


class Crawl:
    """Pages that are answered one after the other, and the links that are admitted."""

    def __init__(self, settings: TrapSettings) -> None:
        self.watch = TrapWatch(settings)
        self.known: set[str] = set()

    def page(self, path: str, *links: str, body: bytes = b"") -> dict[str, Trap]:
        urls = [BASE + link for link in links]
        fresh = [place for place, url in enumerate(urls) if url not in self.known]
        self.watch.answered(BASE + path, is_target=False)
        traps = self.watch.filter_links(BASE + path, body, urls, fresh)
        self.known.update(urls[place] for place in fresh if place not in traps)
        return {links[place]: trap for place, trap in traps.items()}

    def target(self, path: str) -> None:
        self.watch.answered(BASE + path, is_target=True)


# --- shapes and session ids ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/calendar/2024/1", "/calendar/1999/12"),
        ("/list?page=2", "/list?page=99999"),
        ("/get/7f3a9c21e0", "/get/0123456789abcdef"),
        ("/item/a1B2c3D4e5F6g7H8", "/item/9z8Y7x6W5v4U3t2S"),
    ],
)
def test_addresses_of_one_kind_have_one_shape(one: str, other: str) -> None:
    assert shape_of(BASE + one) == shape_of(BASE + other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("/a", "/b"), ("/a?x=1", "/a?y=1"), ("/a.csv", "/a.html"), ("/facade", "/decade")],
)
def test_other_addresses_have_other_shapes(one: str, other: str) -> None:
    assert shape_of(BASE + one) != shape_of(BASE + other)


@pytest.mark.parametrize(
    ("path", "free"),
    [
        ("/a;jsessionid=0A1B2C3D4E", "/a"),
        ("/a;jsessionid=0A1B2C3D4E/b?x=1", "/a/b?x=1"),
        ("/a?PHPSESSID=0123456789abcdef&x=1", "/a?x=1"),
        ("/a?x=1&sid=0123456789abcdef0123456789abcdef", "/a?x=1"),
        ("/a?ASPSESSIONIDQQABCD=KJHGFDSAPOIU", "/a"),
        ("/a?CFID=1234&CFTOKEN=98765432&x=1", "/a?x=1"),
        ("/a?session_id=abcdef123456", "/a"),
        ("/(S(lit3py55t21z5v55vlm25s55))/list.aspx", "/list.aspx"),
    ],
)
def test_session_ids_are_left_out(path: str, free: str) -> None:
    assert session_free(BASE + path) == BASE + free


@pytest.mark.parametrize(
    "path",
    [
        "/a?sid=12",
        "/survey?sid=population",
        "/a?s=search+words",
        "/a?CFID=12",
        "/sessions/2024",
        "/a?class=sid",
        "/a?inside=0123456789abcdef0123456789abcdef",
        "/a?",
        "/a?&&",
        "/?sess",
    ],
)
def test_what_only_looks_like_a_session_stays(path: str) -> None:
    assert session_free(BASE + path) == BASE + path


paths = st.text("abc019/;=&?.,-_%()sidSIDjessoncft", max_size=60).map(lambda text: f"{BASE}/{text}")


@given(paths)
def test_leaving_session_ids_out_shortens_and_ends(url: str) -> None:
    free = session_free(url)
    assert free.startswith(BASE + "/")
    assert len(free) <= len(url)
    while (again := session_free(free)) != free:
        assert len(again) < len(free)
        free = again


@given(paths, st.sampled_from(["jsessionid", "PHPSESSID", "sid"]), st.text("0123456789abcdef", min_size=32))
def test_urls_that_differ_by_a_session_only_are_the_same(url: str, name: str, value: str) -> None:
    joint = "&" if "?" in url else "?"
    assert session_free(f"{url}{joint}{name}=1{value}") == session_free(f"{url}{joint}{name}=2{value}")


# --- what is dropped ----------------------------------------------------------------------------


def test_an_endless_calendar_ends() -> None:
    crawl = Crawl(SMALL)
    for day in range(10):
        assert crawl.page(f"/day/{day}", f"/day/{day + 1}") == {}
    assert crawl.page("/day/10", "/day/11") == {"/day/11": Trap.ENDLESS}
    # Nothing else suffers.
    assert crawl.page("/day/10", "/day/12", "/about") == {"/day/12": Trap.ENDLESS}


def test_a_shape_that_keeps_bringing_targets_has_no_limit() -> None:
    crawl = Crawl(SMALL)
    for number in range(200):
        assert crawl.page(f"/set/{number}", f"/set/{number + 1}", f"/files/{number}.csv") == {}
        if number % 5 == 0:
            crawl.target(f"/files/{number}.csv")


def test_a_target_speaks_for_the_pages_on_its_way() -> None:
    crawl = Crawl(TrapSettings(max_urls_per_shape=10, max_chain=10))
    for number in range(100):
        assert crawl.page(f"/list/{number}", f"/list/{number + 1}", f"/set/{number}") == {}
        assert crawl.page(f"/set/{number}", f"/all/{number}") == {}
        assert crawl.page(f"/all/{number}", f"/get/{number}") == {}
        if number % 5 == 0:
            crawl.target(f"/get/{number}")


def test_a_long_list_is_admitted_before_any_of_it_is_requested() -> None:
    crawl = Crawl(SMALL)
    assert crawl.page("/list", *(f"/set/{number}" for number in range(1000))) == {}


def test_a_chain_without_targets_ends() -> None:
    crawl = Crawl(TrapSettings(max_chain=5))
    crawl.page("/", "/p?page=1")
    dropped = [crawl.page(f"/p?page={n}", f"/p?page={n + 1}") for n in range(1, 7)]
    assert dropped == [{}] * 5 + [{"/p?page=7": Trap.TOO_DEEP}]


def test_many_pages_side_by_side_are_not_a_chain() -> None:
    crawl = Crawl(TrapSettings(max_chain=5))
    for number in range(50):
        crawl.page("/", f"/p/{number}")
        assert crawl.page(f"/p/{number}", f"/q/{number}") == {}


def test_sessions_are_met_once() -> None:
    crawl = Crawl(TrapSettings())
    ids = [f"{number:032x}" for number in range(4)]
    assert crawl.page("/", "/a", f"/b?sid={ids[0]}") == {}
    dropped = crawl.page("/a", f"/a?sid={ids[1]}", f"/b?sid={ids[2]}", "/b", f"/c;jsessionid={ids[3]}")
    assert dropped == {
        f"/a?sid={ids[1]}": Trap.DUPLICATE,
        f"/b?sid={ids[2]}": Trap.DUPLICATE,
        "/b": Trap.DUPLICATE,
    }


def test_one_page_under_many_addresses_brings_no_more_links() -> None:
    crawl = Crawl(SMALL)
    names = ["one", "two", "three", "four", "five"]
    dropped = [crawl.page(f"/{n}", f"/{n}/a", body=f"<p>no /{n} here".encode()) for n in names]
    assert dropped == [{}, {}, {}, {"/four/a": Trap.DUPLICATE}, {"/five/a": Trap.DUPLICATE}]


def test_equal_pages_that_lead_to_targets_continue() -> None:
    crawl = Crawl(SMALL)
    for year in range(1990, 2020):
        assert crawl.page(f"/{year}/", f"/{year}/data.csv", body=b"<a href=data.csv>") == {}
        crawl.target(f"/{year}/data.csv")


def test_a_shape_that_always_says_the_same_is_left_alone() -> None:
    crawl = Crawl(SMALL)
    crawl.page("/list", *(f"/item/{number}" for number in range(9)))
    for number in range(6):
        crawl.page(f"/item/{number}", "/list", body=b"gone: /item/%d" % number)
    assert crawl.page("/more", "/item/100", "/other") == {"/item/100": Trap.DUPLICATE}
    crawl.page("/item/7", "/list", body=b"here it is")
    assert crawl.page("/more", "/item/100") == {}


# --- for every site -----------------------------------------------------------------------------

sites = st.lists(
    st.tuples(st.integers(0, 30), st.lists(st.integers(0, 30), max_size=5), st.booleans()), max_size=60
)


@given(sites)
def test_a_site_within_the_limits_is_never_touched(visits: list[tuple[int, list[int], bool]]) -> None:
    crawl = Crawl(TrapSettings(max_urls_per_shape=31, max_chain=61, max_equal_pages=61))
    for number, links, is_target in visits:
        if is_target:
            crawl.target(f"/x/{number}")
        else:
            assert crawl.page(f"/x/{number}", *dict.fromkeys(f"/x/{link}" for link in links)) == {}


@given(sites, st.integers(1, 5))
def test_the_same_visits_give_the_same_drops(visits: list[tuple[int, list[int], bool]], limit: int) -> None:
    settings = TrapSettings(max_urls_per_shape=limit, max_chain=limit, max_equal_pages=limit)
    twins = Crawl(settings), Crawl(settings)
    for number, links, is_target in visits:
        paths = dict.fromkeys(f"/x/{link}" for link in links)
        if is_target:
            for crawl in twins:
                crawl.target(f"/x/{number}")
        else:
            one, other = (crawl.page(f"/x/{number}", *paths, body=b"x") for crawl in twins)
            assert one == other


@given(st.integers(1, 8), st.integers(1, 20))
def test_any_barren_trap_ends(links_a_page: int, limit: int) -> None:
    crawl = Crawl(TrapSettings(max_urls_per_shape=limit, max_chain=10_000))
    queue, asked, last = ["/n/0"], 0, 0
    while queue and asked < 1000:
        asked += 1
        new = [f"/n/{last + i + 1}" for i in range(links_a_page)]
        last += links_a_page
        dropped = crawl.page(queue.pop(0), *new)
        queue += [path for path in new if path not in dropped]
    assert asked <= 1 + limit + links_a_page * max(1, limit)


def test_limits_must_leave_something() -> None:
    for name in ("max_urls_per_shape", "max_chain", "max_equal_pages"):
        with pytest.raises(ConfigError, match=name):
            replace(TrapSettings(), **{name: 0})  # type: ignore[arg-type]


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_SHAPES", "_LINKS", "_BODIES"):
        monkeypatch.setattr(f"coati.web.traps.{name}", 50)
    crawl = Crawl(TrapSettings())
    for number in range(500):
        word = "".join(chr(97 + int(digit)) for digit in str(number))
        crawl.page(f"/{word}", f"/{word}/x;jsessionid={number:08}", body=word.encode())
    for name in ("_shapes", "_origins", "_sessions", "_bodies"):
        assert 0 < len(getattr(crawl.watch, name)) <= 100


def test_a_page_of_known_links_costs_next_to_nothing() -> None:
    def calls(links: int) -> int:
        watch = TrapWatch(TrapSettings())
        urls = [f"{BASE}/menu/{number}" for number in range(links)]

        def page() -> None:
            watch.answered(BASE + "/set/1", is_target=False)
            watch.filter_links(BASE + "/set/1", b"", urls, ())

        page()
        return count_calls(page)

    assert calls(links=1000) == calls(links=100) < 50


def test_a_visited_page_counts_neither_as_equal_nor_as_barren() -> None:
    watch = TrapWatch(TrapSettings(max_equal_pages=2, max_chain=1, max_urls_per_shape=1))
    url = BASE + "/day/1"
    watch.answered(url, is_target=False)
    for _ in range(50):
        assert watch.filter_links(url, b"the same", [BASE + "/day/2"], [], visited=True) == {}
    # It is looked at as if it had never been seen again.
    assert watch.filter_links(url, b"the same", [BASE + "/set/2"], [0], visited=True) == {}
