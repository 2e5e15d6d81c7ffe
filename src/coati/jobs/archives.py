"""Archived sites: import one, describe it, export it for another tool."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coati.archive.archive import Archive
from coati.archive.exports.cdxj import export_cdxj
from coati.archive.exports.sb_kit import KitExport, export_kit
from coati.archive.exports.wacz import export_wacz
from coati.archive.exports.warc import export_warc
from coati.archive.importing import ImportOptions, ImportSummary, import_source
from coati.archive.inventory import ArchiveContents, OutsideLinks, count_contents, find_outside_links
from coati.archive.sources.layouts import open_source
from coati.archive.sources.source import DamagedPart, SourceOptions
from coati.errors import UsageError, unknown_name
from coati.jobs.arguments import PathText, checked_arguments, path_of, text_of, texts_of
from coati.jobs.notebook_tables import pairs_table
from coati.jobs.progress_bar import progress
from coati.model import Kind
from coati.runs.layout import holds_run
from coati.times import to_iso_seconds
from coati.web.media import parse_types
from coati.web.urls import normalise

OnProgress = Callable[[int, int], None]

EXPORTS = {
    "warc": "one WARC file",
    "wacz": "one WACZ file, for viewers of web archives",
    "cdxj": "the index of the archive's own WARC files",
    "kit": "SQLite files in a folder, for SB-CLASSIFIER's published code",
}

# This many damaged parts are kept; all of them are counted.
_MAX_LISTED = 100


@dataclass(frozen=True, slots=True)
class ArchiveSummary:
    """What is in an archive; ``outside`` are links of the site that it has no response for."""

    folder: Path
    name: str
    start_url: str
    definition: str
    contents: ArchiveContents
    outside: OutsideLinks | None
    facts: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON can say it."""
        return self.facts

    @property
    def history(self) -> str:
        """How many captures there are, and from when to when."""
        span = self.contents.span
        when = "" if span is None else f" from {to_iso_seconds(span[0])} to {to_iso_seconds(span[1])}"
        return f"{self.contents.captures:,}{when}"

    def _repr_html_(self) -> str:
        kinds = ", ".join(f"{self.contents.kinds[kind]:,} {kind.value}" for kind in Kind)
        pairs = [("start URL", self.start_url), ("targets", self.definition), ("captures", self.history)]
        return pairs_table(
            f"{self.name} in {self.folder}", [*pairs, ("records", f"{self.contents.records:,} ({kinds})")]
        )


