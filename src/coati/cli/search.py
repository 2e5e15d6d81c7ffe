"""``coati search``: an engine of one's own over archives, and what other engines there are."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import click

from coati.archive.folder_of_archives import archives_in
from coati.cli.terminal import say
from coati.discovering.indexing import index_archives
from coati.errors import ConfigError
from coati.search.engines import Engines
from coati.search.local_index import LocalIndex
from coati.search.registry import ENGINES
from coati.web.queries import Ability, Query

_LINE_SECONDS = 5.0


@click.group()
def search() -> None:
    """Index archived sites for `coati discover`, and ask the index."""


@search.command("index")
@click.argument("archives", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="ARCHIVE...")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder of the index.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def index(archives: tuple[Path, ...], out: Path, form: str) -> None:
    """Index the pages of archives, or of folders that hold several archives.

    An existing index is replaced when the new one is complete. The index answers keyword queries, finds
    related pages, and knows which sites link to each other.
    """
    folders = [folder for given in archives for folder in archives_in(given)]
    began = told_at = time.monotonic()

    def progress(pages: int) -> None:
        nonlocal told_at
        now = time.monotonic()
        if now - told_at >= _LINE_SECONDS:
            told_at = now
            say(f"{pages:,} pages indexed", err=True)

    pages = index_archives(folders, out, progress)
    seconds = time.monotonic() - began
    if form == "json":
        say(
            json.dumps(
                {"index": str(out), "archives": len(folders), "pages": pages, "seconds": round(seconds, 1)}
            )
        )
    else:
        say(f"{pages:,} pages of {len(folders)} archives in {out}.")
        say(f'Next: coati discover "WORDS" --search local={out} --archive ARCHIVES --offline', err=True)


@search.command("ask")
@click.argument("place", type=click.Path(path_type=Path), metavar="INDEX")
@click.argument("text", nargs=-1, required=True)
@click.option("--related", is_flag=True, help="TEXT is a URL: find pages like it on other sites.")
@click.option("--backlinks", is_flag=True, help="TEXT is a URL: find pages of other sites that link to it.")
@click.option("--page", default=1, show_default=True, help="Which page of results.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def ask(place: Path, text: tuple[str, ...], related: bool, backlinks: bool, page: int, form: str) -> None:
    """Query an index, to see what `coati discover` would get."""
    if related and backlinks:
        raise ConfigError("use either --related or --backlinks, not both")
    ability = Ability.RELATED if related else Ability.BACKLINKS if backlinks else Ability.KEYWORDS
    engine = LocalIndex(place)
    Engines([engine])
    found = engine.search(Query(engine.name, " ".join(text), ability, page))
    for hit in found.hits:
        say(
            json.dumps(hit._asdict(), ensure_ascii=False) if form == "json" else f"{hit.url}\n    {hit.title}"
        )
    if not found.hits:
        say("Nothing found.", err=True)
    elif found.more and sys.stderr.isatty():
        say(f"More: --page {page + 1}", err=True)


@search.command("engines")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def engines(form: str) -> None:
    """List the search engines for `coati discover`, and how to name them."""
    for name, row in ENGINES.items():
        written = f"{name}={row.value}" if row.value else name
        if form == "json":
            say(json.dumps({"name": name, "written": written, "summary": row.summary, "price": row.price}))
        else:
            say(f"{written:<18} {row.summary}")
            if row.price:
                say(f"{'':<18} {row.price}")
