"""The events of a crawl, appended to files: JSON for programs (``--events``), lines for people."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from coati.errors import ConfigError
from coati.live.event_lines import event_line
from coati.live.progress import Event, OnEvent
from coati.runs.errors import RunWriteError
from coati.times import to_iso_seconds
from coati.web.invisible_characters import safe

SayLine = Callable[[str], None]


@contextmanager
def events_written(path: str, on_event: OnEvent | None) -> Iterator[OnEvent | None]:
    """Append events to a file, one JSON object per line, if it is named, and pass them on."""
    if not path:
        yield on_event
        return
    with lines_appended("events", path) as append:

        def tell(event: Event) -> None:
            append(json.dumps({"at": event.at, "what": event.what, **event.data}))
            if on_event is not None:
                on_event(event)

        yield tell


@contextmanager
def events_logged(path: str, on_event: OnEvent | None) -> Iterator[tuple[OnEvent | None, SayLine]]:
    """Append a line with the time for each event to a file, if it is named, and pass events on.

    Also yields a function that appends any other line.
    """
    if not path:
        yield on_event, lambda _: None
        return
    with lines_appended("log_file", path) as append:

        def tell(event: Event) -> None:
            if line := event_line(event):
                append(_timed(line, event.at))
            if on_event is not None:
                on_event(event)

        yield tell, lambda line: append(_timed(line, time.time()))


def _timed(line: str, at: float) -> str:
    # What a site says must not pass for lines of ours.
    return f"{to_iso_seconds(at)} {' '.join(safe(line).split())}"


@contextmanager
def lines_appended(setting: str, path: str | Path) -> Iterator[SayLine]:
    """Return what appends a line to the file that a setting names."""
    try:
        # Line by line: who watches sees each event, and a full disk is told where it happens.
        file: TextIO = Path(path).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115 - closed below
    except OSError as error:
        raise ConfigError(f"{setting}: {path} cannot be written: {error.strerror}") from None

    def append(line: str) -> None:
        try:
            file.write(line + "\n")
        except OSError as error:
            what = setting.replace("_", " ")
            raise RunWriteError(f"the {what} could not be written to {path}: {error}") from error

    try:
        yield append
    finally:
        # What could not be written was told; the rest of it cannot be either.
        with suppress(OSError):
            file.close()
