"""``coati strategies``: what there is to crawl with."""

from __future__ import annotations

import json

import click

from coati.assembly import DISCOVERY, REGISTRY
from coati.cli.terminal import say


@click.command()
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def strategies(form: str) -> None:
    """List the strategies, and which of them work only in replay."""
    for name, row in {**REGISTRY, **DISCOVERY}.items():
        command = "discover" if name in DISCOVERY else "replay" if row.replay_only else "crawl"
        if form == "json":
            told = {"name": name, "summary": row.summary, "replay_only": row.replay_only, "command": command}
            say(json.dumps(told))
        else:
            where = {"discover": " (coati discover)", "replay": " (replay only)"}.get(command, "")
            say(f"{name:<15} {row.summary}{where}")
