"""The real command over several sites of this machine."""

from __future__ import annotations

import csv
import json
import math
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

import coati as coati_package
from coati.testing.generator import generate_site
from coati.testing.server import MakeSite, SiteServer, serve
from coati.testing.site_parameters import SiteParameters
from tests.cli.commands import Coati, coati, start_coati
from tests.live.scripted import Script, answer, file, in_turn, page, scripted
from tests.waiting import wait_until

__all__ = ["coati"]

SITES = 4


def make(number: int) -> MakeSite:
    """Make one site; the first is rich."""
    rich = number == 0
    parameters = SiteParameters(
        pages=40,
        target_share=0.6 if rich else 0.05,
        pages_with_targets=0.3 if rich else 0.03,
        target_bytes=500,
        target_bytes_sd=500,
        page_bytes=2000,
    )
    return lambda base_url: generate_site(parameters, seed=number, base_url=base_url)


@pytest.fixture
def server() -> Iterator[SiteServer]:
    with serve(*[make(number) for number in range(SITES)]) as served:
        yield served


@pytest.fixture
def addresses(server: SiteServer, tmp_path: Path) -> Path:
    file = tmp_path / "sites.txt"
    file.write_text("".join(f"{site.start_url}\n" for site in server.sites))
    return file


def objects(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_one_budget_goes_to_the_sites_that_promise_most(coati: Coati, addresses: Path) -> None:
    said = coati("harvest", addresses, "--types", "data", "--max-requests", 80, "--delay", 0, "--out", "out",
                 "--format", "json", "--sites-at-once", 1)  # fmt: skip
    assert said.code == 0, said.err
    *sites, total = objects(said.out)
    assert (total["stop"], total["requests"], total["sites"]) == ("budget_requests", 80, SITES)
    assert total["targets"] == sum(site["targets"] for site in sites) > 20
    # The richest comes first, and got most of the budget.
    assert sites[0]["site"].startswith("127.0.0.1-")
    assert sites[0]["requests"] > 40
    assert all(site["requests"] > 0 for site in sites)
    check_folder(Path("out"), total)


def check_folder(folder: Path, total: dict[str, Any]) -> None:
    """Check that the files of a harvest say what it said."""
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["requests"], summary["targets"]) == (total["requests"], total["targets"])
    with (folder / "files.csv").open(encoding="utf-8-sig", newline="") as file:
        files = list(csv.DictReader(file))
    assert len(files) == total["targets"]
    assert all((folder / row["file"]).is_file() for row in files)
    with (folder / "sites.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["targets"]) for row in rows] == sorted(
        (int(row["targets"]) for row in rows), reverse=True
    )
    report = (folder / "report.html").read_text()
    for row in rows:
        assert f'href="{row["folder"]}/report.html"' in report
        assert (folder / row["folder"] / "report.html").is_file()


def test_a_harvest_is_resumed_by_its_folder_and_keeps_its_settings(coati: Coati, addresses: Path) -> None:
    begin = ("harvest", addresses, "--types", "data", "--delay", 0, "--out", "out", "--fair", "--quiet")
    assert coati(*begin, "--max-requests", 30).code == 0
    said = coati("harvest", "out", "--max-requests", 60, "--format", "json", "--quiet")
    assert said.code == 0, said.err
    *sites, total = objects(said.out)
    assert total["resumed"]
    assert total["requests"] == 60
    # Half of it is shared equally.
    assert min(site["requests"] for site in sites) >= 60 // 2 // SITES - 2
    refused = coati(*begin[:3], "tables", *begin[4:])
    assert refused.code == 2
    assert "types is 'data' there and 'tables' here" in refused.err


def test_commands_for_one_run_name_those_of_a_harvest(coati: Coati, addresses: Path) -> None:
    coati(
        "harvest", addresses, "--types", "data", "--delay", 0, "--out", "out", "--max-requests", 8, "--quiet"
    )
    first = min(Path("out/sites").iterdir())
    for command in (("show", "out"), ("report", "out"), ("export", "out", "out.nq")):
        said = coati(*command)
        assert (said.code, said.err.count("\n")) == (2, 1)
        assert (
            f"there is no run in out, but one for each site of a harvest: name one of these, such as {first}"
            in said.err
        )
    assert coati("show", first).code == 0


def test_a_resumed_harvest_says_what_is_left_of_its_budget(coati: Coati, addresses: Path) -> None:
    begun = coati(
        "harvest", addresses, "--types", "data", "--delay", 0.01, "--out", "out", "--max-requests", 8
    )
    assert "the budget lasts about" in begun.err
    more = coati("harvest", "out", "--max-requests", 20)
    assert "the 12 requests left of the budget last about" in more.err
    spent = coati("harvest", "out")
    assert "about" not in spent.err
    assert "larger budget" in spent.err


