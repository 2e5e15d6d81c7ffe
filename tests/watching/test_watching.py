"""A watch over real HTTP: what it finds from cycle to cycle, and that nothing is lost."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from itertools import count
from pathlib import Path

import pytest

from coati.errors import ConfigError, UsageError
from coati.file_lock import FileLock
from coati.jobs.runs import Run
from coati.jobs.verifying import verify
from coati.live.stop_signal import StopSignal
from coati.runs.changes_file import read_changes
from coati.runs.errors import RunLockedError
from coati.runs.reader import RunReader
from coati.settings.start_model_file import write_start_model
from coati.stop_reasons import StopReason
from coati.strategies.discovery.start_model import StartModel
from coati.strategies.revisits.longest_waits import LongestWaits
from coati.strategies.revisits.scheduler import DATED, EXPLORED
from coati.watching.cycle import CycleResult
from coati.watching.known_pages import read_known
from coati.watching.notifying import TOLD, UNREACHED, ChangeListeners
from coati.watching.past_changes import past_changes
from coati.watching.watch import WatchPlace, find_watch, watch_once
from tests.cli.commands import Coati, coati
from tests.live.scripted import Exchange, Route, Script, answer, file, page, scripted

__all__ = ["coati"]

OPTIONS: dict[str, object] = {"per_cycle": 10, "follow": 10, "check": 10, "scheduler": "rr"}

# Each look at the watch is an hour after the one before.
hours = count(2_000_000_000, 3600)


def tagged(body: bytes, tag: str) -> Route:
    """Answer with a file that says whether it has changed."""

    def route(exchange: Exchange) -> None:
        if exchange.headers.get("If-None-Match") == tag:
            exchange.answer(304, ETag=tag)
        else:
            exchange.answer(200, body, "text/csv", ETag=tag)

    return route


@pytest.fixture
def site() -> Iterator[Script]:
    routes: dict[str, Route] = {
        "/": page("/data", "/about"),
        "/data": page("/a.csv", "/b.csv"),
        "/about": page("/"),
        "/a.csv": tagged(b"a\n1\n", '"a1"'),
        "/b.csv": tagged(b"b\n1\n", '"b1"'),
    }
    with scripted(routes) as script:
        yield script


@pytest.fixture
def crawled(site: Script, coati: Coati) -> Path:
    crawl = coati("crawl", site.start, "--out", "site", "--delay", "0", "--quiet", "--strategy", "bfs")
    assert crawl.code == 0
    return Path("site").absolute()


def place(source: Path, **more: object) -> WatchPlace:
    return find_watch([source], {**OPTIONS, **more}, None)


def cycle(source: Path, listeners: ChangeListeners | None = None, **more: object) -> CycleResult:
    return once(place(source, **more), listeners)


def once(found: WatchPlace, listeners: ChangeListeners | None = None) -> CycleResult:
    now = float(next(hours))
    return watch_once(found, lambda: now, listeners)


def told(result: CycleResult) -> list[tuple[str, str]]:
    return [(change.what, change.url.rpartition("/")[2]) for change in result.changes]


def test_the_first_cycle_looks_and_announces_nothing(site: Script, crawled: Path) -> None:
    site.asked.clear()
    first = cycle(crawled)
    # The three pages of this small site, and the usual place of a sitemap, where there is none.
    assert (told(first), first.pages, first.followed, first.checked) == ([], 4, 0, 0)
    assert sorted(site.paths) == ["/", "/about", "/data", "/robots.txt", "/sitemap.xml"]
    site.asked.clear()
    assert cycle(crawled).pages == 3
    assert "/sitemap.xml" not in site.paths


def test_new_changed_and_gone_files_are_found_and_kept(site: Script, crawled: Path) -> None:
    cycle(crawled)
    site.routes["/data"] = page("/a.csv", "/b.csv", "/c.csv", "/news")
    site.routes["/c.csv"] = file(b"c\n1\n")
    site.routes["/news"] = page("/d.csv")
    site.routes["/d.csv"] = file(b"d\n1\n")
    site.routes["/a.csv"] = tagged(b"a\n2\n", '"a2"')
    del site.routes["/b.csv"]
    second = cycle(crawled)
    assert sorted(told(second)) == [("changed", "a.csv"), ("new", "c.csv"), ("new", "d.csv")]
    assert told(cycle(crawled)) == []
    assert told(cycle(crawled)) == [("gone", "b.csv")]
    folder = crawled.with_name("site.watch")
    changes = {(change.what, change.url.rpartition("/")[2]): change for change in read_changes(folder)}
    assert len(changes) == 4
    new = changes["changed", "a.csv"]
    assert (folder / "files" / new.file).read_bytes() == b"a\n2\n"
    assert changes["new", "d.csv"].found_on.endswith("/news")


def test_of_a_small_site_pages_without_files_are_watched_as_well(site: Script, crawled: Path) -> None:
    cycle(crawled)
    site.routes["/about"] = page("/", "/press")
    site.routes["/press"] = page("/press.csv")
    site.routes["/press.csv"] = file(b"p\n1\n")
    assert told(cycle(crawled)) == [("new", "press.csv")]


def test_where_few_pages_have_files_fifty_are_watched(site: Script, coati: Coati) -> None:
    others = [f"/other/{number}" for number in range(60)]
    site.routes["/"] = page("/data", *others)
    site.routes.update(dict.fromkeys(others, page("/")))
    site.routes["/other/59"] = page("/one-more")
    site.routes["/one-more"] = page("/")
    coati("crawl", site.start, "--out", "large", "--delay", "0", "--quiet", "--strategy", "bfs")
    pages = place(Path("large").absolute()).known.pages
    assert len(pages) == 50
    # Before others, those that led to pages which no other led to.
    assert {f"{site.base}{path}" for path in ("/", "/data", "/other/59")} <= set(pages)


def test_old_versions_go_but_their_history_stays(site: Script, crawled: Path) -> None:
    cycle(crawled)
    for number in range(2, 6):
        site.routes["/a.csv"] = tagged(f"a\n{number}\n".encode(), f'"a{number}"')
        assert told(cycle(crawled, keep_versions=2)) == [("changed", "a.csv")]
    # Back to a version whose file is gone: it is one more change, and kept again.
    site.routes["/a.csv"] = tagged(b"a\n2\n", '"a6"')
    assert told(cycle(crawled)) == [("changed", "a.csv")]
    folder = crawled.with_name("site.watch")
    assert sorted(path.read_bytes() for path in (folder / "files").iterdir()) == [b"a\n2\n", b"a\n5\n"]
    assert [run.path.read_bytes() for run in Run(folder).files()] == [b"a\n5\n", b"a\n2\n"]
    assert verify(folder).whole
    with RunReader(folder) as reader:
        rows = reader.connection.execute("SELECT version, file FROM targets ORDER BY version").fetchall()
    assert [bool(row["file"]) for row in rows] == [False, False, False, True, True]


def test_what_did_not_change_costs_no_download(site: Script, crawled: Path) -> None:
    cycle(crawled)
    site.asked.clear()
    second = cycle(crawled)
    assert (told(second), second.checked) == ([], 2)
    conditions = {asked.path: asked.headers.get("if-none-match") for asked in site.asked}
    assert (conditions["/a.csv"], conditions["/b.csv"]) == ('"a1"', '"b1"')


def test_what_a_killed_cycle_could_not_tell_the_next_one_tells(site: Script, crawled: Path) -> None:
    cycle(crawled)
    site.routes["/data"] = page("/a.csv", "/b.csv", "/c.csv")
    site.routes["/c.csv"] = file(b"c\n1\n")
    assert told(cycle(crawled)) == [("new", "c.csv")]
    folder = crawled.with_name("site.watch")
    (folder / "changes.jsonl").write_text('{"id": "half a li', encoding="utf-8")
    assert told(cycle(crawled)) == [("new", "c.csv")]
    assert told(cycle(crawled)) == []
    assert [change.url.rpartition("/")[2] for change in read_changes(folder)] == ["c.csv"]


def test_a_command_and_a_hook_are_told_at_least_once(site: Script, crawled: Path, tmp_path: Path) -> None:
    got: list[dict[str, str]] = []

    def hook(exchange: Exchange) -> None:
        got.append(json.loads(exchange.rfile.read(int(exchange.headers["Content-Length"]))))
        exchange.answer(500 if len(got) == 1 else 200)

    cycle(crawled)
    site.routes["/data"] = page("/a.csv", "/b.csv", "/c.csv")
    site.routes["/c.csv"] = file(b"c\n1\n")
    with scripted({}) as other:
        other.routes["/hook"] = hook
        script = f'echo "$1 $COATI_URL" >> {tmp_path}/told'
        listeners = ChangeListeners.named(f"sh -c '{script}' sh {{what}}", other.base + "/hook")
        failed = cycle(crawled, listeners)
        assert failed.messages[-1].endswith("the hook responded with status 500")
        assert not (crawled.with_name("site.watch") / TOLD).exists()
        cycle(crawled, listeners)
        cycle(crawled, listeners)
    assert [change["url"].rpartition("/")[2] for change in got] == ["c.csv", "c.csv"]
    assert got[0]["id"] == got[1]["id"]
    lines = (tmp_path / "told").read_text(encoding="utf-8").splitlines()
    assert lines == [f"new {site.base}/c.csv"] * 2


@pytest.mark.parametrize(
    "response",
    [
        b"no HTTP\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: \x1b[2J\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"",
    ],
)
def test_a_hook_that_fails_is_told_without_its_address_and_not_asked_for_every_change(
    site: Script, crawled: Path, response: bytes
) -> None:
    cycle(crawled)
    new = [f"/{number}.csv" for number in range(5)]
    site.routes["/data"] = page(*new)
    site.routes.update({path: file(path.encode()) for path in new})
    with scripted({"*": lambda exchange: exchange.raw(response)}) as other:
        listeners = ChangeListeners.named("", f"{other.base}/s3cretw0rd?key=s3cretw0rd")
        messages = cycle(crawled, listeners).messages
        assert len(other.asked) == UNREACHED
    assert sum("the hook could not be reached: " in message for message in messages) == UNREACHED
    assert messages[-1].endswith("other changes will be reported after the next cycle")
    assert not [message for message in messages if "s3cretw0rd" in message]


def test_nobody_is_told_more_after_a_stop(site: Script, crawled: Path) -> None:
    cycle(crawled)
    site.routes["/data"] = page("/a.csv", "/b.csv", "/c.csv", "/d.csv")
    site.routes.update({"/c.csv": file(b"c\n1\n"), "/d.csv": file(b"d\n1\n")})
    stop = StopSignal()

    def hook(exchange: Exchange) -> None:
        stop.set()
        exchange.answer(200)

    with scripted({"*": hook}) as other:
        listeners = ChangeListeners.named("", other.base)
        watch_once(place(crawled), lambda: float(next(hours)), listeners, stop=stop)
        assert len(other.asked) == 1
        cycle(crawled, listeners)
        assert len(other.asked) == 2


def test_before_its_time_no_cycle_begins_and_nobody_waits(site: Script, crawled: Path) -> None:
    cycle(crawled)
    cycle(crawled)
    asked = len(site.asked)
    now = float(next(hours))
    for _ in range(2):
        result = watch_once(place(crawled), lambda: now)
        assert result.stop is StopReason.FINISHED
    # The hour had one cycle, and it has gone by.
    assert len(site.asked) > asked
    assert result.requests == 0
    # The fourth session had nothing to do.
    assert "in 3 cycles." in (crawled.with_name("site.watch") / "report.html").read_text(encoding="utf-8")


def test_the_feed_is_well_formed_and_lists_what_is_new(site: Script, crawled: Path) -> None:
    from xml.etree import ElementTree as ET

    cycle(crawled)
    site.routes["/data"] = page("/a.csv", "/b.csv", "/c&d.csv")
    site.routes["/c&d.csv"] = file(b"c\n1\n")
    cycle(crawled)
    root = ET.parse(crawled.with_name("site.watch") / "feed.xml").getroot()  # noqa: S314 - our own file
    atom = "{http://www.w3.org/2005/Atom}"
    assert root.tag == f"{atom}feed"
    for part in ("title", "id", "updated"):
        assert root.findtext(atom + part)
    links = [link.get("href") for link in root.iter(f"{atom}link")]
    assert links == [f"{site.base}/c&d.csv"]


def test_the_report_has_a_calendar_and_says_why_pages_are_visited(site: Script, crawled: Path) -> None:
    cycle(crawled)
    site.routes["/data"] = page("/a.csv", "/b.csv", "/c.csv")
    site.routes["/c.csv"] = file(b"c\n1\n")
    cycle(crawled)
    cycle(crawled)
    folder = crawled.with_name("site.watch")
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert report.count('class="calendar"') == 2
    assert "The last cycle was finished." in report
    assert report.count('class="shade4"') == 2
    assert "1 new, 0 changed, 0 gone" in report
    assert "2 × waited longest" in report


def test_a_watched_page_is_explained_by_its_visits(site: Script, crawled: Path, coati: Coati) -> None:
    def tagged_page(exchange: Exchange) -> None:
        exchange.answer(304 if exchange.headers.get("If-None-Match") else 200, page_body, ETag='"1"')

    page_body = '<a href="/a.csv">a</a>'
    site.routes["/data"] = tagged_page
    for _ in range(22):
        cycle(crawled)
    said = coati("explain", "/data", "--run", "site.watch")
    assert "/data: page" in said.out
    assert "22 visits, about every 1 h" in said.out
    assert "21 × it had waited longest" in said.out
    assert "unchanged 21 ×" in said.out
    assert said.out.count("chosen:") == 3
    as_json = json.loads(coati("explain", "/data", "--run", "site.watch", "--format", "json").out)
    assert as_json["watched"]["visits"] == 22


def test_a_page_that_is_known_and_not_watched_is_explained(site: Script, crawled: Path, coati: Coati) -> None:
    site.routes["/data"] = page("/a.csv", "/old")
    cycle(crawled)
    said = coati("explain", "/old", "--run", "site.watch").out
    assert "a watch visits the pages that link to files, and follows new links" in said
    assert "expected more from other links" not in said
    assert "same place" not in said
    report = Path("site.watch/report.html").read_text(encoding="utf-8")
    assert "<code>coati explain PAGE --run FOLDER</code>" in report
    # Nobody is to do anything about addresses that a watch leaves alone.
    assert "not requested" not in report


def test_a_site_that_moved_is_told_as_such(site: Script, coati: Coati) -> None:
    site.routes["/"] = page(*(f"/p{number}" for number in range(12)))
    for number in range(12):
        site.routes[f"/p{number}"] = page(f"/{number}.csv")
        site.routes[f"/{number}.csv"] = file(f"{number}\n".encode())
    assert coati("crawl", site.start, "--out", "site", "--delay", "0", "--quiet").code == 0
    source = Path("site").absolute()
    assert not cycle(source, per_cycle=20).moved
    for number in range(12):
        del site.routes[f"/p{number}"]
    assert cycle(source, per_cycle=20).moved


def test_sitemaps_and_feeds_that_the_site_offers_are_watched(site: Script, crawled: Path) -> None:
    def listed(*paths: str) -> Route:
        entries = "".join(f"<url><loc>{site.base}{path}</loc></url>" for path in paths)
        return lambda exchange: exchange.answer(200, f"<urlset>{entries}</urlset>", "application/xml")

    def fed(*paths: str) -> Route:
        items = "".join(f"<item><link>{site.base}{path}</link></item>" for path in paths)
        return lambda exchange: exchange.answer(200, f"<rss><channel>{items}</channel></rss>", "text/xml")

    head = '<link rel="alternate" type="application/rss+xml" href="news.rss"><a href="/data">Data</a>'
    site.routes["/"] = lambda exchange: exchange.answer(200, head)
    robots = f"Sitemap: {site.base}/map.xml\n"
    site.routes["/robots.txt"] = lambda exchange: exchange.answer(200, robots, "text/plain")
    site.routes["/map.xml"] = listed("/data", "/old.csv")
    site.routes["/news.rss"] = fed("/about")
    first = cycle(crawled)
    assert (told(first), first.pages) == ([], 5)
    site.routes["/map.xml"] = listed("/data", "/old.csv", "/mapped.csv")
    site.routes["/news.rss"] = fed("/fed.csv", "/about")
    for name in ("mapped", "fed", "old"):
        site.routes[f"/{name}.csv"] = file(name.encode())
    assert sorted(told(cycle(crawled))) == [("new", "fed.csv"), ("new", "mapped.csv")]


def test_a_page_with_a_new_date_in_a_sitemap_is_next(site: Script, crawled: Path, coati: Coati) -> None:
    def listed_now() -> Route:
        date = datetime.fromtimestamp(next(hours), UTC).isoformat()
        entry = f"<url><loc>{site.base}/data</loc><lastmod>{date}</lastmod></url>"
        return lambda exchange: exchange.answer(200, f"<urlset>{entry}</urlset>", "application/xml")

    site.routes["/sitemap.xml"] = listed_now()
    for _ in range(2):
        cycle(crawled, per_cycle=3, check=0)
    site.routes["/sitemap.xml"] = listed_now()
    cycle(crawled, per_cycle=3, check=0)
    with RunReader(place(crawled).folder) as run:
        asked = run.connection.execute("SELECT url, arm FROM requests ORDER BY chosen_event DESC LIMIT 3")
        assert [tuple(row) for row in asked] == [
            (f"{site.base}/", EXPLORED),
            (f"{site.base}/data", DATED),
            (f"{site.base}/sitemap.xml", EXPLORED),
        ]
    said = coati("explain", "/data", "--run", "site.watch")
    assert "a sitemap or feed says that it changed" in said.out


def test_a_page_that_is_gone_is_visited_no_more(site: Script, crawled: Path) -> None:
    cycle(crawled)
    del site.routes["/data"]
    results = [cycle(crawled) for _ in range(4)]
    assert [result.pages for result in results] == [3, 3, 3, 2]
    said = [any("no longer visited" in message for message in result.messages) for result in results]
    assert said == [False, False, True, False]


@pytest.mark.usefixtures("crawled")
def test_where_no_page_is_left_that_is_said_and_no_next_cycle_is_promised(site: Script, coati: Coati) -> None:
    site.routes["/robots.txt"] = file(b"User-agent: *\n", "text/plain")
    command = ("watch", "site", "--once", "--every", "1ms")
    assert coati(*command).code == 0
    del site.routes["/data"], site.routes["/"], site.routes["/about"]
    assert [coati(*command).code for _ in range(3)] == [0, 0, 3]
    again = coati(*command, "--every", "1h")
    assert again.code == 3
    assert "no page is left to visit" in again.err
    assert "Crawl it again" in again.err.replace("\n", " ")
    assert "next cycle" not in again.err


def test_a_watch_whose_scheduler_is_gone_goes_on_with_the_default(
    site: Script, crawled: Path, coati: Coati
) -> None:
    cycle(crawled)
    cycle(crawled)
    options = crawled.with_name("site.watch") / "watch.toml"
    options.write_text(options.read_text().replace('"rr"', '"arrivals-rr"'))
    site.routes["/data"] = page("/a.csv", "/b.csv", "/c.csv")
    site.routes["/c.csv"] = file(b"c\n1\n")
    found = find_watch([options.parent], {}, None)
    assert "no scheduler 'arrivals-rr'" in "".join(found.notes)
    assert (found.options.scheduler, found.resumed) == ("arrivals", True)
    # The snapshots are of the other scheduler; the log restores what was known.
    assert told(once(found)) == [("new", "c.csv")]
    assert find_watch([options.parent], {}, None).notes == ()
    options.write_text(options.read_text().replace('"arrivals"', '"arrivals-rr"'))
    assert find_watch([options.parent], {"scheduler": "rr"}, None).notes == ()
    assert "Note: this version of Coati has no" in coati("watch", "site", "--once").err


def test_more_new_links_than_are_followed_are_told_of(site: Script, crawled: Path) -> None:
    cycle(crawled, follow=2)
    site.routes["/data"] = page("/a.csv", "/b.csv", *[f"/new{number}.csv" for number in range(60)])
    (message,) = cycle(crawled, follow=2).messages
    assert message.startswith("58 new links wait to be followed, for more than 29 cycles.")


def test_a_wrong_value_in_the_file_of_a_watch_is_named(crawled: Path, coati: Coati) -> None:
    cycle(crawled)
    options = crawled.with_name("site.watch") / "watch.toml"
    good = options.read_text()
    for line, complaint in (
        ('per_cycle = "many"', "per_cycle: 'many' is not a whole number"),
        ("follow = -1", "follow: -1 must be at least 0"),
        ("perr_cycle = 3", "did you mean 'per_cycle'?"),
    ):
        name = line.partition(" ")[0]
        kept = [each for each in good.splitlines() if not each.startswith(name)]
        options.write_text("\n".join([line, *kept]))
        said = coati("watch", "site.watch", "--once")
        assert (said.code, complaint in said.err) == (2, True), said.err
    options.write_text(good)
    assert coati("watch", "site.watch", "--once").code == 0


def test_a_snapshot_of_an_older_form_is_passed_over(
    site: Script, crawled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scheduler of an earlier version kept less; the log has all that it needs."""
    monkeypatch.setattr(LongestWaits, "save", lambda _: {})
    cycle(crawled, scheduler="arrivals")
    cycle(crawled, scheduler="arrivals")
    monkeypatch.undo()
    site.routes["/data"] = page("/a.csv", "/b.csv", "/c.csv")
    site.routes["/c.csv"] = file(b"c\n1\n")
    result = cycle(crawled, scheduler="arrivals")
    assert any("is ignored" in message for message in result.messages)
    assert told(result) == [("new", "c.csv")]


