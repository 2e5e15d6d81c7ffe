"""What is said when a harvest has ended, without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from coati.cli.harvest_result import SiteColumns, print_sites, show_files
from coati.harvesting.files_harvest import FilesHarvested
from coati.harvesting.folder import HarvestLayout, SiteSummary, ranked
from coati.stop_reasons import StopReason


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        (StopReason.INTERRUPTED, "run `coati harvest {folder}`.\n"),
        (StopReason.BUDGET_REQUESTS, "run `coati harvest {folder}` with a larger budget.\n"),
        (StopReason.FINISHED, ""),
    ],
)
def test_only_a_spent_budget_has_to_be_larger(
    stop: StopReason, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show_files(FilesHarvested(stop, [], HarvestLayout(tmp_path), resumed=False), "table")
    told = capsys.readouterr().err
    assert told == (f"Next: to continue, {said.format(folder=tmp_path)}" if said else "")


def test_another_command_may_continue_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended = FilesHarvested(StopReason.BUDGET_REQUESTS, [], HarvestLayout(tmp_path), resumed=False)
    show_files(ended, "table", again="the same command")
    assert capsys.readouterr().err == "Next: to continue, run the same command with a larger budget.\n"


def test_hosts_that_did_not_end_have_no_empty_column(capsys: pytest.CaptureFixture[str]) -> None:
    columns = SiteColumns("host", "relevant", "no longer requested because")
    print_sites([("a.test", 3, 12, "")], columns, "run.sqlite")
    shown = capsys.readouterr().out
    assert "relevant" in shown
    assert "because" not in shown
    print_sites([("a.test", 3, 12, ""), ("b.test", 0, 1, "no such host")], columns, "run.sqlite")
    shown = capsys.readouterr().out
    assert "because" in shown
    assert "no such host" in shown


def test_sites_that_never_answered_are_last() -> None:
    def site(name: str, requests: int, targets: int) -> SiteSummary:
        return SiteSummary(name, "", requests, targets, 0, 0, 0, 0, 0, 0.0, None, "")

    sites = [site("silent", 0, 0), site("poor", 9, 0), site("rich", 40, 9), site("richer", 30, 9)]
    assert [each.site for each in ranked(sites)] == ["richer", "rich", "poor", "silent"]
