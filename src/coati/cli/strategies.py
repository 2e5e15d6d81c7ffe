"""``coati strategies``: what there is to crawl with."""

from __future__ import annotations

import json

import click

from coati.assembly import ORACLES, STRATEGIES


@click.command()
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def strategies(form: str) -> None:
    """List the strategies, and which of them run in replay only."""
    for name, summary in {**STRATEGIES, **ORACLES}.items():
        if form == "json":
            click.echo(json.dumps({"name": name, "summary": summary, "replay_only": name in ORACLES}))
        else:
            click.echo(f"{name:<15} {summary}{' (replay only)' if name in ORACLES else ''}")
