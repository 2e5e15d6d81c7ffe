"""The option that all commands without settings share: how their results are printed."""

from __future__ import annotations

import click

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Output format.",
)
