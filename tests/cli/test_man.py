"""The man pages say what the commands' help says, and a formatter takes them."""

import shutil
import subprocess
from pathlib import Path

import click
import pytest

from coati.cli.main import coati as program
from coati.cli.man_pages import man_pages
from tests.cli.commands import Coati, coati
from tests.test_docs import COMMANDS

__all__ = ["coati"]

PAGES = man_pages(program)


def test_each_command_has_a_page_with_all_its_options() -> None:
    for path, command in COMMANDS.items():
        page = PAGES[f"coati-{'-'.join(path)}.1"].replace("\\-", "-")
        assert f".B coati {' '.join(path)}\n" in page
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert max(parameter.opts, key=len) in page
    assert len(PAGES) == len(COMMANDS) + len({path[0] for path in COMMANDS if len(path) > 1}) + 1


def test_the_first_page_lists_the_commands_and_exit_codes() -> None:
    page = PAGES["coati.1"]
    assert "coati\\-crawl\\fR(1)" in page
    assert ".SH EXIT STATUS" in page
    assert ".B 130" in page


def test_they_are_written_where_they_are_wanted(coati: Coati, tmp_path: Path) -> None:
    for _ in range(2):
        said = coati("man", "share/man1", "--format", "json")
        assert (said.code, said.json["pages"]) == (0, sorted(PAGES))
    assert {path.name: path.read_text() for path in (tmp_path / "share" / "man1").iterdir()} == PAGES
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert coati("man", "file").code == 2


@pytest.mark.skipif(shutil.which("groff") is None, reason="no formatter here")
def test_a_formatter_has_nothing_to_complain_of() -> None:
    for name, page in PAGES.items():
        command = ["groff", "-man", "-Tutf8", "-P-c", "-P-b", "-P-u", "-wmac", "-wsyntax", "-wchar"]
        done = subprocess.run(command, input=page, capture_output=True, text=True, check=True)
        assert done.stderr == "", name
        assert "\nNAME\n" in done.stdout
