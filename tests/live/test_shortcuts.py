"""Shortcuts over HTTP: what an API lists is taken, what it does wrong does no harm, and a run continues."""

import csv
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coati.assembly import build_shortcuts, build_strategy
from coati.live import StopReason
from coati.model import EVERY_HOST, Request
from coati.readers.listed_links import ListedLinks
from coati.shortcuts.api_answer import ApiAnswer
from coati.shortcuts.profile import ApiEntry
from coati.shortcuts.registry import PROFILES
from coati.shortcuts.seen_page import SeenPage
from coati.shortcuts.shortcuts import Shortcuts
from coati.testing.apis import ApiState, with_api
from coati.testing.responder import Responder
from coati.testing.server import SiteServer, serve
from coati.testing.site import Response, Site
from coati.web.media import parse_types
from tests.live.crawling import Crawled, crawl_from, crawl_into
from tests.live.scripted import Exchange, Route, answer, file, page, scripted

FILES = 12


def made_site(base: str, software: str = "drupal", state: ApiState = ApiState.WHOLE) -> Site:
    root = base + "/"
    responses = {root: Response.page("<html><head></head><body><a href='/a.html'>A</a></body></html>")}
    responses[root + "a.html"] = Response.page("<html><body><a href='/'>Home</a></body></html>")
    for n in range(FILES):
        responses[f"{root}hidden/{n}.csv"] = Response.file("text/csv", b"%d\n" % n)
    return with_api(Site(root, responses), software, state)


@pytest.fixture
def portal() -> Iterator[SiteServer]:
    with serve(lambda base: made_site(base, "ckan")) as server:
        yield server


