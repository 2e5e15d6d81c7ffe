"""``coati types``: list the presets of target types."""

from __future__ import annotations

import json

import click

from coati.cli.output_format import format_option
from coati.cli.terminal import say
from coati.jobs.choices import list_types


@click.command()
@format_option
def types(form: str) -> None:
    """List the presets of --types; media types and .extensions can be combined with them."""
    for preset in list_types():
        media_types, extensions = sorted(preset.media_types), sorted(preset.extensions)
        if form == "json":
            row = {"name": preset.name, "media_types": media_types, "extensions": extensions}
            say(json.dumps({**row, "everything": preset.everything}))
            continue
        say(preset.name, bold=True)
        if preset.everything:
            say("  every file except pages, audio, video, images, scripts and style sheets")
        for name in [*media_types, *(f".{extension}" for extension in extensions)]:
            say(f"  {name}")