def test_the_time_of_finished_sites_counts(server: SiteServer, tmp_path: Path) -> None:
    """Of two sites, one is done, and the other was never reached: only that one is left."""
    out = tmp_path / "out"
    urls = [server.sites[0].start_url, "http://127.0.0.9:1/"]
    first = coati_package.harvest(urls, out=out, types="data", delay=0, limits={"retries": 0})
    assert isinstance(first, coati_package.FilesHarvested)
    (done,) = [site.folder for site in first.sites if site.targets]
    with closing(sqlite3.connect(out / done / "run.sqlite")) as database, database:
        database.execute("UPDATE sessions SET started_at = '2026-01-01T01:00:00.000Z'")
        database.execute("UPDATE sessions SET ended_at = '2026-01-01T02:00:00.000Z'")
    assert coati_package.harvest(out, max_time="59m").stop is coati_package.StopReason.BUDGET_SECONDS
    assert coati_package.harvest(out, max_time="9d").stop is coati_package.StopReason.START_UNREACHABLE


def test_a_harvest_that_was_killed_continues(
    server: SiteServer, coati: Coati, addresses: Path, tmp_path: Path
) -> None:
    arguments = ("harvest", addresses, "--types", "data", "--delay", 0, "--out", "out", "--quiet")
    server.hold_after(40)
    with start_coati(*arguments, cwd=tmp_path) as process:
        wait_until(lambda: len(server.requests) == 40)
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    server.release()
    said = coati(*arguments, "--format", "json")
    assert said.code == 0, said.err
    *_, total = objects(said.out)
    assert total["stop"] == "finished"
    for run in Path("out/sites").iterdir():
        with sqlite3.connect(run / "run.sqlite") as database:
            assert database.execute("SELECT count(*) FROM in_flight").fetchone() == (0,)
    check_folder(Path("out"), total)


def test_hosts_that_do_not_answer_and_wrong_lines_stop_nothing(coati: Coati, addresses: Path) -> None:
    with addresses.open("a") as file:
        file.write("127.0.0.9:1\nthis is not an address\n")
        file.write(addresses.read_text().splitlines()[0] + "\n")
    Path("excluded.txt").write_text("127.0.0.2\n")
    said = coati("harvest", addresses, "--types", "data", "--max-requests", 40, "--delay", 0, "--out", "out",
                 "--exclude-hosts", "excluded.txt", "--host-budget", 15, "--limits", "retries=0")  # fmt: skip
    assert said.code == 0, said.err
    assert "Left out: line 6: 'this is not an address' is not a URL" in said.err
    assert "1 URL occurred more than once in the list" in said.err
    assert "Without http:// or https://, and so requested over https: 1 URL." in said.err
    assert "the start page could not be reached" in said.out
    with Path("out/sites.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert not any("127.0.0.2" in row["site"] for row in rows)
    assert max(int(row["requests"]) for row in rows) <= 15


@pytest.mark.parametrize("both", [True, False])
def test_sites_that_fall_silent_are_told_and_asked_again(coati: Coati, *, both: bool) -> None:
    def falls_silent(host: str) -> Script:
        files = {f"/{number}.csv": file(b"%d" % number) for number in range(12)}
        return stack.enter_context(scripted({"/": page(*files), "/robots.txt": answer(404), **files}, host))

    down = answer(503)
    with ExitStack() as stack:
        sites = [falls_silent("127.0.0.1"), falls_silent("127.0.0.2")]
        silent = sites if both else sites[:1]
        files = [{**site.routes} for site in silent]
        for site in silent:
            site.routes.update({path: down for path in site.routes if path.endswith(".csv")})
            site.routes["/"] = in_turn(site.routes["/"], down)
        Path("list.txt").write_text("".join(f"{site.start}\n" for site in sites))
        limits = ("max_delay_seconds=0.01", "retry_seconds=0.01", "max_retry_after_seconds=0.01")
        quick = (*(word for limit in limits for word in ("--limits", limit)), "--delay", 0)
        harvest = ("harvest", "list.txt", "--types", "data", "--out", "out", *quick)
        said = coati(*harvest)
        # Where others gave all that they have, the harvest as a whole has not failed.
        assert said.code == (3 if both else 0), said.out
        assert f"Next: {'2 sites' if both else '1 site'} stopped responding" in said.err
        for site, routes in zip(silent, files, strict=True):
            site.routes.update(routes)
        again = coati(*harvest, "--format", "json")
    assert again.code == 0, again.err
    assert objects(again.out)[-1]["targets"] == 24


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "give a file with one address per line"),
        (("missing.txt", "--types", "data"), "cannot be read"),
        (("list.txt",), "say what to harvest"),
        (("list.txt", "--types", "data", "--from", "x"), "not both"),
        (("--from", "nowhere", "--types", "data"), "not the folder of a discovery"),
        (("empty", "--types", "data"), "no harvest in empty"),
        (("list.txt", "--types", "data", "--out", "full"), "holds something that is not a harvest"),
        (("list.txt", "--types", "data", "--exclude-hosts", "list.txt"), "nothing to harvest"),
        (("list.txt", "--types", "dat"), "unknown target type"),
    ],
)
def test_bad_input_is_told_in_one_line(coati: Coati, arguments: tuple[str, ...], told: str) -> None:
    Path("list.txt").write_text("https://example.org/\n")
    Path("empty").mkdir()
    Path("full").mkdir()
    Path("full/something").write_text("x")
    said = coati("harvest", *arguments)
    assert said.code == 2
    assert told in said.err
    assert "Traceback" not in said.err


