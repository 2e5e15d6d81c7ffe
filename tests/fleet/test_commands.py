"""The commands of a fleet, as people type them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from coati.cli.fleet_harvest import show_harvest
from coati.fleet.deaths import is_quarantined, quarantine
from coati.fleet.harvest import FleetHarvested
from coati.fleet.objects import ObjectStore
from coati.fleet.store_jobs import StoreHarvest
from coati.stop_reasons import StopReason
from coati.testing.server import SiteServer, serve
from tests.cli.commands import Coati, coati
from tests.fleet.test_client import make

__all__ = ["coati"]


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with serve(make(0), make(1)) as served:
        yield served


def test_a_harvest_into_a_store_and_out_of_it(coati: Coati, server: SiteServer, s3_url: str) -> None:
    Path("sites.txt").write_text("".join(f"{site.start_url}\n" for site in server.sites))
    said = coati(
        "harvest", "sites.txt", "--types", "data", "--delay", 0, "--max-requests", 40, "--store", s3_url,
        "--format", "json", "--events", "events.jsonl",
    )  # fmt: skip
    assert said.code == 0, said.err
    *sites, total = [json.loads(line) for line in said.out.splitlines()]
    assert (total["requests"], total["sites"], total["resumed"], total["deaths"]) == (40, 2, False, 0)
    events = [json.loads(line) for line in Path("events.jsonl").read_text().splitlines()]
    assert {event["what"] for event in events} == {"sent", "ended", "stopping"}

    status = coati("fleet", "status", s3_url, "--format", "json")
    assert json.loads(status.out.splitlines()[-1])["requests"] == 40
    table = coati("fleet", "status", s3_url)
    assert sites[0]["site"] in table.out
    assert "none is running" in table.out

    site = sites[0]["site"]
    report = ObjectStore(s3_url).read(f"sites/{site}/report.html") or b""
    command = f"coati pull {s3_url} {site} --out {site}"
    assert command in report.decode()
    pulled = coati("pull", s3_url, site, "--out", "pulled", "--format", "json")
    assert command not in Path("pulled/report.html").read_text(encoding="utf-8")
    assert pulled.json["targets"] == sites[0]["targets"]
    assert coati("verify", "pulled").code == 0
    assert coati("pull", s3_url, site, "--out", "pulled").code == 2

    log = coati("fleet", "log", s3_url, site, "--last", 3, "--format", "json")
    assert len(log.out.splitlines()) == 3
    assert len(coati("fleet", "log", s3_url, site).out.splitlines()) == sites[0]["requests"]

    store = ObjectStore(s3_url)
    quarantine(store, f"sites/{site}", 3, 0.0)
    assert f"quarantine: {site}" in coati("fleet", "status", s3_url).out
    assert "crawled again" in coati("fleet", "free", s3_url, site).out
    assert not is_quarantined(store, f"sites/{site}")
    assert "was not in quarantine" in coati("fleet", "free", s3_url, site).out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--cluster", "local:2"], "--cluster and --events need --store"),
        (["--store", "out", "--cluster", "nonsense"], "there is no cluster 'nonsense': use local:2"),
        (["--store", "memory://x", "--cluster", "local:2"], "cannot use a store in memory"),
        (["--store", "out", "--scope", "any"], "a fleet crawls site by site"),
        (["--store", "out", "--exec", "true {file}"], "exec is for one machine"),
        (["--store", "out", "--log-file", "log"], "log_file is for one machine"),
        (["--store", "s3://no-such-bucket-here/x"], "Does the store exist"),
        (["--store", "sites.txt"], "Does the store exist"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    coati: Coati, s3_bucket: str, arguments: list[str], words: str
) -> None:
    assert s3_bucket
    Path("sites.txt").write_text("http://127.0.0.1:9/\n")
    said = coati("harvest", "sites.txt", "--types", "data", *arguments)
    assert (said.code, len(said.err.splitlines()) <= 2) == (2, True)
    assert words in said.err
    # What is refused leaves nothing behind.
    assert not Path("out").exists()


def test_a_cluster_that_does_not_answer_leaves_nothing_behind(
    coati: Coati, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coati.fleet.dask_cluster._CONNECT_SECONDS", 0.2)
    Path("sites.txt").write_text("http://127.0.0.1:9/\n")
    own = ("--store", "out", "--cluster", "tcp://127.0.0.1:9")
    said = coati("harvest", "sites.txt", "--types", "data", *own, "--events", "events.jsonl")
    assert (said.code, "no Dask scheduler responds at tcp://127.0.0.1:9" in said.err) == (2, True)
    said = coati("watch", *own, "--once")
    assert (said.code, "no Dask scheduler responds at tcp://127.0.0.1:9" in said.err) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["sites.txt"]


def test_it_says_how_to_get_at_the_files(coati: Coati, server: SiteServer) -> None:
    Path("sites.txt").write_text(f"{server.url}\n")
    said = coati("harvest", "sites.txt", "--types", "data", "--delay", 0, "--store", "my store")
    command = shlex.split(said.err.splitlines()[-1].partition("site: coati ")[2])
    assert coati(*command).code == 0
    assert list(Path(command[-1], "files").iterdir())


def test_pages_are_for_one_machine(coati: Coati) -> None:
    Path("sites.txt").write_text("http://127.0.0.1:9/\n")
    said = coati("harvest", "sites.txt", "--goal", "structured-data", "--store", "out")
    assert (said.code, "works with --types only" in said.err) == (2, True)


@pytest.mark.parametrize("command", [["fleet", "status"], ["pull", "--out", "x"], ["fleet", "log"]])
def test_a_store_without_a_harvest_is_refused(coati: Coati, command: list[str]) -> None:
    more = [] if command == ["fleet", "status"] else ["a.org"]
    said = coati(*command, "empty", *more)
    assert (said.code, "holds no" in said.err) == (2, True)


@pytest.mark.parametrize(
    ("stop", "more"), [("INTERRUPTED", ""), ("BUDGET_REQUESTS", " with a larger budget")]
)
def test_only_a_spent_budget_has_to_be_larger(
    stop: str, more: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = FleetHarvested(StopReason[stop], "out", [], resumed=False, slices=0, deaths=0)
    show_harvest(StoreHarvest(ended, [], "out/report.html"), "table")
    assert capsys.readouterr().err == f"Next: to continue, run the same command{more}.\n"
