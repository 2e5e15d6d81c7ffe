"""Commands of users: one argument per value, no shell, and an end in any case."""

import json
import os
import sys
from pathlib import Path

import pytest

from coati.errors import ConfigError
from coati.jobs.external_command import ExternalCommand

# Writes its arguments, some of its environment and its input into the file that is its first argument.
REPEAT = """
import json, os, sys
told = {"arguments": sys.argv[2:], "file": os.environ["COATI_FILE"], "input": json.load(sys.stdin)}
open(sys.argv[1], "w", encoding="utf-8").write(json.dumps(told))
"""


def command(code: str, *words: str, seconds: float = 60.0) -> ExternalCommand:
    return ExternalCommand((sys.executable, "-c", code, *words), seconds)


@pytest.mark.parametrize("name", ["a b.csv", "$(touch x).csv", "a;b|c.csv", "{url}.csv", "-rf", "ü'\"\n.csv"])
def test_a_value_is_one_argument_whatever_it_holds(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    asked = command(REPEAT, str(out), "{file}", "at={file}", "{url}")
    assert asked.run({"file": name, "url": "http://example.org/?a={file}"}, {"file": name}) == ""
    told = json.loads(out.read_text(encoding="utf-8"))
    assert told["arguments"] == [name, f"at={name}", "http://example.org/?a={file}"]
    assert told["file"] == told["input"]["file"] == name


def test_no_shell_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ExternalCommand.parse("echo {file} > out; touch x", ("file",), 60.0)
    assert asked.run({"file": "a"}, {}) == ""
    assert list(tmp_path.iterdir()) == []


def test_what_went_wrong_is_said_with_its_last_words() -> None:
    fails = command("import sys; print('first', file=sys.stderr); sys.exit('no\\x1b such table\\n')")
    said = fails.run({}, {})
    assert said.startswith("it ended with exit code 1 (no")
    assert said.endswith(" such table)")
    assert "\x1b" not in said
    assert command("import os, signal; os.kill(os.getpid(), signal.SIGKILL)").run({}, {}).endswith("code -9")
    # It need not read what it is told, and may say a lot.
    assert command("print('x' * 10_000_000)").run({}, {"long": "x" * 1_000_000}) == ""


def test_one_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    child = f"import signal; held = open({str(pipe)!r}, 'w'); signal.pause()"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    assert command(code, seconds=1.0).run({}, {}) == "it took longer than 1 s"
    # Ends when nobody has the pipe open for writing any more.
    os.set_blocking(reader, True)
    assert os.read(reader, 1) == b""
    os.close(reader)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the command is empty"),
        ("echo 'a", "cannot be split into words"),
        ("no-such-command {file}", "there is no command 'no-such-command'"),
        ("echo {flie}", "{flie} stands for nothing; there are {file}, {url}"),
        ("echo {}", "{} stands for nothing; there are {file}, {url}"),
        ("{file} -x", "there is no command '{file}'"),
    ],
)
def test_what_is_no_command_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ExternalCommand.parse(text, ("file", "url"), 60.0)
    assert said in str(refused.value)


def test_braces_that_name_nothing_are_left_alone() -> None:
    assert ExternalCommand.parse("ls {} {file}", ("file",), 1.0).words[1] == "{}"
    assert ExternalCommand.parse("awk '{print $1}' {file}", ("file",), 1.0).words[1] == "{print $1}"


def test_one_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n", encoding="utf-8")
    script.chmod(0o755)
    assert "could not be started" in ExternalCommand((str(script),), 1.0).run({}, {})
    assert "could not be started" in command("pass", "{file}").run({"file": "a\0b"}, {})
