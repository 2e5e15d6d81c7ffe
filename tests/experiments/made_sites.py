"""Small archives for tests of experiments."""

from __future__ import annotations

from pathlib import Path

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta
from coati.testing.generator import generate_site
from coati.testing.site import Response, Site
from coati.testing.site_parameters import SiteParameters
from coati.web.media import PRESETS

ROOT = "http://made.test/"


def write_archive(site: Site, folder: Path) -> Path:
    """Archive a site that is a value."""
    meta = ArchiveMeta(folder.name, site.start_url, PRESETS["data"])
    with Archive.create(folder, meta) as archive, archive.bulk():
        for record in site.to_records():
            archive.add(record)
    return folder


def small_archive(folder: Path, pages: int = 60, seed: int = 0) -> Path:
    """Archive a generated site."""
    return write_archive(generate_site(SiteParameters(pages=pages), seed), folder)


DEGENERATE = {
    "no-targets": Site(ROOT, {ROOT: Response.page("<a href=a>a</a>"), ROOT + "a": Response.page("a")}),
    "one-page": Site(ROOT, {ROOT: Response.page("nothing here")}),
    "all-errors": Site(ROOT, {ROOT: Response.page("gone", 410)}),
    "redirects-away": Site(ROOT, {ROOT: Response.redirect("http://elsewhere.test/")}),
}
