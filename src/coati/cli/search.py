"""``coati search``: index archives, query the index, and list the search engines."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import click

from coati.cli.output_format import format_option
from coati.cli.terminal import say, say_json
from coati.errors import ConfigError
from coati.jobs.choices import list_engines
from coati.jobs.search_index import SearchIndex, index_archives
from coati.units import format_count


@click.group()
def search() -> None:
    """Index archived sites for `coati discover`, and query the index."""


@search.command("index", short_help="Index the pages of archives.")
@click.argument("archives", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="ARCHIVE...")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder of the index.")
@format_option
def index(archives: tuple[Path, ...], out: Path, form: str) -> None:
    """Index the pages of archives, or of folders that hold several archives.

    An existing index is replaced when the new one is complete. The index answers keyword queries, finds
    related pages, and knows which sites link to each other.
    """
    began = time.monotonic()
    made = index_archives(archives, out, show_progress=True)
    seconds = round(time.monotonic() - began, 1)
    if made.damaged:
        unread = f"{format_count(len(made.damaged), 'page')} could not be read; the first: {made.damaged[0]}"
        say(f"warning: {unread}. `coati archive verify` lists them all", err=True)
    if form == "json":
        say_json({**made.as_json(), "seconds": seconds})
    else:
        say(f"{format_count(made.pages, 'page')} of {format_count(made.archives, 'archive')} in {out}.")
        say(f'Next: coati discover "TOPIC" --search local={out} --archive ARCHIVES --offline', err=True)


@search.command("query")
@click.argument("place", type=click.Path(path_type=Path), metavar="INDEX")
@click.argument("text", nargs=-1, required=True)
@click.option("--related", is_flag=True, help="TEXT is a URL: find pages like it on other sites.")
@click.option("--backlinks", is_flag=True, help="TEXT is a URL: find pages of other sites that link to it.")
@click.option("--page", default=1, show_default=True, help="Which page of results.")
@format_option
def query(place: Path, text: tuple[str, ...], related: bool, backlinks: bool, page: int, form: str) -> None:
    """Query an index, to see what `coati discover` would get."""
    if related and backlinks:
        raise ConfigError("use either --related or --backlinks, not both")
    found = SearchIndex(place).search(" ".join(text), related=related, backlinks=backlinks, page=page)
    for hit in found.hits:
        say(
            json.dumps(hit._asdict(), ensure_ascii=False) if form == "json" else f"{hit.url}\n    {hit.title}"
        )
    if not found.hits:
        say("Nothing found.", err=True)
    elif found.more and sys.stderr.isatty():
        say(f"More: --page {page + 1}", err=True)


@search.command("engines", short_help="List the search engines for `coati discover`.")
@format_option
def engines(form: str) -> None:
    """List the search engines for `coati discover`, and how to name them."""
    for engine in list_engines():
        if form == "json":
            say_json(engine._asdict())
        else:
            say(f"{engine.written:<18} {engine.summary}")
            if engine.price:
                say(f"{'':<18} {engine.price}")
