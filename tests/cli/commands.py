"""Runs the real command: in this process where that is enough, in its own where signals matter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from coati.cli.main import run


class Said(NamedTuple):
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The only object on stdout."""
        (line,) = self.out.splitlines()
        told: dict[str, Any] = json.loads(line)
        return told


Coati = Callable[..., Said]


@pytest.fixture
def coati(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Coati:
    """Run a command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run_here(*arguments: object) -> Said:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Said(code, *capsys.readouterr())

    return run_here


def start_coati(*arguments: object, cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start a command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "coati", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said_by(process: subprocess.Popen[str]) -> Said:
    """Wait for a command."""
    out, err = process.communicate(timeout=240)
    return Said(process.returncode, out, err)