@dataclass(frozen=True, slots=True)
class ImportedArchive:
    """What `coati.import_archive` returns; ``damaged`` lists the first damaged parts of the source."""

    layout: str
    imported: ImportSummary
    archive: ArchiveSummary
    damaged: tuple[DamagedPart, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON can say it."""
        return self.archive.as_json() | {
            "layout": self.layout,
            "repeated": self.imported.repeated,
            "undated": self.imported.undated,
            "damaged": self.imported.damaged,
            "damaged_parts": [each._asdict() for each in self.damaged],
        }

    def _repr_html_(self) -> str:
        return self.archive._repr_html_()


@checked_arguments
def import_archive(  # noqa: PLR0913 - one argument per option of the command
    sources: PathText | Iterable[PathText],
    destination: str | Path,
    *,
    layout: str = "auto",
    start_url: str | None = None,
    types: str | None = None,
    name: str | None = None,
    keep_target_bodies: bool = True,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
    on_damage: Callable[[DamagedPart], None] | None = None,
    show_progress: bool | None = None,
) -> ImportedArchive:
    """Import a site that another tool has saved: WARC or WACZ files, a replica, a static folder.

    ``on_damage`` gets each part that cannot be read.
    """
    options = SourceOptions(
        name=name,
        start_url=_web_address(start_url) if start_url else None,
        types=parse_types(text_of("types", types)) if types else None,
    )
    given = texts_of("sources", sources)
    if not given:
        raise UsageError("sources: there is none; name what is to be imported")
    # The import may put a new folder in the place of the one that we stand in.
    place = path_of("destination", destination).resolve()
    if layout == "auto" and (run := next(filter(holds_run, map(Path, given)), None)) is not None:
        raise UsageError(
            f"{run} is the folder of a run, which is not a copy of the site. Crawl with --archive to get one;"
            f" {run / 'warc'} has the pages alone"
        )
    layout, source = open_source(tuple(map(Path, given)), layout, options)
    if (
        layout == "folder"
        and place.is_relative_to(Path(given[0]).resolve())
        and place != Path(given[0]).resolve()
    ):
        raise UsageError(f"{place} lies in the folder that is imported; choose a place outside of it")
    damaged: list[DamagedPart] = []

    def take(part: DamagedPart) -> None:
        if len(damaged) < _MAX_LISTED:
            damaged.append(part)
        if on_damage is not None:
            on_damage(part)

    with progress(f"Importing {Path(given[0]).name}", show_progress, on_progress) as report_progress:
        how = ImportOptions(keep_target_bodies, overwrite, take, report_progress, time.time())
        imported = import_source(source, place, how)
    return ImportedArchive(layout, imported, describe_archive(place, links=False), tuple(damaged))


@checked_arguments
def describe_archive(
    folder: str | Path,
    *,
    links: bool = True,
    on_progress: OnProgress | None = None,
    show_progress: bool | None = None,
) -> ArchiveSummary:
    """Return what is in an archive; ``links`` also finds links that it has no response for."""
    with Archive.open(path_of("folder", folder)) as opened:
        contents = count_contents(opened)
        outside = None
        if links:
            with progress("Reading links", show_progress, on_progress) as report_progress:
                outside = find_outside_links(opened, report_progress)
        meta, facts = opened.meta, _facts(opened, contents, outside)
        where = opened.folder
    return ArchiveSummary(
        where, meta.name, meta.start_url, facts["target_definition"], contents, outside, facts
    )


@checked_arguments
def export_archive(
    folder: str | Path,
    out: str | Path,
    to: str,
    *,
    on_progress: OnProgress | None = None,
    show_progress: bool | None = None,
) -> Path | KitExport:
    """Write an archive in the layout of another tool (`EXPORTS` lists them), and return what was written."""
    if to not in EXPORTS:
        raise unknown_name("layout", to, EXPORTS)
    with (
        Archive.open(path_of("folder", folder)) as opened,
        progress("Exporting", show_progress, on_progress) as report_progress,
    ):
        if to == "kit":
            return export_kit(opened, Path(out), report_progress)
        if to == "cdxj":
            export_cdxj(opened, Path(out))
        elif to == "wacz":
            export_wacz(opened, Path(out), report_progress)
        else:
            export_warc(opened, Path(out))
    return Path(out)


def _web_address(text: str) -> str:
    url = normalise(text)
    if url is None:
        raise UsageError(f"{text!r} is not a URL; it must begin with http:// or https://")
    return url


def _facts(opened: Archive, contents: ArchiveContents, outside: OutsideLinks | None) -> dict[str, Any]:
    meta = opened.meta
    types = None
    if meta.types is not None:
        types = {
            "name": meta.types.name,
            "media_types": sorted(meta.types.media_types),
            "extensions": sorted(meta.types.extensions),
            "everything": meta.types.everything,
        }
    facts = {
        "archive": str(opened.folder),
        "name": meta.name,
        "start_url": meta.start_url,
        "origin": meta.origin,
        "licence": meta.licence,
        "digest": opened.digest(),
        "records": contents.records,
        "captures": contents.captures,
        "captured": None if contents.span is None else [to_iso_seconds(moment) for moment in contents.span],
        "bodies": contents.bodies,
        "kinds": {kind.value: contents.kinds[kind] for kind in Kind},
        "size_bytes": {kind.value: contents.bytes_by_kind[kind] for kind in Kind},
        "statuses": {str(status): count for status, count in sorted(contents.statuses.items())},
        "media_types": dict(contents.media_types.most_common()),
        "target_definition": _definition(opened),
        "target_types": types,
        "blocked_extensions": sorted(meta.blocked_extensions),
    }
    if outside is not None:
        facts["links_outside"] = {
            "count": outside.count,
            "examples": [link._asdict() for link in outside.examples],
        }
        facts["refreshes_outside"] = {
            "count": outside.refreshes,
            "examples": [link._asdict() for link in outside.refresh_examples],
        }
    return facts


def _definition(opened: Archive) -> str:
    types = opened.meta.types
    if types is None:
        return "each record is labelled with its kind"
    return f"{types.name} ({len(types.media_types)} media types, {len(types.extensions)} extensions)"