def scent(start: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a plan
    given = {
        "new_strategy": lambda: build_strategy("scent", [start]),
        "robots": False,
        "listed_links": True,
    }
    return {"shortcuts": build_shortcuts("auto", "scent"), **given, **changes}


def taken(crawled: Crawled) -> int:
    return crawled.result.progress.targets


def test_titles_licences_and_dates_of_an_api_are_kept(portal: SiteServer, tmp_path: Path) -> None:
    crawled = crawl_into(tmp_path, portal.url, **scent(portal.url))
    assert taken(crawled) == FILES
    with (tmp_path / "files.csv").open(encoding="utf-8-sig") as listing:
        rows = list(csv.DictReader(listing))
    assert {(row["title"], row["licence"], row["modified"]) for row in rows} == {
        (f"{n}.csv", "CC BY 4.0", "2024-05-01T10:00:00.000Z") for n in range(FILES)
    }
    package = json.loads((tmp_path / "datapackage.json").read_text())
    told = package["resources"][1]
    assert told["licenses"] == [{"title": "CC BY 4.0"}]
    assert told["modified"].startswith("2024-05-01")
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as run:
        paths = {path for (path,) in run.execute("SELECT DISTINCT tag_path FROM targets")}
        lists = [url for (url,) in run.execute("SELECT url FROM lists")]
    assert paths == {"ckan > resource > url"}
    assert len(lists) == 1


def test_a_run_that_was_cut_off_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    with serve(lambda base: made_site(base, "drupal", ApiState.ODD)) as server:
        whole = crawl_into(tmp_path / "whole", server.url, **scent(server.url))
        asked = [seen.url for seen in server.requests]
        server.requests.clear()
        for most in range(2, len(asked) + 1):
            crawl_into(tmp_path / "cut", server.url, **scent(server.url), max_requests=most)
        again = crawl_into(tmp_path / "cut", server.url, **scent(server.url))
        assert taken(again) == taken(whole) == FILES
        assert [seen.url for seen in server.requests] == asked


def linked_site(base: str) -> Site:
    """A site whose pages link to all of its files, half of which its API lists."""
    root = base + "/"
    files = [f"/files/{n}.csv" for n in range(4 * FILES)]
    news = [f"/news/{n}.html" for n in range(2 * FILES)]
    about = [f"/about/{n}.html" for n in range(2 * FILES)]

    def page_of(*paths: str) -> Response:
        return Response.page("<html><body>" + "".join(f"<a href='{path}'>x</a>" for path in paths))

    responses = {root: page_of(*about, *news)}
    responses |= {base + path: page_of(*files[2 * n : 2 * n + 2]) for n, path in enumerate(news)}
    responses |= {base + path: page_of("/") for path in about}
    responses |= {base + path: Response.file("text/csv", path.encode()) for path in files}
    return with_api(Site(root, responses), "drupal", ApiState.HALF)


def test_pages_with_listed_files_are_told_and_logged_and_a_run_that_was_cut_off_knows_them(
    tmp_path: Path,
) -> None:
    with serve(linked_site) as server:
        crawl_into(tmp_path / "whole", server.url, **scent(server.url))
        asked = [seen.url for seen in server.requests]
        server.requests.clear()
        for most in range(2, len(asked) + 1, 3):
            crawl_into(tmp_path / "cut", server.url, **scent(server.url), max_requests=most)
        crawl_into(tmp_path / "cut", server.url, **scent(server.url))
        assert [seen.url for seen in server.requests] == asked
    with closing(sqlite3.connect(tmp_path / "cut" / "run.sqlite")) as run:
        told = "SELECT count(*) FROM pages WHERE out_links IS NOT NULL AND url LIKE ?"
        assert run.execute(told, ("%/news/%",)).fetchone() == (2 * FILES,)
        assert run.execute(told, ("%/about/%",)).fetchone() == (0,)


@pytest.mark.parametrize("make", [linked_site, lambda base: made_site(base, "wordpress")])
def test_live_and_without_a_network_the_same_is_asked(make: Callable[[str], Site]) -> None:
    with serve(make) as server:
        crawl_from(server.url, **scent(server.url))
        asked = [seen.url for seen in server.requests]
        responder = Responder(server.site, shortcuts=build_shortcuts("auto", "scent"))
    strategy, listed = build_strategy("scent", [server.url]), ListedLinks()
    chosen = []
    while isinstance(request := strategy.choose(0.0, EVERY_HOST), Request):
        chosen.append(request.url)
        strategy.observe(request.id, listed.with_listed(request.url, responder.outcome(request)), 0.0)
    assert chosen == asked


def test_only_what_the_software_lists_is_followed(portal: SiteServer) -> None:
    crawled = crawl_from(portal.url, **scent(portal.url, shortcuts=build_shortcuts("only", "scent")))
    assert taken(crawled) == FILES
    assert portal.times(portal.url + "a.html") == 0


def test_json_that_an_api_answers_is_no_target_though_json_is_wanted(portal: SiteServer) -> None:
    crawled = crawl_from(portal.url, **scent(portal.url, types=parse_types("data")))
    (api,) = [told for url, told in crawled.observed.items() if "/api/3/" in url]
    assert api["kind"] == "page"
    off = crawl_from(portal.url, **scent(portal.url, shortcuts=None))
    assert taken(off) == 0


API = "/jsonapi/file/file"
HOME = file(
    b"<html><head><meta name=generator content='Drupal 10'></head><body><a href='/a.csv'>A</a></body></html>",
    "text/html",
)


def asked_for(api: Route) -> dict[str, Route]:
    """A site with one file, and an API that answers so, whatever its parameters are."""

    def route(exchange: Exchange) -> None:
        (api if exchange.path.startswith(API) else answer(404))(exchange)

    return {"/": HOME, "/a.csv": file(b"1\n"), "*": route}


def entry(url: str) -> dict[str, object]:
    return {"attributes": {"uri": {"url": url}, "filename": "f"}}


def told(**answered: object) -> Route:
    return file(json.dumps(answered).encode(), "application/vnd.api+json")


def endless(exchange: Exchange) -> None:
    """List a new file on each of endless pages, none of which exists."""
    number = int(exchange.path.partition("n=")[2] or 0)
    following = {"href": f"{API}?n={number + 1}"}
    body = json.dumps({"data": [entry(f"/none/{number}.csv")], "links": {"next": following}})
    exchange.answer(body=body, media_type="application/json")


@pytest.mark.parametrize(
    ("api", "most"),
    [
        (file(b"[" * 1_000_000, "application/json"), 3),
        (file(b'{"data": [' + b" " * 60_000_000, "application/json"), 3),
        (file(b"<html><body>Log in</body></html>", "text/html"), 3),
        (told(data=[entry("http://b.test/x.csv")], links={"next": {"href": "http://b.test/"}}), 3),
        (told(data=[entry("/a.csv")], links={"next": {"href": f"{API}?page[offset]=0&page[limit]=50"}}), 4),
        (answer(403), 3),
        (answer(500), 3),
        (answer(302, Location=API + "?again"), 8),
    ],
    ids=["deep", "huge", "html", "foreign", "loop", "forbidden", "broken", "redirect"],
)
def test_a_nasty_api_costs_little_and_the_links_continue(api: Route, most: int) -> None:
    with scripted(asked_for(api)) as server:
        crawled = crawl_from(server.start, **scent(server.start))
        assert taken(crawled) == 1
        assert len(server.paths) <= most
    assert crawled.result.stop is StopReason.FINISHED


def test_an_endless_api_of_dead_files_is_left_by_the_budget_and_the_links_come_first() -> None:
    with scripted(asked_for(endless)) as server:
        crawled = crawl_from(server.start, **scent(server.start), max_requests=12)
        assert taken(crawled) == 1
        asked = [path.partition("?")[0] for path in server.paths]
    assert asked.index("/a.csv") < 6


class Broken:
    """A profile with a mistake that shows when an answer is read."""

    name = "broken"
    title = "Broken"
    written_from = "nothing: at all"

    def recognise(self, page: SeenPage) -> list[ApiEntry]:
        return [ApiEntry(page.at("/mine.json"), "files")]

    def reads(self, url: str) -> bool:
        return url.endswith("/mine.json")

    def read(self, answer: ApiAnswer) -> list[Any]:
        return [1 / len(answer.headers.get("none", ""))]


def test_a_profile_that_raises_is_named_and_the_crawl_goes_on() -> None:
    with scripted({"/": page("/a.csv"), "/a.csv": file(b"1\n"), "/mine.json": told()}) as server:
        shortcuts = Shortcuts((Broken(), *PROFILES))
        crawled = crawl_from(server.start, **scent(server.start, shortcuts=shortcuts))
    assert taken(crawled) == 1
    assert any("broken" in message and "ZeroDivisionError" in message for message in crawled.result.messages)
