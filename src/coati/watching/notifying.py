"""Report changes to others: a command or a web hook for each. Each change is reported at least once.

A change is noted as reported afterwards, so it may be reported twice after a power cut, but never not at all;
its id lets the other side recognise it. What could not be reported is tried again after the next cycle.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import aiohttp

from coati.errors import ConfigError
from coati.jobs.external_command import ExternalCommand
from coati.live.stop_signal import StopSignal
from coati.runs.changes_file import Change, read_changes
from coati.runs.durable import append_lines
from coati.units import format_count, format_seconds
from coati.web.urls import normalise

TOLD = "told.txt"
# What a command or a server may take for one change.
SECONDS = 60.0
# Changes in a row for which the hook could not be reached; then the others wait. It must not hold up the next
# cycle, and a change that it cannot take must not hold up the others.
UNREACHED = 3
PLACEHOLDERS = ("what", "url", "file", "id")
_SUCCESS = range(200, 300)


@dataclass(frozen=True, slots=True)
class ChangeListeners:
    """Whom to notify: ``command`` is run for each change, ``hook`` gets it as JSON by POST."""

    command: ExternalCommand | None = None
    hook: str = ""

    @classmethod
    def named(cls, command: str, hook: str) -> Self:
        """Make them of what the user wrote; raises `coati.errors.ConfigError` for no command, or no hook."""
        if hook and normalise(hook) is None:
            # Not repeated here: an address of a hook is often a secret.
            raise ConfigError("notify: not the address of a web hook; one begins with http:// or https://")
        return cls(ExternalCommand.parse(command, PLACEHOLDERS, SECONDS) if command else None, hook)

    def __bool__(self) -> bool:
        return bool(self.command or self.hook)


class _UnreachableError(Exception):
    """Says in words why the hook could not be reached."""


def report_changes(folder: Path, listeners: ChangeListeners, stop: StopSignal | None = None) -> list[str]:
    """Report what was not reported yet, until ``stop`` is set; returns what went wrong, in words."""
    if not listeners:
        return []
    notified = _notified(folder)
    pending = [change for change in read_changes(folder) if change.id not in notified]
    wrong = []
    unreached = 0
    for done, change in enumerate(pending):
        if unreached == UNREACHED:
            left = format_count(len(pending) - done, "other change")
            wrong.append(f"{left} will be reported after the next cycle")
            break
        if stop is not None and stop.is_set:
            break
        try:
            trouble = _report(change, folder, listeners)
            unreached = 0
        except _UnreachableError as error:
            trouble = f"the hook could not be reached: {error}"
            unreached += 1
        if trouble:
            wrong.append(f"{change.what} {change.url} was not reported: {trouble}")
        else:
            append_lines(folder / TOLD, f"{change.id}\n".encode())
    return wrong


def _notified(folder: Path) -> set[str]:
    path = folder / TOLD
    return set(path.read_text(encoding="ascii", errors="replace").split()) if path.is_file() else set()


def _report(change: Change, folder: Path, listeners: ChangeListeners) -> str:
    """Report one change to everybody; returns what went wrong, else nothing."""
    command = listeners.command
    trouble = "" if command is None else command.run(_values(change, folder), change.as_json())
    if trouble:
        return f"the command failed: {trouble}"
    return asyncio.run(_post(change, listeners.hook)) if listeners.hook else ""


def _values(change: Change, folder: Path) -> dict[str, str]:
    """Return what the placeholders of a command stand for."""
    file = str((folder / "files" / change.file).absolute()) if change.file else ""
    return {"what": change.what, "url": change.url, "file": file, "id": change.id}


async def _post(change: Change, hook: str) -> str:
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(hook, json=change.as_json(), allow_redirects=False) as answer,
        ):
            return "" if answer.status in _SUCCESS else f"the hook responded with status {answer.status}"
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise _UnreachableError(_words(error)) from None


def _words(error: Exception) -> str:
    """Say what went wrong; what the error itself says may hold the address, which is often a secret."""
    if isinstance(error, TimeoutError):
        return f"no response within {format_seconds(SECONDS)}"
    if isinstance(error, aiohttp.ClientResponseError):
        return "its response is not valid HTTP"
    return getattr(error, "strerror", None) or "the connection failed"
