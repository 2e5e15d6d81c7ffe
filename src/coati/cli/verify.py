"""``coati verify``: whether the files of a run are still what was fetched, and how to get them back."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coati.cli.progress_bar import progress
from coati.cli.run_place import find_place
from coati.cli.starts_only import crawl_starts_only
from coati.cli.terminal import say
from coati.runs.layout import Layout
from coati.runs.lock import lock_run
from coati.runs.reader import RunReader
from coati.runs.verifying import FileState, checked_files, put_back
from coati.settings.plan import CrawlResources, crawl_plan
from coati.settings.run_settings import SETTINGS
from coati.units import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.live.outcomes import FetchResult
    from coati.model import Request
    from coati.runs.verifying import CheckedFile

WRONG_INPUT = 2

_SECRETS = ("header", "cookies", "proxy")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--repair", is_flag=True, help="Fetch such files again, and put them back if they are still the same."
)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def verify(folder: Path, *, repair: bool, form: str) -> int:
    """Read every file of the run in DIR against its hash, and name those that are missing or changed.

    The exit code is 2 if there are any, and with --repair if any are left.
    """
    with RunReader(folder) as reader, progress("Verifying") as told:
        (total,) = reader.connection.execute("SELECT count(*) FROM files").fetchone()
        damaged = []
        for done, file in enumerate(checked_files(reader), start=1):
            if file.state is not FileState.WHOLE:
                damaged.append(file)
            told(done, total)
    repaired = _repair(folder, damaged) if repair and damaged else frozenset()
    # Who has read enough, as `head` has, still wants the right exit code.
    with suppress(BrokenPipeError):
        if form == "json":
            say(json.dumps({"folder": str(folder), "files": total, "damaged": _as_json(damaged, repaired)}))
        else:
            _print(folder, total, damaged, repaired)
    return WRONG_INPUT if len(repaired) < len(damaged) else 0


def _as_json(damaged: Sequence[CheckedFile], repaired: frozenset[str]) -> list[dict[str, object]]:
    return [
        {
            "file": file.name,
            "state": file.state.value,
            "url": file.url,
            "sha256": file.sha256,
            "repaired": file.name in repaired,
        }
        for file in damaged
    ]


def _print(folder: Path, total: int, damaged: Sequence[CheckedFile], repaired: frozenset[str]) -> None:
    for file in damaged:
        state = f"{file.state.value}, repaired" if file.name in repaired else file.state.value
        say(f"{state}: {Layout(folder).files / file.name}, from {file.url}")
    mended = f", {format_count(len(repaired))} of them repaired" if repaired else ""
    say(f"{format_count(total, 'file')}, {format_count(len(damaged))} damaged{mended}")


def _repair(folder: Path, damaged: Sequence[CheckedFile]) -> frozenset[str]:
    """Fetch damaged files again, as the run did, and return the names of those that could be put back."""
    # A run folder keeps no secret; there are no options for them here.
    given = {
        name: SETTINGS[name].read(os.environ[SETTINGS[name].variable])
        for name in _SECRETS
        if SETTINGS[name].variable in os.environ
    }
    settings = find_place((str(folder),), given).settings
    layout = Layout(folder)
    wanted = {file.url: file for file in damaged if file.url}
    repaired: set[str] = set()

    def take(request: Request, reading: FetchResult) -> None:
        file = wanted.get(request.url)
        body = reading.body if reading.body_file is None else reading.body_file
        if file is not None and body is not None and put_back(layout.files, file, body):
            repaired.add(file.name)

    lock = lock_run(layout)
    try:
        crawl_starts_only(crawl_plan(settings, CrawlResources(on_fetched=take)), tuple(wanted))
    finally:
        lock.release()
    return frozenset(repaired)
