"""The real command over many hosts of this machine, for pages that carry structured data."""

from __future__ import annotations

import gzip
import json
import signal
import sqlite3
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rdflib import Dataset

from coati.harvesting.exports import nquad
from coati.runs.statements import KeptStatement
from coati.testing.server import SiteServer, serve
from tests.cli.commands import Coati, coati, start_coati
from tests.harvesting.marked_web import marked_sites
from tests.live.scripted import Route, answer, page, scripted
from tests.waiting import wait_until

__all__ = ["coati"]

HOSTS, PAGES = 6, 8
# Every third host has data on all its pages but the first.
RELEVANT = 2 * (PAGES - 1)
USUAL = ("--delay", 0, "--out", "out", "--format", "json", "--no-extract", "--limits", "retries=0")


@pytest.fixture
def server() -> Iterator[SiteServer]:
    with serve(*marked_sites(HOSTS, PAGES)) as served:
        yield served


@pytest.fixture
def addresses(server: SiteServer, tmp_path: Path) -> Path:
    file = tmp_path / "seeds.txt"
    file.write_text(f"{server.sites[0].start_url}\nnot an address\n")
    return file


def objects(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def ask(folder: str, question: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(Path(folder) / "run.sqlite") as database:
        return database.execute(question).fetchall()


def test_pages_with_data_are_found_on_all_hosts_and_read_in_full(coati: Coati, addresses: Path) -> None:
    said = coati(
        "harvest", addresses, "--goal", "structured-data", "--delay", 0, "--out", "out", "--format", "json"
    )
    assert said.code == 0, said.err
    assert "Left out: line 2" in said.err
    *hosts, total = objects(said.out)
    assert (total["stop"], total["sites"], total["relevant"]) == ("finished", HOSTS, RELEVANT)
    assert total["relevant_share"] == round(RELEVANT / (HOSTS * PAGES), 4)
    assert [host["relevant"] for host in hosts] == [7, 7, 0, 0, 0, 0]
    # The type and four properties as Microdata, the type and a name as JSON-LD.
    assert total["extraction"]["pages"] == RELEVANT
    assert total["extraction"]["statements"] == 7 * RELEVANT
    assert total["extraction"]["failed"] == 0
    assert ask("out", "SELECT targets FROM totals") == [(RELEVANT,)]
    assert ask("out", "SELECT syntax, count(*) FROM statements GROUP BY 1 ORDER BY 1") == [
        ("json-ld", 2 * RELEVANT),
        ("microdata", 5 * RELEVANT),
    ]
    # One script on each second page is broken, and was counted.
    broken = ask("out", "SELECT sum(json_extract(facts, '$.markup.broken')) FROM pages")
    assert broken == [(HOSTS,)]
    lines = Path("out/pages.jsonl").read_text().splitlines()
    assert len(lines) == RELEVANT
    assert json.loads(lines[0])["@graph"][0]["@type"] == ["http://schema.org/Dataset"]
    report = Path("out/report.html").read_text()
    assert f"{RELEVANT} relevant pages from {HOSTS} hosts" in report
    # No host was given up, and no link led to a file.
    assert "No longer requested" not in report
    assert "led to files" not in report
    assert "from 1 host and any that they lead to, by host-yield into out." in said.err
    assert said.err.count("in full.") == 1
    check_exports(coati)


def check_exports(coati: Coati) -> None:
    """Check that other tools read what is exported."""
    for name in ("out.nq", "out.nq.gz"):
        said = coati("export", "out", name, "--format", "json")
        assert said.json["statements"] == 7 * RELEVANT
    plain = Path("out.nq").read_bytes()
    assert gzip.decompress(Path("out.nq.gz").read_bytes()) == plain
    with warnings.catch_warnings():
        # rdflib warns of what its own parser calls.
        warnings.simplefilter("ignore")
        dataset = Dataset()
        dataset.parse(data=plain.decode(), format="nquads")
        assert len(list(dataset.quads())) == 7 * RELEVANT
    assert coati("export", "out", "out.parquet").code == 0
    import duckdb

    (count,) = duckdb.execute("SELECT count(*) FROM 'out.parquet' WHERE syntax = 'microdata'").fetchone() or (
        0,
    )
    assert count == 5 * RELEVANT
    assert coati("export", "out", "out.txt").code == 2
    assert "no run in nowhere" in coati("export", "nowhere", "out.nq").err


def test_the_scope_may_be_the_hosts_of_the_list(coati: Coati, addresses: Path) -> None:
    goals = ("--goal", "microdata>=5", "--goal", "type=Dataset")
    said = coati("harvest", addresses, *goals, "--scope", "host", "--strategy", "bfs", *USUAL)
    *hosts, total = objects(said.out)
    assert [host["host"] for host in hosts] == ["127.0.0.1"]
    assert (total["relevant"], total["extraction"]) == (PAGES - 1, None)
    # What was left out can be read later.
    again = coati("harvest", "out", "--format", "json", "--quiet")
    assert objects(again.out)[-1]["extraction"]["pages"] == PAGES - 1


def test_no_host_gets_more_than_its_budget_and_excluded_ones_get_nothing(
    coati: Coati, addresses: Path
) -> None:
    Path("excluded.txt").write_text("127.0.0.3\n")
    rules = ("--host-budget", 4, "--exclude-hosts", "excluded.txt")
    said = coati("harvest", addresses, "--goal", "classic", *rules, *USUAL)
    assert said.code == 0, said.err
    *hosts, total = objects(said.out)
    assert {host["host"]: host["requests"] for host in hosts} == {"127.0.0.1": 4, "127.0.0.2": 4}
    assert {host["ended"] for host in hosts} == {"host budget used up"}
    assert total["stop"] == "finished"
    assert ask("out", "SELECT count(*) FROM skipped WHERE reason = 'excluded host'") == [(1,)]


def test_hosts_that_do_not_answer_end_with_a_reason(coati: Coati, addresses: Path) -> None:
    with addresses.open("a") as file:
        file.write("http://127.0.0.9:1/\n")
    said = coati("harvest", addresses, "--goal", "classic", "--max-requests", 30, *USUAL)
    assert "A crawl from 2 URLs" in Path("out/report.html").read_text()
    assert said.code == 0, said.err
    *hosts, total = objects(said.out)
    assert total["relevant"] > 0
    assert total["requests"] <= 30
    reasons = {host["host"]: host["ended"] for host in hosts}
    assert reasons["127.0.0.9"]
    assert reasons["127.0.0.1"] is None


def test_a_harvest_of_pages_that_was_killed_continues(
    server: SiteServer, coati: Coati, addresses: Path, tmp_path: Path
) -> None:
    arguments = ("harvest", addresses, "--goal", "structured-data", "--delay", 0, "--out", "out", "--quiet")
    server.hold_after(20)
    with start_coati(*arguments, cwd=tmp_path) as process:
        wait_until(lambda: len(server.requests) == 20)
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    server.release()
    said = coati(*arguments, "--format", "json")
    assert said.code == 0, said.err
    *_, total = objects(said.out)
    assert (total["stop"], total["relevant"]) == ("finished", RELEVANT)
    assert ask("out", "SELECT count(*), count(DISTINCT page) FROM extractions") == [(RELEVANT, RELEVANT)]
    assert ask("out", "SELECT count(*) FROM statements") == [(7 * RELEVANT,)]
    other = coati("harvest", "out", "--goal", "classic")
    assert other.code == 2
    assert "another goal" in other.err


def script(data: str) -> Route:
    """Answer with a page that holds this as JSON-LD."""
    return answer(200, body=f'<script type="application/ld+json">{data}</script>')


def test_hostile_markup_is_counted_and_stops_nothing(coati: Coati) -> None:
    thing = '<div itemscope itemtype="http://schema.org/Thing" itemprop="p">'
    long = "x" * (5 << 20)
    routes = {
        "/broken": script('{"@type": '),
        "/half": script(r'{"@context": "https://schema.org", "@type": "\ud800", "name": "\ud83d"}'),
        "/long": script(f'{{"@context": "https://schema.org", "@type": "Dataset", "name": "{long}"}}'),
        "/deep": answer(200, body=thing * 3000 + "</div>" * 3000),
    }
    with scripted({"/": page(*routes), "/robots.txt": answer(404), **routes}) as site:
        Path("list.txt").write_text(site.start)
        harvest = ("--delay", 0, "--out", "out")
        said = coati("harvest", "list.txt", "--goal", "structured-data", *harvest)
        assert said.code == 0, said.err
    assert "3 of 5 pages" in said.out
    assert "1 script of JSON-LD, left aside" in said.out
    assert "incomplete: 1 page" in said.err
    kept = dict(ask("out", "SELECT url, statements FROM extractions JOIN requests ON id = page"))
    assert {url.rpartition("/")[2]: count for url, count in kept.items()} == {"half": 2, "long": 2, "deep": 0}
    assert ask("out", "SELECT failed FROM extractions WHERE failed IS NOT NULL") == [("microdata",)]
    assert ask("out", "SELECT max(length(object)) FROM statements") == [(len(long),)]
    # Whoever resumes is told the totals of the run, not of this time.
    again = coati("harvest", "out", "--format", "json", "--quiet")
    *_, total = objects(again.out)
    assert total["broken_scripts"] == 1
    assert (total["extraction"]["pages"], total["extraction"]["pages_now"]) == (3, 0)
    assert coati("export", "out", "out.nq").code == 0


@pytest.mark.parametrize("scope", ["host", "any"])
def test_hosts_that_do_not_answer_end_no_resumed_harvest(
    coati: Coati, server: SiteServer, scope: str
) -> None:
    dead = [f"http://127.0.0.{number}:1/" for number in (8, 9)]
    Path("list.txt").write_text("\n".join([*dead, *(site.start_url for site in server.sites)]))
    # What the silent hosts were asked for is due again when the harvest is resumed.
    limits = ("--limits", "retry_seconds=0.2")
    usual = ("--goal", "classic", "--delay", 0.01, "--no-extract", "--scope", scope, *limits)
    coati("harvest", "list.txt", *usual, "--out", "out", "--max-requests", 4)
    more = coati("harvest", "out", "--max-requests", 30, "--no-extract", "--format", "json")
    *_, total = objects(more.out)
    assert (total["stop"], total["requests"]) == ("budget_requests", 30)


def test_a_resumed_harvest_says_what_is_left_of_its_budget(coati: Coati, addresses: Path) -> None:
    begin = ("harvest", addresses, "--goal", "classic", "--delay", 0.01, "--out", "out", "--no-extract")
    assert "the budget lasts about" in coati(*begin, "--max-requests", 5).err
    more = coati("harvest", "out", "--max-requests", 12, "--no-extract")
    assert "the 7 requests left of the budget last about" in more.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--goal", "microdta"), "did you mean 'microdata'"),
        (("--goal", "classic", "--types", "data"), "one of the two"),
        (("--goal", "classic", "--strategy", "nothing"), "unknown strategy"),
        (("--goal", "no_such:thing"), "cannot be imported"),
    ],
)
def test_bad_goals_are_told_in_one_line(
    coati: Coati, addresses: Path, arguments: tuple[str, ...], told: str
) -> None:
    said = coati("harvest", addresses, *arguments)
    assert said.code == 2
    assert told in said.err
    assert "Traceback" not in said.err


def test_an_own_goal_that_fails_is_told_as_such(coati: Coati, addresses: Path) -> None:
    Path("own_goal.py").write_text("def rich(facts):\n    return facts['nothing']\n")
    said = coati("harvest", addresses, "--goal", "own_goal:rich", *USUAL)
    assert said.code == 2
    assert "goal 'own_goal:rich': it failed with KeyError: 'nothing'" in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("subject", "value", "kind", "line"),
    [
        ("_:p1b0", 'a "b"\n\\', "text", r'_:p1b0 <x:p> "a \"b\"\n\\" <http://a.test/> .'),
        (
            "http://a.test/ü x",
            "http://b.test/<",
            "address",
            "<http://a.test/%C3%BC%20x> <x:p> <http://b.test/%3C> <http://a.test/> .",
        ),
        ("no address", "_:p1b-1", "blank", "<urn:x-undefined:no%20address> <x:p> _:p1bx1 <http://a.test/> ."),
    ],
)
def test_n_quads_hold_whatever_a_page_says(subject: str, value: str, kind: str, line: str) -> None:
    statement = KeptStatement("http://a.test/", "", 1, "rdfa", subject, "x:p", value, kind, None, None)
    assert nquad(statement) == line + "\n"
