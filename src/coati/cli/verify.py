"""``coati verify``: whether the files of a run are still what was fetched."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import click

from coati.cli.progress import progress
from coati.cli.terminal import say
from coati.report.words import count
from coati.runs.reader import RunReader
from coati.runs.verifying import FileState, checked_files

WRONG_INPUT = 2


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def verify(folder: Path, form: str) -> int:
    """Read every file of the run in DIR against its hash, and name those that are missing or changed."""
    damaged = []
    with RunReader(folder) as reader, progress("Verifying") as told:
        (total,) = reader.connection.execute("SELECT count(*) FROM files").fetchone()
        for done, file in enumerate(checked_files(reader), start=1):
            if file.state is not FileState.WHOLE:
                damaged.append({"file": file.name, "state": file.state.value, "url": file.url})
                if form == "table":
                    # Who has read enough, as `head` has, still wants the right exit code.
                    with suppress(BrokenPipeError):
                        say(f"{file.state.value}: {reader.layout.files / file.name}, from {file.url}")
            told(done, total)
    with suppress(BrokenPipeError):
        if form == "json":
            say(json.dumps({"folder": str(folder), "files": total, "damaged": damaged}))
        else:
            say(f"{count(total, 'file')}, {count(len(damaged))} damaged")
    return WRONG_INPUT if damaged else 0
