"""The small web of the strategy's tests as an archive with an index, and examples that teach what data is."""

from __future__ import annotations

import json
from pathlib import Path

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta
from coati.discovering.indexing import write_index_of
from coati.settings.start_model_file import write_start_model
from coati.strategies.discovery.page_classifier import PageClassifier
from coati.strategies.discovery.start_model import model_of_examples
from coati.testing.site import Site
from coati.web.media import PRESETS
from tests.strategies.discovery.small_web import examples, small_web


def archive_of(site: Site, folder: Path) -> Path:
    """Keep a site as an archive."""
    with Archive.create(folder, ArchiveMeta("web", site.start_url, PRESETS["data"])) as archive:
        for record in site.to_records():
            archive.add(record)
    return folder


def made_web(folder: Path) -> tuple[Path, Path, Path]:
    """Make the archive, the index and the start model; returns where they are."""
    archive = archive_of(small_web(), folder / "web")
    index = folder / "index"
    write_index_of([archive], index)
    model = folder / "model.json"
    write_start_model(model, PageClassifier(model_of_examples(examples())).as_start_model(500), {})
    return archive, index, model


def lines_of(text: str) -> list[dict[str, object]]:
    """Read one JSON object per line."""
    return [json.loads(line) for line in text.splitlines()]
