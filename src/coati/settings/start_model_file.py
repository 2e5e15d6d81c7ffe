"""The start model of the page classifier as a file: weights of words, with where they come from.

One JSON object. It holds no text of anybody: single words, what each weighs, and on how many of the pages it
was learnt from it stands.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from coati.errors import ConfigError
from coati.machine_errors import read_bounded
from coati.runs.durable import write_whole
from coati.strategies.discovery.start_model import NO_MODEL, StartModel

FORM = "coati-start-model-1"
PACKAGED = "start_model.json"

_MAX_FILE_BYTES = 64 << 20
_DIGITS = 4


def write_start_model(path: Path, model: StartModel, provenance: Mapping[str, Any]) -> None:
    """Write a model; ``provenance`` says from what, when and by which command it was made."""
    words = [
        [word, round(weight, _DIGITS), pages]
        for word, weight, pages in zip(model.words, model.weights, model.pages_with, strict=True)
    ]
    document = {
        "form": FORM,
        "provenance": dict(provenance),
        "pages": model.pages,
        "bias": round(model.bias, _DIGITS),
        "stop_words": sorted(model.stop_words),
        "words": words,
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    write_whole(path, [text.encode(), b"\n"])


def read_start_model(path: Path) -> StartModel:
    """Read a model; raises `ConfigError` that says what is wrong."""
    return _read(read_bounded(path, _MAX_FILE_BYTES, "start model"), str(path))


def packaged_model() -> StartModel:
    """Return the model that comes with Coati."""
    file = resources.files("coati.settings").joinpath(PACKAGED)
    return _read(file.read_bytes(), PACKAGED) if file.is_file() else NO_MODEL


def _read(data: bytes, name: str) -> StartModel:
    try:
        document = json.loads(data)
        if document["form"] != FORM:
            raise ConfigError(
                f"{name} is a start model of another version: create it again with `coati learn pages`"
            )
        words = [(str(word), float(weight), int(pages)) for word, weight, pages in document["words"]]
        return StartModel(
            words=tuple(word for word, _, _ in words),
            weights=tuple(weight for _, weight, _ in words),
            pages_with=tuple(pages for _, _, pages in words),
            pages=int(document["pages"]),
            bias=float(document["bias"]),
            stop_words=frozenset(map(str, document["stop_words"])),
        )
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        said = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{name} is not a start model ({said}): `coati learn pages` makes one") from None
