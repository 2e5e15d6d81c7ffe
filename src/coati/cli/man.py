"""``coati man``: the man pages of all commands."""

from __future__ import annotations

from pathlib import Path

import click

from coati.cli.man_pages import man_pages
from coati.cli.output_format import format_option
from coati.cli.terminal import say, say_json
from coati.errors import UsageError
from coati.machine_errors import writing_to
from coati.units import format_count


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@format_option
@click.pass_context
def man(ctx: click.Context, folder: Path, form: str) -> None:
    """Write the man pages of all commands into FOLDER.

    In ~/.local/share/man/man1, `man coati` and `man coati-crawl` find them. Older ones are replaced.
    """
    pages = man_pages(ctx.find_root().command)
    folder.mkdir(parents=True, exist_ok=True)
    foreign = [name for name in pages if (folder / name).is_dir()]
    if foreign:
        raise UsageError(f"{folder / foreign[0]} is a folder; choose another place")
    with writing_to(folder):
        for name, text in pages.items():
            (folder / name).write_text(text, encoding="utf-8")
    if form == "json":
        say_json({"folder": str(folder), "pages": sorted(pages)})
    else:
        say(f"{format_count(len(pages), 'page')} in {folder}")
