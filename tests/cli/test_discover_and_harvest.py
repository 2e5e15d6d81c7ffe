"""From words to files over HTTP: ``coati discover``, then ``coati harvest --from``."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from coati.testing.api_answers import ApiFile
from coati.testing.apis import with_api
from coati.testing.server import SiteServer, serve
from coati.testing.site import Response, Site
from tests.cli.commands import Coati, coati
from tests.discovering.made_web import lines_of
from tests.live.scripted import Exchange, Script, answer, scripted

__all__ = ["coati"]

WORDS = "rain flood dataset csv download catalogue metadata table series archive open data portal " * 3
LISTED, LINKED = 15, 20
# The engine is asked once per second.
ONCE = ("--max-queries", 1)
QUICK = ("--delay", 0, "--limits", "allow_private=true", "--quiet")


def catalogue(base: str) -> Site:
    """Make a portal whose API lists files that no page links to, and whose addresses have no extension."""
    root = base + "/"
    files = [ApiFile(f"{root}get/{n}", f"Rain {n}", "text/csv", dataset=f"Set {n}") for n in range(LISTED)]
    pages = {root: Response.page(f"<head><title>Portal</title></head><p>{WORDS}</p>")}
    bodies = {file.url: Response.file("text/csv", b"a\n%d\n" % n) for n, file in enumerate(files)}
    return with_api(Site(root, pages | bodies), "ckan", files=files)


def linking(base: str) -> Site:
    """Make a site whose pages link to its files."""
    root = base + "/"
    topics = {
        f"{root}topic/{n}": "".join(f"<a href='/files/{5 * n + k}.csv'>csv</a>" for k in range(5))
        for n in range(LINKED // 5)
    }
    responses = {url: Response.page(f"<p>{WORDS}</p>{links}") for url, links in topics.items()}
    home = "".join(f"<a href='{url}'>data</a>" for url in topics)
    responses[root] = Response.page(f"<title>Rivers</title><p>{WORDS}</p>{home}")
    responses |= {f"{root}files/{n}.csv": Response.file("text/csv", b"b\n%d\n" % n) for n in range(LINKED)}
    return Site(root, responses)


def talking(base: str) -> Site:
    """Make a site that talks about data and has none."""
    root = base + "/"
    pages = {f"{root}{n}": Response.page("<p>news</p>") for n in range(12)}
    links = "".join(f"<a href='{url}'>x</a>" for url in pages)
    return Site(root, {root: Response.page(f"<title>News</title><p>{WORDS}</p>{links}"), **pages})


@pytest.fixture
def sites() -> Iterator[SiteServer]:
    with serve(catalogue, linking, talking) as server:
        yield server


@pytest.fixture
def engine(sites: SiteServer) -> Iterator[Script]:
    """A search engine as SearXNG answers, which finds all of the sites on its first page."""

    def answer(exchange: Exchange) -> None:
        first = "pageno=1" in exchange.path or "pageno" not in exchange.path
        hits = [{"url": site.start_url, "title": "x", "content": "x"} for site in sites.sites if first]
        exchange.answer(body=json.dumps({"results": hits}), media_type="application/json")

    with ExitStack() as stack:
        yield stack.enter_context(scripted({"*": answer}))


def search(engine: Script) -> str:
    return f"searxng={engine.base}"


def test_from_words_to_files(coati: Coati, sites: SiteServer, engine: Script) -> None:
    said = coati(
        "discover",
        "rain data",
        "--search",
        search(engine),
        *ONCE,
        *QUICK,
        "--out",
        "rain",
        "--format",
        "json",
    )
    assert said.code == 0
    found = {line["url"]: line for line in lines_of(said.out)[:-1]}
    portal, rivers, news = (site.start_url for site in sites.sites)
    assert set(found) == {portal, rivers}
    # Its home page, and one answer of its API.
    assert found[portal]["pages_fetched"] == 2
    assert found[portal]["formats"] == {"csv": LISTED}
    assert found[portal]["software"] == "CKAN"
    why = coati("explain", portal, "--run", "rain").out
    assert f"{LISTED} different data files on 1 of 2 pages" in why

    sites.requests.clear()
    harvested = coati("harvest", "--from", "rain", "--types", "data", *QUICK, "--out", "files")
    assert harvested.code == 0
    with Path("files/files.csv").open(encoding="utf-8-sig") as listing:
        urls = {row["url"] for row in csv.DictReader(listing)}
    assert len(urls) == LISTED + LINKED
    assert not any(seen.url.startswith(news) for seen in sites.requests)
    # Nothing but the home pages, the API, pages of topics and files was asked for.
    assert len([seen for seen in sites.requests if "robots.txt" not in seen.url]) <= LISTED + LINKED + 10


def test_a_budget_of_a_harvest_goes_to_the_best_first_and_more_of_it_continues(
    coati: Coati, engine: Script
) -> None:
    coati("discover", "rain data", "--search", search(engine), *ONCE, *QUICK, "--out", "rain")
    how = ("harvest", "--from", "rain", "--types", "data", *QUICK, "--out", "files", "--format", "json")
    few = lines_of(coati(*how, "--max-requests", 12).out)[-1]
    assert few["requests"] == 12
    more = lines_of(coati(*how, "--max-requests", 200).out)[-1]
    assert more["targets"] == LISTED + LINKED


def test_a_search_that_found_nothing_gives_nothing_to_harvest(coati: Coati, engine: Script) -> None:
    nothing = coati("discover", "rain data", "--search", search(engine), *ONCE, "--delay", 0, "--out", "none")
    # Loopback addresses are private, and nobody said that they may be asked.
    assert "--limits allow_private=true" in nothing.err
    said = coati("harvest", "--from", "none", "--types", "data")
    assert said.code == 2
    assert "verified no repository" in said.err


def test_patience_ends_a_search_and_more_of_it_continues(coati: Coati, engine: Script) -> None:
    how = ("discover", "rain data", "--search", search(engine), *ONCE, *QUICK, "--out", "rain")
    said = coati(*how, "--patience", 4)
    assert said.code == 0
    assert "requests found no repository" in said.err
    assert "--patience N" in said.err
    report = Path("rain/report.html").read_text(encoding="utf-8")
    assert "It gave up, because the last" in report
    assert "run the same command with a larger --patience" in report
    more = lines_of(coati("discover", "rain", "--patience", 0, "--quiet", "--format", "json").out)[-1]
    assert more["gave_up_after"] == 0
    assert more["repositories"] == 2
    assert coati("discover", "rain", "--patience", -1).code == 2


@pytest.mark.parametrize("again", [["rain"], ["rain data", "--out", "rain"]], ids=["folder", "same command"])
def test_an_engine_that_wanted_a_pause_is_asked_again(
    coati: Coati, sites: SiteServer, again: list[str]
) -> None:
    hits = json.dumps({"results": [{"url": site.start_url, "title": "x"} for site in sites.sites]})
    answers = {"*": answer(429, Retry_After="0")}
    with scripted(answers) as engine:
        how = ("--search", search(engine), *ONCE, *QUICK)
        paused = coati("discover", "rain data", *how, "--out", "rain")
        assert paused.code == 4
        assert "Stopped: the search engine asks for a pause." in paused.out
        engine.routes["*"] = lambda exchange: exchange.answer(body=hits, media_type="application/json")
        said = coati("discover", *again, *(how if len(again) > 1 else ("--quiet",)), "--format", "json")
    assert said.code == 0
    *_, summary = lines_of(said.out)
    assert summary["topic"] == "rain data"
    assert summary["repositories"] == 2


def test_a_word_that_is_also_a_folder(coati: Coati, engine: Script) -> None:
    how = ("--search", search(engine), *ONCE, *QUICK)
    coati("discover", "rain data", *how, "--out", "rain")
    said = coati("discover", "rain", *how, "--out", "other", "--format", "json")
    assert lines_of(said.out)[-1]["topic"] == "rain"
    assert Path("other/repositories.csv").is_file()
    mixed = coati("discover", "./rain", *how, "--out", "third")
    assert mixed.code == 2
    assert "--out names another folder" in mixed.err
