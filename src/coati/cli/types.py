"""``coati types``: list the presets of target types."""

from __future__ import annotations

import click

from coati.cli.output_format import format_option
from coati.cli.terminal import say, say_json
from coati.jobs.choices import list_types
from coati.web.media import PRESET_MEANINGS


@click.command()
@format_option
def types(form: str) -> None:
    """List the presets of --types; media types and .extensions can be combined with them."""
    for preset in list_types():
        media_types, extensions = sorted(preset.media_types), sorted(preset.extensions)
        if form == "json":
            row = {"name": preset.name, "media_types": media_types, "extensions": extensions}
            meaning = PRESET_MEANINGS[preset.name]
            say_json({**row, "everything": preset.everything, "meaning": meaning})
            continue
        say(f"{preset.name}: {PRESET_MEANINGS[preset.name]}", bold=True)
        for name in [*media_types, *(f".{extension}" for extension in extensions)]:
            say(f"  {name}")
