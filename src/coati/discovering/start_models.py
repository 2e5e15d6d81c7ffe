"""Training the start model of the page classifier from examples, and measuring it on other sites."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coati.archive.archive import Archive
from coati.archive.description import FILE_NAME as ARCHIVE_FILE
from coati.discovering.indexing import pages_of
from coati.errors import ConfigError
from coati.strategies.discovery.page_classifier import PageClassifier
from coati.strategies.discovery.start_model import StartModel, common_words, model_of_examples
from coati.web.page_words import count_words, page_words
from coati.web.urls import host_of, normalise

# This many words say nearly as much as all of them, and fit into a small file.
MOST_WORDS = 5_000
_LEAST_HOSTS = 3
_MAX_FILE_BYTES = 4 << 20
_PAGE_SUFFIXES = frozenset({".html", ".htm", ".txt", ".md"})
_TEXT_FIELDS = ("title", "name", "description", "text")


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A page or a description, the host that it belongs to, and whether it is one of a repository."""

    host: str
    words: Mapping[str, int]
    is_data: bool


@dataclass(frozen=True, slots=True)
class Quality:
    """How well a model classifies examples that it was not trained on."""

    positives: int
    negatives: int
    true_positives: int
    false_positives: int

    @property
    def precision(self) -> float | None:
        """The share of repositories among what it takes for one."""
        taken = self.true_positives + self.false_positives
        return self.true_positives / taken if taken else None

    @property
    def recall(self) -> float | None:
        """The share of repositories that it takes for one."""
        return self.true_positives / self.positives if self.positives else None


def read_labelled_texts(
    place: Path, *, is_data: bool, most_per_host: int | None = None
) -> Iterator[LabelledText]:
    """Read examples from an archive, a folder of pages or texts, or a file with one JSON object per line.

    The objects have a ``url`` and some of title, name, description and text. Raises `ConfigError` where
    there is nothing to read.
    """
    found = 0
    of_host: dict[str, int] = {}
    for host, words in _texts(place, most_per_host):
        of_host[host] = of_host.get(host, 0) + 1
        if not words or (most_per_host is not None and of_host[host] > most_per_host):
            continue
        found += 1
        yield LabelledText(host, words, is_data)
    if not found:
        raise ConfigError(
            f"there are no examples in {place}: it should be an archive, a folder of .html or .txt files,"
            " or a file with one JSON object per line"
        )


def _texts(place: Path, most_per_host: int | None) -> Iterator[tuple[str, Mapping[str, int]]]:
    if (place / ARCHIVE_FILE).is_file():
        with Archive.open(place) as archive:
            for page in pages_of(archive, most_per_host):
                yield host_of(page.url), count_words(page.text)
    elif place.is_dir():
        for path in sorted(place.rglob("*")):
            if path.suffix.lower() in _PAGE_SUFFIXES and path.is_file():
                yield path.stem, _words_of_file(path)
    elif place.is_file():
        yield from _lines(place)


def _words_of_file(path: Path) -> Mapping[str, int]:
    with path.open("rb") as file:
        body = file.read(_MAX_FILE_BYTES)
    if path.suffix.lower() in {".html", ".htm"}:
        return page_words(body, "text/html")["words"]
    return count_words(body.decode("utf-8", "replace"))


def _lines(path: Path) -> Iterator[tuple[str, Mapping[str, int]]]:
    opening = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opening(path, "rb") as lines:
            for number, line in enumerate(lines, 1):
                example = json.loads(line)
                text = " ".join(str(example[name]) for name in _TEXT_FIELDS if example.get(name))
                url = normalise(str(example.get("url", "")))
                yield host_of(url) if url else str(number), count_words(text)
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise ConfigError(f"{path}, line {number}: not a JSON object with a url and a text") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ConfigError(f"{path} cannot be read after line {number}: {error}") from None


def is_held_back(host: str, share: float) -> bool:
    """Tell whether the examples of a host are kept for measuring: the same hosts each time.

    >>> sum(is_held_back(f"site{number}.test", 0.1) for number in range(1000))
    107
    """
    return zlib.crc32(host.encode()) % 1000 < 1000 * share


def train(examples: Sequence[LabelledText]) -> StartModel:
    """Train a model and keep the weights of the words that matter most; raise `ConfigError` for one kind."""
    if len({example.is_data for example in examples}) < 2:  # noqa: PLR2004 - both kinds
        raise ConfigError("examples of both kinds are needed: of data repositories, and of other pages")
    common = _words_of_several_hosts(examples)
    examples = _balanced(examples)
    labelled = [
        ({word: count for word, count in example.words.items() if word in common}, example.is_data)
        for example in examples
    ]
    classifier = PageClassifier(model_of_examples(labelled))
    model = classifier.as_start_model(MOST_WORDS)
    other = [example.words for example in examples if not example.is_data]
    return replace(model, stop_words=common_words(other))


def _balanced(examples: Sequence[LabelledText]) -> list[LabelledText]:
    """Keep as many of the more frequent kind as there are of the other: drawn by host, the same each time."""
    kinds = [[example for example in examples if example.is_data is kind] for kind in (True, False)]
    least = min(map(len, kinds))
    drawn = [sorted(kind, key=lambda example: zlib.crc32(f"drawn {example.host}".encode())) for kind in kinds]
    return [example for kind in drawn for example in kind[:least]]


def _words_of_several_hosts(examples: Iterable[LabelledText]) -> frozenset[str]:
    """Return the words that more than one site uses: the name of a site says nothing about others."""
    hosts: dict[str, set[str]] = {}
    for example in examples:
        for word in example.words:
            known = hosts.setdefault(word, set())
            if len(known) < _LEAST_HOSTS:
                known.add(example.host)
    return frozenset(word for word, known in hosts.items() if len(known) >= _LEAST_HOSTS)


def measure_model(model: StartModel, examples: Iterable[LabelledText]) -> Quality:
    """Count what a model makes of examples."""
    classifier = PageClassifier(model)
    positives = negatives = true_positives = false_positives = 0
    for example in examples:
        taken = classifier.margin(example.words) > 0
        positives += example.is_data
        negatives += not example.is_data
        true_positives += taken and example.is_data
        false_positives += taken and not example.is_data
    return Quality(positives, negatives, true_positives, false_positives)
