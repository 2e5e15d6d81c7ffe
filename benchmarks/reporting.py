"""How a benchmark shows its numbers: a table for people or a JSON object per line, with the machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

format_option = click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True
)


def circumstances(checkout: Path | None = None) -> dict[str, str]:
    """Name what a number depends on: the commit (of a checkout), the machine, the interpreter."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"],  # noqa: S607 - whichever git the user has
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return {
        "commit": commit or "unknown",
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "python": platform.python_version(),
    }


def report(title: str, rows: Sequence[Mapping[str, object]], form: str) -> None:
    """Print the rows of one benchmark."""
    if form == "json":
        for row in rows:
            click.echo(json.dumps({"benchmark": title, **row, **circumstances()}))
        return
    click.secho(title, bold=True)
    click.echo("  " + ", ".join(f"{name} {value}" for name, value in circumstances().items()))
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_text(row.get(name)) for name in names] for row in rows]
    widths = [max(len(line[i]) for line in [names, *cells]) for i in range(len(names))]
    for line in [names, *cells]:
        click.echo("  " + "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,.2f}" if isinstance(value, float) else str(value)
