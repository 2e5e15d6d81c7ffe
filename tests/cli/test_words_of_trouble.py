"""What is said where a crawl brings little: who refused what, and what helps."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.commands import Coati, Said, coati
from tests.live.scripted import Exchange, Route, answer, file, page, scripted

__all__ = ["coati"]


def crawl(coati: Coati, routes: Mapping[str, Route], *more: object) -> tuple[Said, str]:
    """Crawl into the folder run, and read its report too."""
    with scripted({"/robots.txt": answer(404), **routes}) as site:
        said = coati("crawl", site.start, "--delay", 0, "--limits", "retries=0", "--out", "run", *more)
    return said, Path("run/report.html").read_text(encoding="utf-8")


def test_a_start_page_that_leads_to_another_site_comes_with_the_command(coati: Coati) -> None:
    elsewhere = "http://elsewhere.example/data/?a=1&b=2"
    said, report = crawl(coati, {"/": answer(302, Location=elsewhere)})
    assert said.code == 4
    assert "redirects to another site" in said.out
    assert "refuses us" not in said.out
    assert f"coati crawl '{elsewhere}'\n" in said.err
    assert "The start page redirects to another site" in report
    assert "refuses requests" not in report
    assert "ended: the start page redirects to another site" in coati("show", "run").out


ELSEWHERE = """
from coati.strategies.baselines.simple_orders import breadth_first

def elsewhere(start_urls, seed):
    return breadth_first(["http://elsewhere.example/data/"])
