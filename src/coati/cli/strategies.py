"""``coati strategies``: list the strategies."""

from __future__ import annotations

import click

from coati.cli.output_format import format_option
from coati.cli.terminal import say, say_json
from coati.jobs.choices import list_strategies


@click.command()
@format_option
def strategies(form: str) -> None:
    """List the strategies, and which of them work only in replay."""
    known = list_strategies()
    width = max(len(strategy.name) for strategy in known)
    for strategy in known:
        if form == "json":
            say_json(strategy._asdict())
        else:
            where = {"discover": " (coati discover)", "replay": " (replay only)"}.get(strategy.command, "")
            say(f"{strategy.name:<{width}}  {strategy.summary}{where}")