def test_a_list_may_be_crawled_site_by_site(coati: Coati, addresses: Path) -> None:
    said = coati("crawl", "--from-file", addresses, "--max-requests", 12, "--delay", 0, "--out", "each",
                 "--format", "json", "--quiet")  # fmt: skip
    assert said.code == 0, said.err
    *sites, total = objects(said.out)
    # The budget is that of each site.
    assert [site["requests"] for site in sites] == [12] * SITES
    assert (total["requests"], total["stop"]) == (12 * SITES, "budget_requests")
    lines = [*addresses.read_text().splitlines(), "no address at all!"]
    again = coati_package.crawl_each(
        lines, max_requests=12, delay=0, out="other", stop=coati_package.StopSignal()
    )
    assert [(site.site, site.requests) for site in again.sites] == [
        (site["site"], site["requests"]) for site in sites
    ]
    assert [line.text for line in again.left_out] == ["no address at all!"]
    with pytest.raises(coati_package.CoatiError, match="need a folder"):
        coati_package.crawl_each(lines)
    both = coati("crawl", "https://example.org/", "--from-file", addresses)
    assert both.code == 2
    assert "not both" in both.err


def test_the_function_does_what_the_command_does(server: SiteServer, tmp_path: Path) -> None:
    urls = [site.start_url for site in server.sites]
    done = coati_package.harvest(urls, out=tmp_path / "out", types="data", max_requests=30, delay=0)
    assert isinstance(done, coati_package.FilesHarvested)
    assert sum(site.requests for site in done.sites) == 30
    pages = coati_package.harvest(
        urls, out=tmp_path / "pages", goal=["opengraph"], max_requests=10, delay=0, extract=False
    )
    assert isinstance(pages, coati_package.PagesHarvested)
    assert pages.totals.requests == 10
    with pytest.raises(coati_package.CoatiError, match="one of the two"):
        coati_package.harvest(urls, out=tmp_path / "none")
    with pytest.raises(coati_package.CoatiError, match="give `out`"):
        coati_package.harvest(urls, types="data")
    assert all("<table>" in each._repr_html_() for each in (done, pages))
    # Its folder alone resumes it.
    more = coati_package.harvest(tmp_path / "out", max_requests=40)
    assert isinstance(more, coati_package.FilesHarvested)
    assert (more.resumed, more.exit_code, sum(site.requests for site in more.sites)) == (True, 0, 40)
    more_pages = coati_package.harvest(tmp_path / "pages", max_requests=12, extract=False)
    assert isinstance(more_pages, coati_package.PagesHarvested)
    assert (more_pages.resumed, more_pages.totals.requests) == (True, 12)


def test_progress_is_told_now_and_then_and_at_the_end_and_counts_everything(
    server: SiteServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is told in between depends on the time.
    monkeypatch.setattr("coati.harvesting.files_harvest.PROGRESS_SECONDS", math.inf)
    told: list[coati_package.Progress] = []
    urls = [f"{server.sites[0].start_url}none", *(site.start_url for site in server.sites[1:])]
    for most in (30, 50):
        done = coati_package.harvest(
            urls, out=tmp_path / "out", types="data", delay=0, on_progress=told.append, max_requests=most
        )
        assert isinstance(done, coati_package.FilesHarvested)
        runs = [coati_package.open_run(done.folder / "sites" / site.site).summary for site in done.sites]
        first, last = told
        assert first.requests < last.requests == sum(run.requests for run in runs) == most
        assert last.pages == sum(run.pages for run in runs) > 0
        assert last.failures == sum(run.failures for run in runs) > 0
        told.clear()


def test_a_signal_from_outside_stops_all_sites(
    server: SiteServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coati.harvesting.files_harvest.PROGRESS_SECONDS", 0.0)
    stop = coati_package.StopSignal()

    def fifth(progress: coati_package.Progress) -> None:
        if progress.requests >= 5:
            stop.set()

    urls = [site.start_url for site in server.sites]
    done = coati_package.harvest(
        urls, out=tmp_path / "out", types="data", delay=0, on_progress=fifth, stop=stop, max_requests=200
    )
    assert isinstance(done, coati_package.FilesHarvested)
    assert done.stop is coati_package.StopReason.INTERRUPTED
    assert sum(site.requests for site in done.sites) < 100
