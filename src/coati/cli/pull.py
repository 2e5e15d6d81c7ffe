"""``coati pull``: download a site from a fleet's store into an ordinary run folder."""

from __future__ import annotations

import json
from pathlib import Path

import click

from coati.cli.output_format import format_option
from coati.cli.terminal import say
from coati.fleet.store_access import pull as pull_site
from coati.jobs.progress_bar import progress
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
    with progress("Pulling") as on_progress:
        pulled = pull_site(store, site, out, on_progress=on_progress)
    if form == "json":
        say(json.dumps(pulled.as_json()))
    else:
        say(
            f"{format_count(pulled.files, 'file')} of {site}, after {pulled.requests:,} requests:"
            f" {pulled.folder}"
        )
