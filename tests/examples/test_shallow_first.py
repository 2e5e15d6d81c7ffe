"""The strategy of the how-to keeps the contract, and every command takes it by its path."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from coati.assembly import strategy_row
from coati.cli.main import run
from coati.errors import ConfigError
from coati.testing.checks import check_strategy
from coati.testing.sample_site import sample_site
from coati.testing.server import serve
from examples.shallow_first import ShallowFirst
from tests.replaying import tiny_site

PATH = "shallow_first:ShallowFirst"


Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _beside_the_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2] / "examples")


def said(capsys: Captured, *arguments: object) -> list[dict[str, Any]]:
    """Run a command that must go well, and read what it says."""
    capsys.readouterr()
    code = run([str(argument) for argument in (*arguments, "--format", "json")])
    told = capsys.readouterr()
    assert code == 0, told.err
    return [json.loads(line) for line in told.out.splitlines()]


def test_keeps_the_contract() -> None:
    check_strategy(lambda site, seed: ShallowFirst([site.start_url], seed), in_flight=[1, 4])


def test_is_taken_by_its_path_in_a_replay(tmp_path: Path, capsys: Captured) -> None:
    archive = tiny_site.make(tmp_path / "tiny")
    rows = said(capsys, "replay", archive, "--strategy", f"{PATH},bfs")
    assert [(row["strategy"], row["targets"]) for row in rows] == [(PATH, 3), ("bfs", 3)]


def test_is_taken_by_its_path_in_an_experiment(tmp_path: Path, capsys: Captured) -> None:
    tiny_site.make(tmp_path / "archives" / "tiny")
    file = tmp_path / "own.toml"
    file.write_text(
        f'table = "own"\ntitle = "Own"\nsites = ["tiny"]\nstrategies = ["{PATH}", "bfs"]\n'
        'measures = ["targets"]\nseeds = 1\n'
    )
    folders = ["--archives", tmp_path / "archives", "--out", tmp_path / "out"]
    rows = said(capsys, "experiment", file, *folders)
    assert {row["strategy"] for row in rows} >= {PATH, "bfs"}


def test_is_taken_by_its_path_in_a_crawl_and_resumed(tmp_path: Path, capsys: Captured) -> None:
    with serve(sample_site) as server:
        crawl = ["crawl", server.url, "--strategy", PATH, "--delay", 0, "--out", tmp_path / "run"]
        said(capsys, *crawl, "--max-requests", 10)
        (told,) = said(capsys, *crawl, "--max-requests", 20)
    assert told["requests"] == 20


def test_a_run_is_explained_in_another_folder_by_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    with serve(sample_site) as server:
        limits = ["--delay", 0, "--max-requests", 10]
        said(capsys, "crawl", server.url, "--strategy", PATH, *limits, "--out", tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "shallow_first")
    monkeypatch.setattr(sys, "path", [place for place in sys.path if not place.endswith("examples")])
    with sqlite3.connect(tmp_path / "run" / "run.sqlite") as log:
        waiting = "SELECT url FROM links WHERE url NOT IN (SELECT url FROM requests) LIMIT 1"
        ((waits,),) = log.execute(waiting)
        ((asked,),) = log.execute("SELECT url FROM requests WHERE link IS NOT NULL LIMIT 1")
    for url, verdict in ((waits, "waiting"), (asked, None)):
        (told,) = said(capsys, "explain", url, "--run", "run")
        assert told["found"]["found_on"]
        assert verdict in {None, told["verdict"]}
        assert "'shallow_first' cannot be imported" in told["missing"]
    assert run(["explain", waits, "--run", "run"]) == 0
    assert "missing:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no_such_module:Crawler", "cannot be imported"),
        ("shallow_first:Deep", "has no 'Deep'"),
        ("coati.model:EVERY_HOST", "must be a class or a function"),
    ],
)
def test_a_wrong_path_is_reported(path: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        strategy_row(path)


@pytest.mark.parametrize(
    "command",
    [
        ["replay", "nowhere", "--strategy", "shallow_first.ShallowFirst"],
        ["crawl", "http://127.0.0.1:9/", "--strategy", "shallow_first.ShallowFirst"],
        ["experiment", "../experiments/edbt2026/table2.toml", "--strategies", "shallow_first.ShallowFirst"],
    ],
)
def test_a_path_with_a_dot_for_its_colon_is_told(command: list[str], capsys: Captured) -> None:
    assert run(command) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "'shallow_first.ShallowFirst'; if it is your own, write shallow_first:ShallowFirst" in told


WRONG = """
from shallow_first import ShallowFirst

class Empty:
    def __init__(self, start_urls, seed): ...

class WithoutArguments:
    def __init__(self): ...

class Failing(ShallowFirst):
    def observe(self, request_id, outcome, now):
        raise ZeroDivisionError

class Chatty(ShallowFirst):
    def choose(self, now, hosts):
        return "whatever comes"