def test_a_model_says_which_new_links_count(site: Script, crawled: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    words = StartModel(("budget", "holiday"), (3.0, -3.0), (5, 5), 20, -0.5)
    write_start_model(model, words, {})
    relevant = f"model={model}"
    cycle(crawled, relevant=relevant)
    site.routes["/data"] = page("/a.csv", "/b.csv", "/budget-1.csv", "/holiday-1.csv")
    for name in ("budget-1", "holiday-1"):
        site.routes[f"/{name}.csv"] = file(name.encode())
    assert told(cycle(crawled)) == [("new", "budget-1.csv")]
    with pytest.raises(ConfigError, match=r"cannot be read"):
        place(crawled, relevant="model=missing.json")


def test_a_second_process_leaves_a_cycle_alone(crawled: Path) -> None:
    found = place(crawled)
    once(found)
    lock = FileLock(found.folder / "state" / "watch.lock", names_holder=True)
    before = (found.folder / "watch.toml").stat().st_mtime_ns
    with pytest.raises(RunLockedError, match="in the middle of a cycle of process"):
        once(found)
    lock.release()
    assert (found.folder / "watch.toml").stat().st_mtime_ns == before


def test_a_site_that_is_down_for_a_cycle_is_asked_again(site: Script, crawled: Path) -> None:
    cycle(crawled)
    site.routes["/data"] = page("/a.csv", "/b.csv", "/c.csv")
    site.routes["/c.csv"] = answer(404)
    assert told(cycle(crawled)) == []
    assert read_changes(crawled.with_name("site.watch")) == []


def test_the_crawl_stays_as_it_was(crawled: Path) -> None:
    before = (crawled / "run.sqlite").read_bytes()
    cycle(crawled)
    cycle(crawled)
    assert (crawled / "run.sqlite").read_bytes() == before


def test_a_list_of_pages_is_watched(site: Script, tmp_path: Path) -> None:
    pages = tmp_path / "pages.txt"
    pages.write_text(f"{site.base}/data\n", encoding="utf-8")
    found = find_watch([pages], OPTIONS, None, {"delay": 0.0})
    assert told(once(found)) == []
    site.routes["/data"] = page("/a.csv", "/b.csv", "/c.csv")
    site.routes["/c.csv"] = file(b"c\n1\n")
    assert told(once(find_watch([pages], OPTIONS, None, {"delay": 0.0}))) == [("new", "c.csv")]
    assert found.folder.name == "pages.watch"


def test_what_cannot_be_watched_is_refused_in_words(site: Script, coati: Coati, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.touch()
    with pytest.raises(ConfigError, match="holds no address"):
        read_known([empty])
    with pytest.raises(UsageError, match="does not exist"):
        read_known([tmp_path / "nothing"])
    site.routes["/data"] = page()
    coati("crawl", site.start, "--out", "bare", "--delay", "0", "--quiet")
    with pytest.raises(UsageError, match="took no file from any page"):
        read_known([Path("bare").absolute()])


def test_a_watch_is_resumed_with_longer_cycles(site: Script, crawled: Path) -> None:
    cycle(crawled, every=600.0)
    site.routes["/data"] = page("/a.csv", "/b.csv", "/c.csv")
    site.routes["/c.csv"] = file(b"c\n1\n")
    # Longer cycles have smaller numbers, since they are counted from the epoch.
    assert told(cycle(crawled, every=3600.0)) == [("new", "c.csv")]


def test_a_cycle_shorter_than_politeness_allows_is_refused(crawled: Path) -> None:
    with pytest.raises(ConfigError, match=r"too short for 120 requests with 1\.5 s between"):
        find_watch([crawled], {"every": 60.0}, None, {"delay": 1.5})


@pytest.mark.usefixtures("crawled")
def test_the_command(site: Script, coati: Coati) -> None:
    first = coati("watch", "site", "--once", "--every", "1ms", "--format", "json")
    assert first.code == 0
    assert json.loads(first.out)["pages"] == 4
    assert "reports no changes" in first.err
    site.routes["/data"] = page("/a.csv", "/b.csv", "/c.csv")
    site.routes["/c.csv"] = file(b"c\n1\n")
    second = coati("watch", "site.watch", "--once")
    assert "1 new, 0 changed, 0 gone" in second.out
    assert "/c.csv" in second.out
    listed = coati("watch", "site", "--diff", "1d", "--format", "json")
    assert json.loads(listed.out)["what"] == "new"
    found = past_changes("site", "1d")
    assert found.rows() == [json.loads(listed.out)]
    assert found.changes == past_changes("site.watch").changes
    assert (past_changes("site").since, found.folder) == ("", Path("site.watch"))
    assert "/c.csv" in found._repr_html_()
    assert repr(past_changes("site", datetime(2999, 1, 1, tzinfo=UTC))) == (
        "<PastChanges 'site.watch': 0 changes since 2999-01-01T00:00:00Z>"
    )
    assert past_changes("site", timedelta(days=1)).changes == found.changes
    assert past_changes("site", "2026-05-01T01:30:07.9+01:00").since == "2026-05-01T00:30:07Z"
    with pytest.raises(ConfigError, match="neither a day"):
        past_changes("site", datetime.min.replace(tzinfo=timezone(timedelta(hours=5))))
    wrong = coati("watch", "site", "--diff", "soon")
    assert (wrong.code, "neither a day" in wrong.err) == (2, True)


@pytest.mark.usefixtures("crawled")
def test_a_cycle_that_ended_early_is_told(site: Script, coati: Coati) -> None:
    site.routes.clear()
    site.routes["*"] = answer(403)
    said = coati("watch", "site", "--once", "--every", "1ms")
    assert (said.code, "ended early: the site refuses us" in said.err) == (4, True)


def test_a_clock_that_was_far_ahead_is_told(crawled: Path) -> None:
    found = place(crawled)
    watch_once(found, lambda: 4_000_000_000.0)
    result = once(found)
    assert result.requests == 0
    assert any("the clock says 2033-" in message for message in result.messages)
