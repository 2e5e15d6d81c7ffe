"""``coati explain``: which rule or score decided about a URL."""

from __future__ import annotations

from pathlib import Path

import click

from coati.cli.completion import RunPath
from coati.cli.output_format import format_option
from coati.cli.terminal import say, say_json
from coati.reporting.explaining import explain_url
from coati.reporting.explanation_lines import explanation_lines, site_line
from coati.reporting.safe_html import shortened

_WIDTH = 13
_MAX_CHARS = 500


@click.command()
@click.argument("url")
@click.option(
    "--run",
    "folder",
    type=RunPath(),
    default=Path(),
    metavar="RUN",
    help="The folder of the run.  [default: this folder]",
)
@format_option
def explain(url: str, folder: Path, form: str) -> None:
    """Explain why URL was requested or skipped in the run in RUN.

    Shows where the URL was found, which rule applies to it, why it was requested and with what result, or
    what it is waiting for.
    URL may also be a path on the site (/data/table.csv), a collected file (files/table-2.csv), or the name of
    a site that a search checked.
    """
    explanation = explain_url(folder, url)
    if form == "json":
        say_json(explanation.as_json())
        return
    if explanation.site is not None and "://" not in url:
        say(site_line(explanation.site), bold=True)
    say(f"{_one_line(explanation.url)}: {explanation.verdict.value}", bold=True)
    say(explanation.because)
    for name, text in explanation_lines(explanation):
        say(f"  {name + ':' if name else '':<{_WIDTH}} {_one_line(text)}")


def _one_line(text: str) -> str:
    """Keep what comes from the web from driving the terminal, or from filling it."""
    return shortened(text, _MAX_CHARS)