class Silent(ShallowFirst):
    def observe(self, request_id, outcome, now):
        super().observe(request_id, outcome, now)

class Shouting(ShallowFirst):
    def choose(self, now, hosts):
        return super().choose(now, hosts)._replace(method="GET")

class Short(ShallowFirst):
    def choose(self, now, hosts):
        return super().choose(now, hosts)._replace(url="/data.csv")
"""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Empty", "has no choose, observe, redo, save, load, arm_label"),
        ("WithoutArguments", "it takes the start URLs and a seed, and the call failed with TypeError"),
        ("Failing", "this error comes from your own code: "),
        ("Chatty", "choose returned 'whatever comes': it must be a Request, a Later or None"),
        ("Silent", "observe returned None: it must return the rewards that became final, or ()"),
        ("Shouting", "the strategy's request has method 'GET': it must be a Method, such as Method.GET"),
        ("Short", "the strategy requested '/data.csv': it must be a URL, with its scheme and host"),
    ],
)
def test_what_is_wrong_with_a_strategy_is_not_a_bug_of_coati(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / "wrong_strategies.py").write_text(WRONG)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "wrong_strategies", raising=False)
    archive = tiny_site.make(tmp_path / "tiny")
    with serve(sample_site) as server:
        crawl = ["crawl", server.url, "--delay", "0", "--max-requests", "5", "--out", str(tmp_path / "run")]
        for command in (crawl, ["replay", str(archive)]):
            assert run([*command, "--strategy", f"wrong_strategies:{name}"]) == 2
            told = capsys.readouterr().err
            assert message in told
            assert "bug in Coati" not in told


ROWS = """
from coati.assembly import Need, StrategyRow
from shallow_first import ShallowFirst

def build(given):
    return ShallowFirst(given.start_urls, given.seed)

RIGHT = StrategyRow("mine", build, ("shallow_first",), ("batch",), frozenset({Need.OUT_LINKS}))
NO_SUCH_SETTING = StrategyRow("mine", build, (), settings=("bach",))
NOT_READ = StrategyRow("mine", build, (), settings=("batch",), changeable=("warm_up",))
NO_SUCH_FACT = StrategyRow("mine", build, (), extractors=("texts",))
WORDS = StrategyRow("mine", build, "shallow_first")
NEEDS = StrategyRow("mine", build, (), needs={"truth"})
TRAPS = StrategyRow("mine", build, (), traps="ours")
SEEDED = StrategyRow("mine", build, (), seeded="no")
NO_BUILD = StrategyRow("mine", None, ())
WITHOUT_ARGUMENTS = StrategyRow("mine", lambda: ShallowFirst([]), ())
NOTHING = StrategyRow("mine", lambda given: None, ())
"""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "NO_SUCH_SETTING",
            "unknown name in the settings of wrong_rows:NO_SUCH_SETTING, 'bach'; did you mean 'batch'?",
        ),
        ("NOT_READ", "unknown name in the changeable of"),
        ("NO_SUCH_FACT", "did you mean 'text'?"),
        ("WORDS", "its row's modules is 'shallow_first', and should be a tuple of texts"),
        ("NEEDS", "its row's needs is {'truth'}, and should be a frozenset of Need.TRUTH, "),
        ("TRAPS", "its row's traps is 'ours', and should be a TrapRule"),
        ("SEEDED", "its row's seeded is 'no', and should be True or False"),
        ("NO_BUILD", "its row's build is None, and should be a function"),
        ("WITHOUT_ARGUMENTS", "it takes a StrategyInputs, and the call failed with TypeError"),
        ("NOTHING", "has no choose, observe, redo, save, load, arm_label"),
    ],
)
def test_what_is_wrong_with_a_row_is_no_bug_of_coati(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / "wrong_rows.py").write_text(ROWS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "wrong_rows", raising=False)
    archive = tiny_site.make(tmp_path / "archives" / "tiny")
    file = tmp_path / "own.toml"
    file.write_text(
        f'table = "own"\ntitle = "Own"\nsites = ["tiny"]\nstrategies = ["wrong_rows:{name}"]\n'
        'measures = ["targets"]\nseeds = 1\nbounds = false\n'
    )
    folders = ["--archives", str(tmp_path / "archives"), "--out", str(tmp_path / "out"), "--jobs", "0"]
    assert strategy_row("wrong_rows:RIGHT").settings == ("batch",)
    for command in (
        ["replay", str(archive), "--strategy", f"wrong_rows:{name}"],
        ["experiment", str(file), *folders],
    ):
        assert run(command) == 2
        told = capsys.readouterr().err
        assert message in told
        assert "bug in Coati" not in told


def test_what_fails_in_an_installed_library_is_not_called_your_own_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "wrong_strategies.py").write_text(WRONG)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "wrong_strategies", raising=False)
    archive = tiny_site.make(tmp_path / "tiny")
    assert run(["replay", str(archive), "--strategy", "wrong_strategies:Failing"]) == 5
    assert "your own code" not in capsys.readouterr().err
