"""``coati pull``: download a site from a fleet's store into an ordinary run folder."""

from __future__ import annotations

from pathlib import Path

import click

from coati.cli.output_format import format_option
from coati.cli.terminal import say, say_json
from coati.fleet.store_access import pull as pull_site
from coati.units import format_count


@click.command()
@click.argument("store")
@click.argument("site")
@click.option("--out", type=click.Path(path_type=Path), help="Folder to create.  [default: SITE]")
@format_option
def pull(store: str, site: str, out: Path | None, form: str) -> None:
    """Download SITE from the STORE of a fleet into an ordinary run folder, with all its files.

    All commands for runs work on the folder; `coati crawl` resumes it.
    """
    pulled = pull_site(store, site, out, show_progress=True)
    if form == "json":
        say_json(pulled.as_json())
    else:
        say(
            f"{format_count(pulled.files, 'file')} of {site}, after {pulled.requests:,} requests:"
            f" {pulled.folder}"
        )
