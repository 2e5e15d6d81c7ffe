"""Watches over histories: in memory and out of an archive, and what they are measured by."""

from __future__ import annotations

from pathlib import Path

import pytest

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta, Entry, Record
from coati.assembly import StrategySettings, build_strategy
from coati.errors import UsageError
from coati.model import Link, Method, Outcome, Page, Request
from coati.replaying.page_history import PageCapture, PageHistory
from coati.replaying.site import ReplaySite
from coati.replaying.watch_replay import WatchStudy, WatchTruth
from coati.strategies.revisits.watch import WatchSettings
from coati.web.media import PRESETS
from coati.web.out_links import with_out_links
from coati.web.urls import url_hash
from tests.strategies.revisits.histories import BEGIN, HOUR, Made


def archived(made: Made, folder: Path) -> Archive:
    """Return a made history as an archive: HTML per change, status 500 where a page fails."""
    with Archive.create(folder, ArchiveMeta("made", made.urls[0], PRESETS["data"])) as archive:
        for page, url in enumerate(made.urls):
            before: object = made
            for cycle, shown in enumerate(made.shown):
                links = shown[page]
                if links == before:
                    continue
                before = links
                at = BEGIN + HOUR * cycle
                if links is None:
                    archive.add(Record(Entry(url, 500, "", 0, fetched_at=at), body=b""))
                    continue
                items = (f'<a href="{made.url_of_link(page, link)}">x</a>' for link in sorted(links))
                body = f"<html><body>{''.join(items)}</body></html>".encode()
                archive.add(Record(Entry(url, 200, "text/html", len(body), fetched_at=at), body=body))
    return Archive.open(folder)


def test_a_history_in_memory_answers_as_an_archive_does(tmp_path: Path) -> None:
    made = Made(4, sites=2, pages=3, cycles=12)
    history = made.history()
    with archived(made, tmp_path / "made") as archive:
        site = ReplaySite(archive, start_urls=made.urls)
        told: tuple[dict[str, float], dict[str, float]] = ({}, {})
        for cycle in range(12):
            for url in made.urls[cycle % 2 :: 2]:
                request, now = Request(0, Method.GET, url), BEGIN + HOUR * cycle + 60
                answer = history.respond(request, now, told[0])
                assert told_of(answer) == told_of(site.respond(request, now, told[1]))
        assert history.span() == site.span()


def told_of(outcome: Outcome) -> tuple[object, ...]:
    links: tuple[object, ...] = ()
    if isinstance(outcome, Page):
        page = with_out_links(outcome)
        links = (list(page.links.urls), page.out_links)
    return type(outcome), getattr(outcome, "status", None), *links


def test_what_is_not_in_a_history_is_not_found() -> None:
    history = PageHistory("empty", {"http://a.test/": [PageCapture(5.0, [])]})
    assert told_of(history.respond(Request(0, Method.GET, "http://b.test/"), 9.0))[1] == 404
    with pytest.raises(UsageError, match="needs a time"):
        history.respond(Request(0, Method.GET, "http://a.test/"))


def studied(made: Made, name: str, per_cycle: int) -> tuple[WatchStudy, dict[str, object]]:
    history, moments = made.history(), made.moments()
    truth = WatchTruth(history, made.urls, moments, None)
    study = WatchStudy(history, truth, moments)
    settings = StrategySettings(watch=WatchSettings(per_cycle=per_cycle, moments=moments))
    strategy = build_strategy(name, made.urls, settings=settings, page_truth=truth)
    return study, study.run(name, None, strategy).row()


def test_the_truth_is_what_visiting_every_page_in_every_cycle_finds() -> None:
    made = Made(2)
    study, row = studied(made, "rr", len(made.urls))
    first: dict[int, int] = {}
    for cycle, shown in enumerate(made.shown):
        for page, links in enumerate(shown):
            for link in links or ():
                first.setdefault(url_hash(made.url_of_link(page, link)), cycle)
    assert study.truth.first_cycle == {key: cycle for key, cycle in first.items() if cycle}
    assert (row["coverage"], row["mean_age_hours"], row["within_1h"]) == (1.0, 0.0, 1.0)


def test_the_oracle_is_ahead_and_late_finds_have_an_age() -> None:
    made = Made(2)
    _, oracle = studied(made, "greedy", 3)
    _, round_robin = studied(made, "rr", 3)
    assert float(str(oracle["coverage"])) > float(str(round_robin["coverage"]))
    assert float(str(round_robin["mean_age_hours"])) > 0
    assert float(str(round_robin["within_1h"])) < float(str(round_robin["within_4h"])) <= 1
    assert round_robin["requests"] == len(made.urls) + 3 * 39


def test_nothing_new_has_no_coverage() -> None:
    link = Link("http://a.test/1", ("html", "a"))
    history = PageHistory("still", {"http://a.test/": [PageCapture(0.0, [link]), PageCapture(HOUR, [link])]})
    moments = (0.0, HOUR)
    truth = WatchTruth(history, history.pages, moments, None)
    settings = StrategySettings(watch=WatchSettings(per_cycle=1, moments=moments))
    strategy = build_strategy("rr", history.pages, settings=settings)
    run = WatchStudy(history, truth, moments).run("rr", None, strategy)
    assert (run.coverage, run.mean_age_hours, run.within_1h) == (None, None, None)


def test_a_strategy_that_watches_nothing_is_refused() -> None:
    made = Made(2, cycles=3)
    history, moments = made.history(), made.moments()
    study = WatchStudy(history, WatchTruth(history, made.urls, moments, None), moments)
    with pytest.raises(UsageError, match="bfs does not watch pages"):
        study.run("bfs", None, build_strategy("bfs", made.urls))