"""


def test_a_strategy_that_asks_for_another_site_is_told_so(coati: Coati) -> None:
    Path("leaving.py").write_text(ELSEWHERE, encoding="utf-8")
    said, report = crawl(coati, {"/": page("/a.csv")}, "--strategy", "leaving:elsewhere")
    assert said.code == 4
    assert "the strategy requested another site" in said.out
    assert "requested http://elsewhere.example/data/, which is outside the site" in said.err
    assert "use --scope any" in said.err
    assert "redirects" not in said.out
    assert "The strategy requested http://elsewhere.example/data/" in report
    assert "ended: the strategy requested another site" in coati("show", "run").out


def test_a_robots_file_that_fails_is_no_ban(coati: Coati) -> None:
    said, report = crawl(coati, {"/": page("/a.csv"), "/robots.txt": answer(500)})
    assert said.code == 3
    assert "robots.txt could not be read (robots.txt could not be fetched)" in said.out
    assert "then run the same command" in said.err
    assert "an outage, not a ban" in said.err
    assert "refuses requests" not in said.err + report
    assert "an outage, not a ban" in report


def test_a_password_is_passed_on_as_a_header(coati: Coati) -> None:
    said, report = crawl(coati, {"/": answer(401)})
    assert said.code == 4
    assert "requires a login" in said.out
    assert "--header 'Authorization:" in said.err
    assert "--user NAME with --password-file FILE" in said.err
    assert "--header" in report


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["crawl", "dry run"])
def test_links_that_our_own_pattern_refuses_are_no_matter_of_scripts(
    coati: Coati, more: tuple[str, ...]
) -> None:
    with scripted({"/": page("/", "/a.csv", "/b.csv", "/c", "/")}) as site:
        said = coati("crawl", site.start, "--delay", 0, "--include", "nothing", "--out", "run", *more)
    assert said.code == (0 if more else 7)
    assert "no links to follow" in said.err
    assert "3 not among what --include names" in said.err
    assert "browser" not in said.err
    if not more:
        report = Path("run/report.html").read_text(encoding="utf-8")
        assert "3 not among what --include names" in report
        assert "in the browser" not in report


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["crawl", "dry run"])
def test_a_sitemap_needs_no_browser(coati: Coati, more: tuple[str, ...]) -> None:
    index = file(b"<sitemapindex><sitemap><loc>/part.xml</loc></sitemap></sitemapindex>", "application/xml")
    empty = file(b"<urlset></urlset>", "application/xml")
    with scripted({"/index.xml": index, "/part.xml": empty}) as site:
        good, bad = (
            coati("crawl", site.base + path, "--delay", 0, "--out", path.strip("/"), *more)
            for path in ("/index.xml", "/part.xml")
        )
    assert "browser" not in good.err + bad.err
    assert "without links" not in good.err
    assert "a list without links" in bad.err


def test_a_page_without_any_link_names_what_an_installation_has(coati: Coati) -> None:
    said, report = crawl(coati, {"/": page()})
    assert "build its pages with JavaScript" in said.err
    assert "coati[render]" in said.err
    assert "docs/" not in said.err
    assert "build its pages with JavaScript" in report


@pytest.mark.parametrize(
    "door",
    [
        page("/en", "/de"),
        lambda exchange: exchange.answer(body='<meta http-equiv=refresh content="0;url=/en">'),
    ],
    ids=["languages", "refresh"],
)
def test_a_door_to_a_large_site_needs_no_browser(coati: Coati, door: Route) -> None:
    files = [f"/{number}.csv" for number in range(12)]
    routes = {"/": door, "/en": page(*files), "/de": page(), **{name: file() for name in files}}
    said, report = crawl(coati, routes)
    assert "targets:    12" in said.out
    assert "JavaScript" not in said.err + report


def test_a_door_that_leads_to_little_may_need_a_browser(coati: Coati) -> None:
    said, report = crawl(coati, {"/": page("/en", "/de"), "/en": page("/a.csv"), "/de": page()})
    assert "The start page has 2 links: the site may build its pages with JavaScript" in said.err
    assert "JavaScript" in report


def test_addresses_of_an_api_are_no_links_of_the_start_page(coati: Coati) -> None:
    body = '<link rel="https://api.w.org/" href="/wp-json/"><a href="/a.csv">A</a>'
    said, report = crawl(coati, {"/": lambda exchange: exchange.answer(body=body), "/a.csv": file()})
    assert "API of wordpress" in coati("show", "run").out
    assert "The start page has 1 link: the site may build its pages with JavaScript" in said.err
    assert "The start page has 1 link" in report


def test_files_of_other_types_are_no_pictures(coati: Coati) -> None:
    pdf = file(b"%PDF-1.4" + b"x" * 200_000, "application/pdf")
    _, report = crawl(
        coati, {"/": page("/a.pdf", "/b.csv"), "/a.pdf": pdf, "/b.csv": file()}, "--types", "tables"
    )
    said = coati("show", "run")
    for words in (report, said.out):
        assert "not of a wanted type" in words
        assert "an image, video or audio file" not in words


def test_show_leads_with_the_group_that_leads_the_report(coati: Coati) -> None:
    files = {f"/data/{number}.csv": file(b"%d\n" % number) for number in range(6)}
    with scripted({"/": page(*files), **files}) as site:
        assert coati("crawl", site.start, "--delay", 0, "--out", "run").code == 0
    groups = coati("show", "run", "--format", "json").json["groups"]
    # The links of this group were the files themselves: no page of it led to any.
    assert groups[0]["targets"] == 6
    assert groups[0]["reward"] == 0
    assert "6 targets from 6 requests" in coati("show", "run").out


def test_a_name_that_leads_into_a_private_network_is_told_as_such(coati: Coati) -> None:
    with scripted({"/": page("/a.csv")}) as site:
        start = site.start.replace("127.0.0.1", "localhost")
        said = coati("crawl", start, "--delay", 0, "--out", "run", "--limits", "allow_private=false")
        assert site.asked == []
    assert said.code == 4
    assert "in a private network" in said.out
    assert "--limits allow_private=true" in said.err
    assert "robots.txt forbids the start page" not in said.out
    for command in (("crawl", start, "--dry-run"), ("inspect", start)):
        told = coati(*command, "--delay", 0, "--limits", "allow_private=false")
        assert told.code == 4
        assert "--limits allow_private=true" in told.err


@pytest.mark.parametrize("path", ["/", "/robots.txt", "/a.csv"])
def test_a_long_pause_is_told_with_its_end_and_how_to_wait(coati: Coati, path: str) -> None:
    routes = {"/": page("/a.csv"), "/a.csv": file(), path: answer(503, Retry_After="86400")}
    said, report = crawl(coati, routes)
    assert said.code == 4
    for words in (said.err, report, coati("show", "run").out):
        assert "127.0.0.1 asks for no requests before " in words
        assert "--limits max_retry_after_seconds=24h" in words


@pytest.mark.parametrize("command", [("crawl", "--dry-run"), ("inspect",)])
def test_a_look_at_a_site_that_asks_for_a_pause_was_not_interrupted(
    coati: Coati, command: tuple[str, ...]
) -> None:
    with scripted({"/": page("/a.csv"), "/robots.txt": answer(503, Retry_After="86400")}) as site:
        said = coati(command[0], site.start, "--delay", 0, *command[1:])
    assert said.code == 4
    assert "the site asks for a pause" in said.out
    assert "interrupted" not in said.out


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", [("crawl", "--dry-run"), ("inspect",)])
def test_a_look_at_a_site_that_hangs_ends_at_once(
    coati: Coati, command: tuple[str, ...], kind: signal.Signals
) -> None:
    def hangs(exchange: Exchange) -> None:
        os.kill(os.getpid(), kind)
        exchange.connection.recv(1)

    with scripted({"/": hangs, "/robots.txt": answer(404)}) as site:
        said = coati(command[0], site.start, "--delay", 0, *command[1:])
    assert (said.code, said.out, said.err.strip()) == (130, "", "coati: interrupted")


@pytest.mark.parametrize(
    "start",
    [file(b"\x89PNG\r\n\x1a\n", "image/png"), file(b"", "text/html"), answer(204)],
    ids=["picture", "empty", "204"],
)
def test_a_preview_of_a_start_that_leads_nowhere_says_so(coati: Coati, start: Route) -> None:
    with scripted({"/": start, "/robots.txt": answer(404)}) as site:
        said = coati("crawl", site.start, "--delay", 0, "--dry-run")
    assert said.code == 7
    assert "a list without links" not in said.err
    assert "start from" in said.err


def test_a_preview_of_a_file_is_none_of_trouble(coati: Coati) -> None:
    with scripted({"/a.csv": file(), "/robots.txt": answer(404)}) as site:
        said = coati("crawl", site.base + "/a.csv", "--delay", 0, "--dry-run")
    assert (said.code, "start from" in said.err) == (0, False)
