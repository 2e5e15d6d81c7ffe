"""Nothing that a site sends drives the terminal of whoever reads about it."""

import json
import re
from collections.abc import Iterator
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.live import Live

from coati.budget import Budget
from coati.cli.terminal import say
from coati.jobs.live_progress import CrawlView, _block
from coati.live.progress import ArmYield, Progress
from coati.web.invisible_characters import safe
from tests.cli.commands import Coati, coati
from tests.live.scripted import Route, Script, file, scripted

__all__ = ["coati"]

ATTACK = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\u2066\x85\x08\x7f"
DRIVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@given(st.text())
def test_what_is_safe_holds_nothing_that_drives_and_json_stays_json(text: str) -> None:
    assert not DRIVES.search(safe(text))
    assert json.loads(safe(json.dumps({"text": text}))) == {"text": text}
    assert safe(safe(text)) == safe(text)


def test_lines_stand_above_a_bar_and_not_in_it() -> None:
    drawn = Console(file=StringIO(), force_terminal=True, width=60)
    with Live("the bar", console=drawn, auto_refresh=False):
        say("a line", err=True)
    assert "the bara line" not in drawn.file.getvalue()  # type: ignore[attr-defined]
    assert "a line\n" in drawn.file.getvalue()  # type: ignore[attr-defined]


@pytest.fixture
def site() -> Iterator[Script]:
    def hostile(*addresses: str) -> Route:
        items = "".join(f'<li class="{ATTACK}"><a href="{to}">{ATTACK}</a>' for to in addresses)
        return lambda exchange: exchange.answer(body=f"<title>{ATTACK}</title><ul>{items}</ul>")

    routes = {"/": hostile(*(f"/{n}" for n in range(9)))}
    for number in range(9):
        routes[f"/{number}"] = hostile(f"/{number}.csv")
        routes[f"/{number}.csv"] = file(b"%d" % number)
    with scripted(routes) as server:
        yield server


def test_no_command_passes_it_on(coati: Coati, site: Script) -> None:
    crawl = ("crawl", site.start, "--out", "run", "--delay", "0", "--strategy", "sb-classifier")
    commands = [
        (*crawl, "--dry-run"),
        (*crawl, "--archive", "kept"),
        ("show", "run"),
        ("runs", "."),
        ("explain", f"{site.start}1.csv", "--run", "run"),
        ("archive", "info", "kept"),
        ("replay", "kept"),
        ("explain", f"{site.start}{ATTACK}", "--run", "run"),
    ]
    told = {command[:2]: coati(*command) for command in commands}
    assert [name for name, said in told.items() if DRIVES.search(said.out + said.err)] == []
    assert told["show", "run"].code == 0
    assert "\\u001b[2J" in told["show", "run"].out


def test_neither_do_the_lines_that_stay_in_place() -> None:
    view = CrawlView(Budget())
    view.on_progress(Progress(best_arm=ArmYield(f"ul.{ATTACK} > a", 3, 5.0)))
    text = StringIO()
    Console(file=text, width=200, force_terminal=False, color_system=None).print(_block(view, 190))
    assert "best group" in text.getvalue()
    assert not DRIVES.search(text.getvalue())
