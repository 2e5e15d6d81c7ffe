"""A command of the user, run for one item after another: without a shell, and with a time limit.

The command line is split into words once, before anything that a site says is put in their place. So a file
name or an address is always one argument, whatever it holds.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, Self

from coati.errors import ConfigError
from coati.units import format_seconds
from coati.web.invisible_characters import safe

_PLACEHOLDER = re.compile(r"\{([a-z0-9_]+)\}")

# Of what a command says on stderr, the last line is reported, and no more of it than this.
_TOLD_BYTES = 500


@dataclass(frozen=True, slots=True)
class ExternalCommand:
    """Words, some of them with placeholders such as ``{file}``, and how long they may take."""

    words: tuple[str, ...]
    seconds: float

    @classmethod
    def parse(cls, text: str, names: Collection[str], seconds: float) -> Self:
        """Read a command line in which ``names`` may stand in braces.

        Raises `ConfigError` for an unknown name, and where there is no such command.

        >>> ExternalCommand.parse("ls -l '{file}'", ("file", "url"), 60.0).words
        ('ls', '-l', '{file}')
        """
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise ConfigError(f"exec: the command cannot be split into words: {error}") from None
        if not words or shutil.which(words[0]) is None:
            missing = f"there is no command {words[0]!r}" if words else "the command is empty"
            raise ConfigError(f"exec: {missing}; to use a shell, write: sh -c '…' sh {{file}}")
        named = [name for word in words for name in _PLACEHOLDER.findall(word)]
        # As xargs and find have it; beside one of ours it may be meant for a program of their kind.
        unknown = [name for name in named if name not in names] or (
            [""] if "{}" in words and not named else []
        )
        if unknown:
            known = ", ".join(f"{{{each}}}" for each in names)
            raise ConfigError(f"exec: {{{unknown[0]}}} stands for nothing; there are {known}")
        return cls(words, seconds)

    def run(self, values: Mapping[str, str], payload: Mapping[str, object]) -> str:
        """Run it with these values in the place of their names; return what went wrong, else nothing.

        The values are in its environment too (``COATI_FILE``), and ``payload`` comes as JSON on its stdin.
        """
        words = [_PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in self.words]
        variables = {f"COATI_{name.upper()}": value for name, value in values.items()}
        with tempfile.TemporaryFile() as said:
            try:
                process = subprocess.Popen(  # noqa: S603 - the user's own command, and no shell
                    words,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=said,
                    env={**os.environ, **variables},
                    # So that all of it can be ended, and Ctrl-C is for us.
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                return f"it could not be started: {getattr(error, 'strerror', None) or error}"
            with process:
                trouble = self._wait(process, json.dumps(payload, ensure_ascii=False).encode())
            return f"{trouble}{_last_line(said)}" if trouble else ""

    def _wait(self, process: subprocess.Popen[bytes], payload: bytes) -> str:
        try:
            process.communicate(payload, timeout=self.seconds)
        except subprocess.TimeoutExpired:
            # With all that it has started.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            return f"it took longer than {format_seconds(self.seconds)}"
        return f"it ended with exit code {process.returncode}" if process.returncode else ""


def _last_line(said: BinaryIO) -> str:
    size = said.seek(0, os.SEEK_END)
    said.seek(max(0, size - _TOLD_BYTES))
    lines = said.read().decode("utf-8", "replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f" ({safe(last)})" if last else ""
