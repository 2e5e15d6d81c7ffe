"""``coati learn``: train the start model of `coati discover` from your own examples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from coati.cli.output_format import format_option
from coati.cli.terminal import say
from coati.jobs.learning import learn_pages

_PLACES = click.Path(path_type=Path)


@click.group()
def learn() -> None:
    """Train models from examples."""


@learn.command("pages", short_help="Train a model of start pages for `coati discover`.")
@click.option(
    "--data",
    multiple=True,
    required=True,
    type=_PLACES,
    help="Examples of data repositories: an archive, a folder of .html or .txt files, or a file with one JSON"
    " object per line (url, and title, name, description or text). Can be repeated.",
)
@click.option(
    "--other", multiple=True, required=True, type=_PLACES, help="Examples of other pages. Can be repeated."
)
@click.option(
    "--test-data", multiple=True, type=_PLACES, help="Repositories for measuring only, not for training."
)
@click.option("--test-other", multiple=True, type=_PLACES, help="Other pages for measuring only.")
@click.option(
    "--hold-back",
    default=0.1,
    show_default=True,
    type=click.FloatRange(0, 0.9),
    help="Share of the hosts of --data that is held back for measuring.",
)
@click.option("--most-per-host", default=150, show_default=True, help="Most pages to use from one host.")
@click.option("--note", default="", help="Where the examples come from; stored in the file.")
@click.option("--out", required=True, type=_PLACES, help="The file of the model.")
@format_option
def pages(
    out: Path,
    form: str,
    **options: Any,  # noqa: ANN401 - the other options, each by the name that the library gives it
) -> None:
    """Train a model for `coati discover --start-model` from examples in any language.

    The file holds the weights of single words, and none of the texts. Precision and recall are measured on
    hosts that the model was not trained on.
    """
    learnt = learn_pages(**options, out=out)
    for row in learnt.rows():
        say(json.dumps(row) if form == "json" else _line(row))
    say(f"{learnt.words:,} words in {out}.", err=True)


def _line(row: Mapping[str, object]) -> str:
    return (
        f"{row['measured_on']}: precision {row['precision']}, recall {row['recall']}"
        f" ({row['positives']:,} repositories, {row['negatives']:,} other pages)"
    )
