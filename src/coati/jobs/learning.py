"""Training the start model of `coati.discover` from examples, and measuring it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coati.discovering.start_models import (
    LabelledText,
    Quality,
    is_held_back,
    measure_model,
    read_labelled_texts,
    train,
)
from coati.errors import ConfigError
from coati.jobs.arguments import PathText, checked_arguments, count_of, number_of, texts_of
from coati.jobs.notebook_tables import rows_table
from coati.machine_errors import writing_to
from coati.settings.start_model_file import write_start_model
from coati.version import __version__

Examples = PathText | Iterable[PathText]


@dataclass(frozen=True, slots=True)
class LearntModel:
    """What `coati.learn_pages` returns: the ``file``, and how well the model does on hosts it has not seen.

    ``measured`` has an entry for each set of examples that was measured.
    """

    file: Path
    words: int
    pages: int
    measured: Mapping[str, Quality]

    def rows(self) -> list[dict[str, object]]:
        """Return a row for each set of examples that was measured."""
        return [{"measured_on": name, **_row(quality)} for name, quality in self.measured.items()]

    def _repr_html_(self) -> str:
        return rows_table(f"{self.words:,} words in {self.file}", self.rows())


@checked_arguments
def learn_pages(  # noqa: PLR0913 - one argument per option of the command
    data: Examples,
    other: Examples,
    out: str | Path,
    *,
    test_data: Examples = (),
    test_other: Examples = (),
    hold_back: float = 0.1,
    most_per_host: int = 150,
    note: str = "",
) -> LearntModel:
    """Train a model for ``coati.discover(start_model=...)`` from pages of repositories and other pages.

    Examples are archives, folders of .html or .txt files, or files with one JSON object per line.
    ``hold_back`` is the share of the hosts of ``data`` that is used for measuring and not for training.
    """
    most_per_host, hold_back = count_of("most_per_host", most_per_host), number_of("hold_back", hold_back)
    examples = {"data": data, "other": other, "test_data": test_data, "test_other": test_other}
    places = {name: texts_of(name, given) for name, given in examples.items()}
    yes = _read(places["data"], most_per_host, is_data=True)
    kept = [example for example in yes if is_held_back(example.host, hold_back)]
    trained = [example for example in yes if not is_held_back(example.host, hold_back)]
    model = train([*trained, *_read(places["other"], most_per_host, is_data=False)])
    no = _read(places["test_other"], most_per_host, is_data=False)
    measured = {
        "held back of --data": measure_model(model, [*kept, *no]),
        "--test-data": measure_model(model, [*_read(places["test_data"], most_per_host, is_data=True), *no]),
    }
    measured = {name: quality for name, quality in measured.items() if quality.positives}
    provenance = {
        "made_by": f"coati learn pages, Coati {__version__}",
        "note": note,
        "pages": model.pages,
        "measured": {name: _row(quality) for name, quality in measured.items()},
    }
    try:
        with writing_to(Path(out)):
            write_start_model(Path(out), model, provenance)
    except OSError as error:
        raise ConfigError(f"{out} cannot be written: {error.strerror}") from None
    return LearntModel(Path(out), len(model.words), model.pages, measured)


def _read(places: Sequence[str], most_per_host: int, *, is_data: bool) -> list[LabelledText]:
    return [
        example
        for place in places
        for example in read_labelled_texts(Path(place), is_data=is_data, most_per_host=most_per_host)
    ]


def _row(quality: Quality) -> dict[str, object]:
    return {
        "positives": quality.positives,
        "negatives": quality.negatives,
        "precision": None if quality.precision is None else round(quality.precision, 4),
        "recall": None if quality.recall is None else round(quality.recall, 4),
    }
