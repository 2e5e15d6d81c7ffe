"""Writes the generated sites of experiments as archives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta
from coati.testing.generator import generate_site
from coati.testing.paper_sites import paper_site_parameters
from coati.web.media import PRESETS

if TYPE_CHECKING:
    from pathlib import Path

    from coati.experiments.spec import GeneratedSite


def write_generated(site: GeneratedSite, folder: Path) -> None:
    """Generate a site like one of the paper's, and archive it; targets keep their sizes, not their bytes."""
    made = generate_site(paper_site_parameters(site.model, site.pages), site.seed, f"http://{site.name}.test")
    origin = f"generated like {site.model} of the EDBT 2026 paper, {site.pages} pages, seed {site.seed}"
    meta = ArchiveMeta(site.name, made.start_url, PRESETS["data"], origin=origin)
    with Archive.create(folder, meta) as archive, archive.bulk():
        for record in made.to_records():
            archive.add(record)
