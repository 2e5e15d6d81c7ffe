"""``coati pull``: an ordinary run folder of a site, out of a fleet's store."""

from __future__ import annotations

import json
from pathlib import Path

import click

from coati.cli.terminal import say
from coati.fleet.objects import ObjectStore
from coati.fleet.status import site_manifest
from coati.fleet.taking import pull as pull_run
from coati.jobs.progress_bar import progress
from coati.units import format_count


@click.command()
@click.argument("store")
@click.argument("site")
@click.option("--out", type=click.Path(path_type=Path), help="Folder to create.  [default: SITE]")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def pull(store: str, site: str, out: Path | None, form: str) -> None:
    """Download SITE from the STORE of a fleet into an ordinary run folder, with all its files.

    All commands for runs work on the folder; `coati crawl` resumes it.
    """
    place = ObjectStore(store)
    site_manifest(place, site)
    folder = out or Path(site)
    with progress("Pulling") as told:
        manifest = pull_run(place, f"sites/{site}", folder, told)
    state = manifest.state
    if form == "json":
        counts = {"requests": state.requests, "targets": state.targets, "files": state.files}
        said = {"site": site, "folder": str(folder), "generation": manifest.generation, **counts}
        say(json.dumps(said))
    else:
        say(f"{format_count(state.files, 'file')} of {site}, after {state.requests:,} requests: {folder}")
