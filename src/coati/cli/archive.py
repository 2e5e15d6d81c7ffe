"""``coati archive``: sites on disk, from other layouts and to them."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from coati.archive.archive import Archive
from coati.archive.exports.cdxj import export_cdxj
from coati.archive.exports.kit import KitExport, export_kit
from coati.archive.exports.wacz import export_wacz
from coati.archive.exports.warc import export_warc
from coati.archive.importing import Importing, ImportSummary, import_source
from coati.archive.inventory import ArchiveContents, OutsideLinks, count_contents, find_outside_links
from coati.archive.recovery import rebuild_index
from coati.archive.sources.layouts import LAYOUTS, open_source
from coati.archive.sources.source import Damaged, Wishes
from coati.cli.terminal import say
from coati.errors import UsageError
from coati.jobs.progress_bar import progress
from coati.model import Kind
from coati.units import format_bytes
from coati.web.media import parse_types
from coati.web.urls import normalise

WRONG_INPUT = 2

# Damaged records named on the screen and in the summary; all of them are counted.
_MAX_SHOWN = 20
_MAX_LISTED = 100

_PATH = click.Path(path_type=Path)
_FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="How to print the result.",
)


@click.group()
def archive() -> None:
    """Import, look into and export archived sites.

    An archive is a folder with a site's records in WARC files and an index to find them.
    """


@archive.command(name="import")
@click.argument("sources", nargs=-1, required=True, type=_PATH)
@click.argument("destination", type=_PATH)
@click.option(
    "--layout",
    type=click.Choice(["auto", *LAYOUTS]),
    default="auto",
    show_default=True,
    help="What SOURCE is; found by looking at it unless given.",
)
@click.option("--start-url", help="Where the site begins.  [default: what the source says]")
@click.option("--types", "types_text", help="What counts as a target; `coati types` lists the presets.")
@click.option("--name", help="What to call the site.  [default: what the source says]")
@click.option(
    "--keep-target-bodies/--no-target-bodies",
    default=True,
    show_default=True,
    help="Keep the bodies of targets, or only their sizes: enough for a replay.",
)
@click.option("--overwrite", is_flag=True, help="Replace an archive at DESTINATION.")
@_FORMAT
def import_(  # noqa: PLR0917 -- one parameter an option
    sources: tuple[Path, ...],
    destination: Path,
    layout: str,
    start_url: str | None,
    types_text: str | None,
    name: str | None,
    keep_target_bodies: bool,
    overwrite: bool,
    form: str,
) -> None:
    """Make an archive of a site that another tool has saved.

    SOURCES are one or several WARC or WACZ files (or a folder of them), a folder in the replica layout,
    or a plain folder of static files.
    """
    wishes = Wishes(
        name=name,
        start_url=_web_address(start_url) if start_url else None,
        types=parse_types(types_text) if types_text else None,
    )
    # The import may put a new folder in the place of the one that we stand in.
    destination = destination.resolve()
    layout, source = open_source(sources, layout, wishes)
    damages = _Damages()
    with progress(f"Importing {sources[0].name}") as told:
        how = Importing(keep_target_bodies, overwrite, damages, told, time.time())
        summary = import_source(source, destination, how)
    damages.conclude()
    if not summary.has_start:
        say("warning: the start URL is not among the records; see --start-url", err=True)
    with Archive.open(destination) as made:
        _print_import(made, layout, summary, damages, form)


@archive.command()
@click.argument("folder", metavar="ARCHIVE", type=_PATH)
@click.option(
    "--links/--no-links",
    default=True,
    show_default=True,
    help="Look for links of the site that the archive has no answer for.",
)
@_FORMAT
def info(folder: Path, links: bool, form: str) -> None:
    """Show what is in an archive.

    Counts, sizes, what counts as a target, and the links within the site that lead out of the archive.
    """
    with Archive.open(folder) as opened:
        holdings = count_contents(opened)
        outside = None
        if links:
            with progress("Reading links") as told:
                outside = find_outside_links(opened, told)
        facts = _facts(opened, holdings, outside)
    if form == "json":
        say(json.dumps(facts))
    else:
        _print_info(facts)


@archive.command()
@click.argument("folder", metavar="ARCHIVE", type=_PATH)
@_FORMAT
def verify(folder: Path, form: str) -> int:
    """Read every record against its digest, and name the damaged ones."""
    damaged = []
    with Archive.open(folder) as opened, progress("Verifying") as told:
        total = opened.count_captures()
        for done, (entry, error) in enumerate(opened.check_all(), start=1):
            if error is not None:
                damaged.append({"url": entry.url, "reason": str(error)})
                if form == "table":
                    # Who has read enough, as `head` has, still wants the right exit code.
                    with suppress(BrokenPipeError):
                        say(str(error))
            told(done, total)
    with suppress(BrokenPipeError):
        if form == "json":
            say(json.dumps({"archive": str(folder), "records": total, "damaged": damaged}))
        else:
            say(f"{total:,} records, {len(damaged):,} damaged")
    return WRONG_INPUT if damaged else 0


@archive.command()
@click.argument("folder", metavar="ARCHIVE", type=_PATH)
@_FORMAT
def reindex(folder: Path, form: str) -> None:
    """Build the index of an archive again, from its WARC files alone."""
    rebuilt = rebuild_index(folder)
    for volume, damage in rebuilt.damages[:_MAX_SHOWN]:
        where = f"{volume}, byte {damage.offset}"
        what = "bytes of an unfinished end were cut off" if damage.reaches_end else "bytes are unreadable"
        say(f"warning: {where}: {damage.length} {what}: {damage.reason}", err=True)
    # Opening it for writing works out what the index keeps beside the records.
    with Archive.open(folder, writable=True):
        pass
    facts = {"archive": str(folder), "records": rebuilt.records, "damaged": len(rebuilt.damages)}
    if form == "json":
        say(json.dumps(facts))
    else:
        say(f"{rebuilt.records:,} records indexed, {len(rebuilt.damages):,} damaged places")


@archive.command()
@click.argument("folder", metavar="ARCHIVE", type=_PATH)
@click.argument("out", type=_PATH)
@click.option(
    "--to",
    "layout",
    type=click.Choice(["warc", "wacz", "cdxj", "kit"]),
    required=True,
    help="warc: one WARC file. wacz: one WACZ file, for viewers of web archives. cdxj: the index of the"
    " archive's own WARC files. kit: SQLite files in the folder OUT, for SB-CLASSIFIER's published code.",
)
@_FORMAT
def export(folder: Path, out: Path, layout: str, form: str) -> None:
    """Write an archive in the layout of another tool."""
    with Archive.open(folder) as opened:
        if layout == "kit":
            with progress("Exporting") as told:
                exported = export_kit(opened, out, told)
            _print_kit(exported, form)
            return
        if layout == "cdxj":
            export_cdxj(opened, out)
        elif layout == "wacz":
            with progress("Exporting") as told:
                export_wacz(opened, out, told)
        else:
            export_warc(opened, out)
    size = out.stat().st_size
    facts = {"file": str(out), "size_bytes": size}
    say(json.dumps(facts) if form == "json" else f"{out}: {format_bytes(size)}")


def _web_address(text: str) -> str:
    url = normalise(text)
    if url is None:
        raise UsageError(f"{text!r} is no web address; one begins with http:// or https://")
    return url


class _Damages:
    """Warns of damaged parts as they are met, of the first ones one by one."""

    def __init__(self) -> None:
        self.count = 0
        self.listed: list[Damaged] = []

    def __call__(self, damaged: Damaged) -> None:
        self.count += 1
        if self.count <= _MAX_SHOWN:
            say(f"warning: {damaged}", err=True)
        if self.count <= _MAX_LISTED:
            self.listed.append(damaged)

    def conclude(self) -> None:
        if self.count > _MAX_SHOWN:
            say(f"warning: {self.count - _MAX_SHOWN} more parts are damaged", err=True)


def _print_import(made: Archive, layout: str, summary: ImportSummary, damages: _Damages, form: str) -> None:
    holdings = count_contents(made)
    if form == "json":
        facts = {
            "layout": layout,
            "repeated": summary.repeated,
            "undated": summary.undated,
            "damaged": summary.damaged,
            "damaged_parts": [damaged._asdict() for damaged in damages.listed],
        }
        say(json.dumps(_facts(made, holdings, None) | facts))
        return
    _print_columns(
        [
            ("archive", str(made.folder)),
            ("site", f"{made.meta.name}, from {made.meta.start_url}"),
            ("read as", layout),
            ("records", f"{summary.records:,} ({_counted(holdings.kinds)})"),
            ("bodies", f"{holdings.bodies:,} kept"),
            ("captures", _history(holdings)),
            ("repeated", f"{summary.repeated:,} captures were there already"),
            ("undated", f"{summary.undated:,} captures, with no time or one in the future"),
            ("damaged", f"{summary.damaged:,}"),
            ("targets", _definition(made)),
        ]
    )


def _facts(opened: Archive, holdings: ArchiveContents, outside: OutsideLinks | None) -> dict[str, Any]:
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
        "records": holdings.records,
        "captures": holdings.captures,
        "captured": None if holdings.span is None else [_iso(moment) for moment in holdings.span],
        "bodies": holdings.bodies,
        "kinds": {kind.value: holdings.kinds[kind] for kind in Kind},
        "size_bytes": {kind.value: holdings.bytes_by_kind[kind] for kind in Kind},
        "statuses": {str(status): count for status, count in sorted(holdings.statuses.items())},
        "media_types": dict(holdings.media_types.most_common()),
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


def _history(holdings: ArchiveContents) -> str:
    span = "" if holdings.span is None else " from " + " to ".join(map(_iso, holdings.span))
    return f"{holdings.captures:,}{span}"


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _definition(opened: Archive) -> str:
    types = opened.meta.types
    if types is None:
        return "each record is labelled with its kind"
    return f"{types.name} ({len(types.media_types)} media types, {len(types.extensions)} extensions)"


def _print_info(facts: Mapping[str, Any]) -> None:
    rows = [
        ("archive", facts["archive"]),
        ("site", facts["name"]),
        ("start URL", facts["start_url"]),
        ("origin", facts["origin"]),
        ("licence", facts["licence"]),
        ("digest", facts["digest"]),
        ("targets", facts["target_definition"]),
        ("never asked for", _listed(facts["blocked_extensions"])),
        ("records", f"{facts['records']:,}, {facts['bodies']:,} with their body"),
        ("captures", f"{facts['captures']:,}"),
        ("captured", " to ".join(facts["captured"] or ())),
    ]
    _print_columns([(name, value) for name, value in rows if value])
    say()
    sizes = facts["size_bytes"]
    _print_columns(
        [(kind, f"{count:>9,}   {format_bytes(sizes[kind]):>10}") for kind, count in facts["kinds"].items()]
    )
    for title in ("statuses", "media_types"):
        say()
        shown = list(facts[title].items())
        _print_columns([(name or "(none)", f"{count:>9,}") for name, count in shown[:_MAX_SHOWN]])
        if len(shown) > _MAX_SHOWN:
            say(f"and {len(shown) - _MAX_SHOWN} more")
    if "links_outside" in facts:
        say()
        _print_outside("URLs of the site that are linked and not in the archive", facts["links_outside"])
        if facts["refreshes_outside"]["count"]:
            _print_outside("such URLs that only a meta refresh leads to", facts["refreshes_outside"])


def _listed(extensions: list[str]) -> str:
    shown = " ".join(extensions[:_MAX_SHOWN])
    more = len(extensions) - _MAX_SHOWN
    return f"{shown} and {more} more extensions" if more > 0 else shown


def _print_outside(what: str, outside: Mapping[str, Any]) -> None:
    say(f"{what}: {outside['count']:,}")
    for link in outside["examples"]:
        say(f"  {link['url']}\n    on {link['page']}")
    more = outside["count"] - len(outside["examples"])
    if more > 0:
        say(f"  and {more:,} more")


def _print_kit(exported: KitExport, form: str) -> None:
    if form == "json":
        facts = {
            "file": str(exported.file),
            "table": exported.table,
            "records": exported.records,
            "left_out": exported.left_out,
            "damaged": exported.damaged,
            "stand_ins": [
                {"media_type": own, "exported_as": given, "records": count}
                for (own, given), count in exported.stand_ins.most_common()
            ],
        }
        say(json.dumps(facts))
        return
    for message in exported.damaged[:_MAX_SHOWN]:
        say(f"warning: {message}", err=True)
    say(f"{exported.file}: table {exported.table}, {exported.records:,} records")
    say(f"{exported.left_out:,} URLs that failed are left out, as the kit expects it")
    for (own, given), count in exported.stand_ins.most_common():
        say(f"{count:,} of the type {own or '(none)'} were exported as {given}")


def _counted(kinds: Counter[Kind]) -> str:
    return ", ".join(f"{kinds[kind]:,} {kind.value}" for kind in Kind)


def _print_columns(rows: list[tuple[str, str]]) -> None:
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        say(f"{name:<{width}}  {value}")
