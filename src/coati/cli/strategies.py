"""``coati strategies``: what there is to crawl with."""

from __future__ import annotations

import json

import click

from coati.assembly import REGISTRY
from coati.cli.terminal import say


@click.command()
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def strategies(form: str) -> None:
    """List the strategies, and which of them run in replay only."""
    for name, row in REGISTRY.items():
        if form == "json":
            say(json.dumps({"name": name, "summary": row.summary, "replay_only": row.replay_only}))
        else:
            say(f"{name:<15} {row.summary}{' (replay only)' if row.replay_only else ''}")
