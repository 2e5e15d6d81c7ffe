import errno
import importlib
import os
import pty
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from coati import __version__
from coati.cli.main import COMMANDS, coati, run
from coati.errors import ArchiveError

main = importlib.import_module("coati.cli.main")


Body = Callable[[], object]
Probe = Callable[[Body], int]


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Probe:
    """Run ``coati probe`` with a function as the command; gives the exit code."""

    def run_probe(body: Body) -> int:
        monkeypatch.setattr(main.LazyGroup, "get_command", lambda *_: click.command(name="probe")(body))
        return run(["probe"])

    return run_probe


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_and_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    assert name in capsys.readouterr().out


def test_help_lists_the_commands_without_importing_them() -> None:
    script = (
        "import sys; from coati.cli.main import run; run(['--help']);"
        "print([name for name in ('numpy', 'scrapy', 'matplotlib', 'fastwarc') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown.endswith("[]\n")
    for name in COMMANDS:
        assert name in shown


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"coati {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["--nonsense"], ["archive", "nonsense"], ["archive", "info"]]
)
def test_wrong_usage_is_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert "Error:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("crwl", "`coati crawl`"),
        ("reports", "`coati report`"),
        ("https://a.test/?b&c", "`coati crawl 'https://a.test/?b&c'`"),
    ],
)
def test_a_misspelt_or_forgotten_command_is_told_with_the_one_meant(
    given: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([given, "--out", "x"]) == 2
    assert f"No such command {given!r}. Did you mean {meant}?" in capsys.readouterr().err


def test_an_error_of_the_input_is_one_line_and_2(probe: Probe, capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> None:
        raise ArchiveError("there is no archive at x")

    assert probe(body) == 2
    assert capsys.readouterr() == ("", "coati: there is no archive at x\n")


def test_an_error_of_ours_keeps_its_traceback_and_is_5(
    probe: Probe, capsys: pytest.CaptureFixture[str]
) -> None:
    def body() -> None:
        raise ZeroDivisionError("oh")

    assert probe(body) == 5
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert "ZeroDivisionError: oh" in shown


@pytest.mark.parametrize(
    ("number", "code", "bug"), [(errno.EACCES, 2, False), (errno.ENOSPC, 5, False), (errno.EBADF, 5, True)]
)
def test_what_the_machine_refuses_is_no_bug(
    probe: Probe, capsys: pytest.CaptureFixture[str], number: int, code: int, *, bug: bool
) -> None:
    def body() -> None:
        raise OSError(number, "refused", "file")

    assert probe(body) == code
    assert ("Traceback" in capsys.readouterr().err) == bug


def test_an_interruption_is_130(probe: Probe, capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> None:
        raise KeyboardInterrupt

    assert probe(body) == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (3, 3), ("text", 0)])
def test_a_command_may_return_its_exit_code(probe: Probe, returned: object, code: int) -> None:
    assert probe(lambda: returned) == code


def test_a_reader_that_goes_away_is_no_error() -> None:
    script = (
        "import click, importlib; module = importlib.import_module('coati.cli.main')\n"
        "probe = click.command()(lambda: [print('x' * 1000) for _ in range(10_000)] and None)\n"
        "module.LazyGroup.get_command = lambda *_: probe\n"
        "module.main(['probe'])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        assert writer.stderr is not None
        writer.stdout.readline()
        writer.stdout.close()
        complaint = writer.stderr.read()
    assert complaint == b""
    assert writer.returncode == 0


# A shell makes what it starts in the background ignore Ctrl-C, and children inherit that.
HEAR_CONTROL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


def test_a_second_control_c_while_python_ends_adds_no_traceback() -> None:
    script = HEAR_CONTROL_C + (
        "import atexit, click, importlib, os, signal; module = importlib.import_module('coati.cli.main')\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "def interrupted():\n    os.kill(os.getpid(), signal.SIGINT)\n"
        "module.LazyGroup.get_command = lambda *_: click.command()(interrupted)\n"
        "module.main(['probe'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (130, "coati: interrupted")


@pytest.mark.parametrize("arguments", [["runs"], ["types"], ["show", "--help"], ["crawl", "--help"]])
def test_what_needs_no_scrapy_does_not_wait_for_it(arguments: list[str], tmp_path: Path) -> None:
    script = (
        f"import sys; from coati.cli.main import run; run({arguments!r});"
        "sys.exit(sum(name in sys.modules for name in ('scrapy', 'twisted')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def test_control_c_ends_a_real_command_with_130() -> None:
    script = HEAR_CONTROL_C + (
        "import click, importlib, os, signal, time; module = importlib.import_module('coati.cli.main')\n"
        "def wait():\n    print('ready', flush=True)\n    time.sleep(60)\n"
        "module.LazyGroup.get_command = lambda *_: click.command()(wait)\n"
        "module.main(['probe'])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as waiting:
        assert waiting.stdout is not None
        waiting.stdout.readline()
        os.kill(waiting.pid, signal.SIGINT)
        waiting.communicate()
    assert waiting.returncode == 130


# `from` first: the module of the same name takes the place of the function in the package.
WAIT_FOR_SIGNAL = """
import importlib, sys, time
from coati.cli import main
import click
def wait():
    print('ready', flush=True)
    time.sleep(60)
importlib.import_module('coati.cli.main').LazyGroup.get_command = lambda *_: click.command()(wait)
sys.argv = ['coati', 'probe']
main()
"""


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_end_every_command_as_control_c_does(kind: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAIT_FOR_SIGNAL], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as waiting:
        assert waiting.stdout is not None
        waiting.stdout.readline()
        waiting.send_signal(kind)
        _, complaint = waiting.communicate()
    assert (waiting.returncode, complaint.strip()) == (130, b"coati: interrupted")


def test_a_terminal_that_was_closed_is_told_nothing_more() -> None:
    ours, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", WAIT_FOR_SIGNAL], stdout=terminal, stderr=terminal
    ) as waiting:
        os.close(terminal)
        # The whole line: a terminal that closes while it is being written refuses the rest of it.
        with os.fdopen(ours, "rb", buffering=0) as screen:
            assert screen.readline() == b"ready\r\n"
        waiting.send_signal(signal.SIGHUP)
    assert waiting.returncode == 130


def test_python_m_coati_is_the_same_command() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "coati", "--version"], capture_output=True, text=True, check=True
    )
    assert shown.stdout == f"coati {__version__}\n"
    assert isinstance(coati, click.Group)


# As soon as this is looked for: the command line, then a command, are being imported.
INTERRUPT_IMPORT = """
import os, sys
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.{kind})
sys.meta_path.insert(0, Finder())
"""
STARTS = {
    "script": "sys.argv = ['/usr/bin/coati', 'show']; from coati.cli import main; main()",
    "module": "sys.argv = ['x', 'show']; import runpy; runpy.run_module('coati', run_name='__main__')",
}


@pytest.mark.parametrize("kind", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("module", ["click", "coati.cli.show"])
@pytest.mark.parametrize("start", STARTS)
def test_control_c_while_it_is_loaded_shows_no_traceback(start: str, module: str, kind: str) -> None:
    script = HEAR_CONTROL_C + INTERRUPT_IMPORT.format(module=module, kind=kind) + STARTS[start]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "coati: interrupted\n")


def test_whoever_imports_it_as_a_library_has_an_own_handler() -> None:
    script = HEAR_CONTROL_C + INTERRUPT_IMPORT.format(module="click", kind="SIGINT") + "import coati.cli.main"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "KeyboardInterrupt" in done.stderr


@pytest.mark.parametrize("kind", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_who_ignores_control_c_goes_on_doing_so(kind: str) -> None:
    ignore = f"import signal; signal.signal(signal.{kind}, signal.SIG_IGN)\n"
    start = "sys.argv = ['coati', '--version']; from coati.cli import main; main()"
    script = ignore + INTERRUPT_IMPORT.format(module="click", kind=kind) + start
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_collections_leave_out_what_a_command_imported() -> None:
    script = (
        "import gc, sys; from coati.cli.main import run\n"
        "counts = []\n"
        "for _ in range(2):\n    run(['types', '--help'])\n    counts.append(gc.get_freeze_count())\n"
        "sys.exit([counts[0] > 0, counts[1] == counts[0], gc.isenabled()] != [True, True, True])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_was_left_out_is_collected_at_the_end() -> None:
    # The library with the most to say about what a program leaves behind.
    script = "import duckdb; from coati.cli.main import run; run(['types', '--help'])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_replay_imports_no_strategy_of_discovery_and_no_software_of_sites() -> None:
    script = (
        "import sys; from coati.cli.main import run; run(['replay', '--help'])\n"
        "rare = 'coati.shortcuts.registry', 'coati.strategies.discovery.dsdd', 'coati.experiments.runner'\n"
        "print([name for name in rare if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_library_that_takes_control_c_for_an_error_is_not_believed(
    probe: Probe, capsys: pytest.CaptureFixture[str]
) -> None:
    def body() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("a part of the library is missing")  # noqa: B904 - as libraries do

    assert probe(body) == 130
    assert capsys.readouterr().err == "coati: interrupted\n"


def test_nothing_is_imported_before_control_c_is_heard() -> None:
    script = "import sys; before = {*sys.modules}; import coati.cli; print(*{*sys.modules} - before)"
    # Without `site`, whose files import what they like.
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({source!r}); {script}"],
        capture_output=True,
        text=True,
        check=True,
    )
    ours = {name for name in done.stdout.split() if name.partition(".")[0] == "coati"}
    assert ours == {"coati", "coati.cli", "coati.lazy_names", "coati.version"}
    assert not {"typing", "signal", "collections", "contextlib"} & set(done.stdout.split())


@pytest.mark.parametrize(
    ("number", "code", "bug"),
    [(sqlite3.SQLITE_FULL, 5, False), (sqlite3.SQLITE_CORRUPT, 2, False), (sqlite3.SQLITE_MISUSE, 5, True)],
)
def test_what_a_database_cannot_do_for_the_machine_is_no_bug(
    probe: Probe, capsys: pytest.CaptureFixture[str], number: int, code: int, *, bug: bool
) -> None:
    def body() -> None:
        error = sqlite3.OperationalError("refused")
        error.sqlite_errorcode = number
        raise error

    assert probe(body) == code
    assert ("Traceback" in capsys.readouterr().err) == bug
