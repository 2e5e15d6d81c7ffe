"""``coati learn``: train what Coati begins with from examples of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import click

from coati import __version__
from coati.cli.terminal import say
from coati.discovering.start_models import Example, Quality, is_held_back, measure, read_examples, train
from coati.errors import ConfigError
from coati.settings.start_model_file import write_start_model

_PLACES = click.Path(path_type=Path)


@click.group()
def learn() -> None:
    """Train models from examples."""


@learn.command("pages")
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
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def pages(  # noqa: PLR0917 - each is an option
    data: tuple[Path, ...],
    other: tuple[Path, ...],
    test_data: tuple[Path, ...],
    test_other: tuple[Path, ...],
    hold_back: float,
    most_per_host: int,
    note: str,
    out: Path,
    form: str,
) -> None:
    """Train a model for `coati discover --start-model` from examples in any language.

    The file holds the weights of single words, and none of the texts. Precision and recall are measured on
    hosts that the model was not trained on.
    """
    yes = _read(data, most_per_host, is_data=True)
    kept = [example for example in yes if is_held_back(example.host, hold_back)]
    trained = [example for example in yes if not is_held_back(example.host, hold_back)]
    model = train([*trained, *_read(other, most_per_host, is_data=False)])
    no = _read(test_other, most_per_host, is_data=False)
    measured = {
        "held back of --data": measure(model, [*kept, *no]),
        "--test-data": measure(model, [*_read(test_data, most_per_host, is_data=True), *no]),
    }
    provenance = {
        "made_by": f"coati learn pages, Coati {__version__}",
        "note": note,
        "pages": model.pages,
        "measured": {name: _told(quality) for name, quality in measured.items() if quality.positives},
    }
    try:
        write_start_model(out, model, provenance)
    except OSError as error:
        raise ConfigError(f"{out} cannot be written: {error.strerror}") from None
    for name, quality in measured.items():
        if quality.positives:
            say(
                json.dumps({"measured_on": name, **_told(quality)})
                if form == "json"
                else _line(name, quality)
            )
    say(f"{len(model.words):,} words in {out}.", err=True)


def _read(places: tuple[Path, ...], most_per_host: int, *, is_data: bool) -> list[Example]:
    return [
        example
        for place in places
        for example in read_examples(place, is_data=is_data, most_per_host=most_per_host)
    ]


def _told(quality: Quality) -> dict[str, object]:
    return {
        "positives": quality.positives,
        "negatives": quality.negatives,
        "precision": None if quality.precision is None else round(quality.precision, 4),
        "recall": None if quality.recall is None else round(quality.recall, 4),
    }


def _line(name: str, quality: Quality) -> str:
    told = _told(quality)
    return (
        f"{name}: precision {told['precision']}, recall {told['recall']}"
        f" ({quality.positives:,} repositories, {quality.negatives:,} other pages)"
    )
