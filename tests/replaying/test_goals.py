"""Replay over an archive of many hosts, where pages themselves are what is looked for."""

from __future__ import annotations

import json
from pathlib import Path

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta, Entry, Record
from coati.jobs.replay_results import ReplayResults
from coati.jobs.replaying import replay
from coati.model import Method, Page, Request
from coati.replaying.site import ReplaySite
from coati.web.markup.goals import parse_goal
from coati.web.media import PRESETS
from coati.web.rules import Scope
from tests.cli.commands import Coati, coati

__all__ = ["coati"]

HOSTS, PAGES = 4, 5
MARKED = b'<div itemscope itemtype="http://schema.org/Thing"><b itemprop="name">x</b></div>'


def address(host: int, page: int) -> str:
    return f"http://h{host}.test/{page or ''}"


def make(folder: Path) -> Path:
    """Archive hosts that link to each other; the pages of every second have data inside."""
    with Archive.create(folder, ArchiveMeta("hosts", address(0, 0), PRESETS["none"])) as archive:
        for host in range(HOSTS):
            for page in range(PAGES):
                links = [address(host, other) for other in range(PAGES)] + [address((host + 1) % HOSTS, 0)]
                body = "".join(f"<a href='{link}'>x</a>" for link in links).encode()
                body += MARKED if host % 2 else b""
                entry = Entry(address(host, page), 200, "text/html", len(body))
                archive.add(Record(entry, (), body))
    return folder


def test_pages_that_meet_the_goal_are_relevant(tmp_path: Path) -> None:
    with Archive.open(make(tmp_path / "hosts")) as archive:
        goal = parse_goal("microdata>=2").holds
        site = ReplaySite(archive, goal=goal, scope=Scope.ANY)
        assert len(site.truth.urls) == HOSTS * PAGES
        relevant = {site.truth.urls[number] for number in site.relevant_pages()}
        assert relevant == {address(host, page) for host in (1, 3) for page in range(PAGES)}
        page = site.respond(Request(0, Method.GET, address(1, 0)))
        assert isinstance(page, Page)
        assert page.relevant
        assert ReplaySite(archive, scope=Scope.ANY).relevant_pages() == []


def test_they_are_the_targets_of_a_replay(tmp_path: Path) -> None:
    archive = make(tmp_path / "hosts")
    results = replay(archive, "anthelion,bfs", goal=["structured-data"], scope="any")
    assert isinstance(results, ReplayResults)
    assert {run.strategy: run.measures.targets for run in results.runs} == {"anthelion": 10, "bfs": 10}
    assert all(run.measures.requests_to_90_pct is not None for run in results.runs)


def test_the_command_takes_a_goal_and_a_scope(coati: Coati, tmp_path: Path) -> None:
    archive = make(tmp_path / "hosts")
    said = coati(
        "replay", archive, "--strategy", "bfs", "--goal", "classic", "--scope", "any", "--format", "json"
    )
    assert said.code == 0, said.err
    assert json.loads(said.out.splitlines()[0])["targets"] == 10
    near = coati("replay", archive, "--strategy", "bfs", "--goal", "classic", "--format", "json")
    assert json.loads(near.out.splitlines()[0])["targets"] == 0
    assert coati("replay", archive, "--goal", "nothing").code == 2
