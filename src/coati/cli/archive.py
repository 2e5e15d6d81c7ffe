"""``coati archive``: sites on disk, from other layouts and to them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from coati.archive.exports.sb_kit import KitExport
from coati.archive.sources.layouts import LAYOUTS
from coati.archive.sources.source import DamagedPart
from coati.cli.completion import offering
from coati.cli.output_format import format_option
from coati.cli.terminal import say, say_json
from coati.jobs.archive_checks import DamagedRecord, reindex_archive, verify_archive
from coati.jobs.archives import EXPORTS, ImportedArchive, describe_archive, export_archive, import_archive
from coati.model import Kind
from coati.units import format_bytes
from coati.web.media import PRESETS

WRONG_INPUT = 2

# Damaged records named on the screen; all of them are counted.
_MAX_SHOWN = 20

# The words of a crawl for what an archive calls by its labels.
_KINDS = {
    Kind.PAGE: "pages",
    Kind.TARGET: "targets",
    Kind.OTHER: "other",
    Kind.REDIRECT: "redirects",
    Kind.BROKEN: "failures",
}

_PATH = click.Path(path_type=Path)


@click.group()
def archive() -> None:
    """Import, inspect and export archived sites.

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
    help="Layout of SOURCES; auto detects it.",
)
@click.option("--start-url", help="Start URL of the site.  [default: what the source says]")
@click.option(
    "--types",
    shell_complete=offering(PRESETS.keys()),
    help="The file types that count as targets; `coati types` lists the presets.",
)
@click.option("--name", help="Name of the site.  [default: what the source says]")
@click.option(
    "--keep-target-bodies/--no-target-bodies",
    default=True,
    show_default=True,
    help="Store the contents of targets, or only their sizes, which is enough for a replay.",
)
@click.option("--overwrite", is_flag=True, help="Replace an archive at DESTINATION.")
@format_option
def import_(
    sources: tuple[Path, ...],
    destination: Path,
    form: str,
    **options: Any,  # noqa: ANN401 - the other options, each by the name that the library gives it
) -> None:
    """Import a site that another tool has saved.

    SOURCES are one or several WARC or WACZ files (or a folder of them), a folder in the replica layout,
    a folder of snapshot tables, or a plain folder of static files.
    """
    damages = _Damages()
    made = import_archive(sources, destination, **options, on_damage=damages, show_progress=True)
    damages.conclude()
    if not made.imported.has_start:
        say("warning: the start URL is not in the archive; set another with --start-url", err=True)
    if form == "json":
        say_json(made.as_json())
    else:
        _print_import(made)


@archive.command()
@click.argument("folder", metavar="ARCHIVE", type=_PATH)
@click.option(
    "--links/--no-links",
    default=True,
    show_default=True,
    help="Find links of the site that the archive has no response for.",
)
@format_option
def info(folder: Path, links: bool, form: str) -> None:
    """Show what is in an archive.

    Prints counts, sizes, target types, and the links of the site that the archive has no response for.
    """
    facts = describe_archive(folder, links=links, show_progress=True).as_json()
    if form == "json":
        say_json(facts)
    else:
        _print_info(facts)


@archive.command()
@click.argument("folder", metavar="ARCHIVE", type=_PATH)
@format_option
def verify(folder: Path, form: str) -> int:
    """Check every record against its digest, and list the damaged ones."""

    def show(damaged: DamagedRecord) -> None:
        # Who has read enough, as `head` has, still wants the right exit code.
        with suppress(BrokenPipeError):
            say(damaged.reason)

    found = verify_archive(folder, on_damage=show if form == "table" else None, show_progress=True)
    with suppress(BrokenPipeError):
        if form == "json":
            say_json(found.as_json())
        else:
            say(f"{found.records:,} records, {len(found.damaged):,} damaged")
    return 0 if found.whole else WRONG_INPUT


@archive.command()
@click.argument("folder", metavar="ARCHIVE", type=_PATH)
@format_option
def reindex(folder: Path, form: str) -> None:
    """Rebuild the index of an archive from its WARC files."""
    rebuilt = reindex_archive(folder)
    for volume, damage in rebuilt.damages[:_MAX_SHOWN]:
        where = f"{volume}, byte {damage.offset}"
        what = "of an incomplete record at the end were removed" if damage.reaches_end else "are unreadable"
        say(f"warning: {where}: {damage.length} bytes {what}: {damage.reason}", err=True)
    if form == "json":
        say_json(rebuilt.as_json())
    else:
        say(f"{rebuilt.records:,} records indexed, {len(rebuilt.damages):,} damaged places")


@archive.command()
@click.argument("folder", metavar="ARCHIVE", type=_PATH)
@click.argument("out", type=_PATH)
@click.option(
    "--to",
    "layout",
    type=click.Choice(list(EXPORTS)),
    required=True,
    help="warc: one WARC file. wacz: one WACZ file, for web archive viewers. cdxj: an index of the"
    " archive's WARC files. kit: SQLite files in the folder OUT, for SB-CLASSIFIER's published code.",
)
@format_option
def export(folder: Path, out: Path, layout: str, form: str) -> None:
    """Export an archive for other tools."""
    exported = export_archive(folder, out, layout, show_progress=True)
    if isinstance(exported, KitExport):
        _print_kit(exported, form)
        return
    size = exported.stat().st_size
    facts = {"file": str(exported), "size_bytes": size}
    say(json.dumps(facts) if form == "json" else f"{exported}: {format_bytes(size)}")


class _Damages:
    """Warns of damaged parts as they are met, of the first ones one by one."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, damaged: DamagedPart) -> None:
        self.count += 1
        if self.count <= _MAX_SHOWN:
            say(f"warning: {damaged}", err=True)

    def conclude(self) -> None:
        if self.count > _MAX_SHOWN:
            say(f"warning: {self.count - _MAX_SHOWN} more parts are damaged", err=True)


def _print_import(made: ImportedArchive) -> None:
    archive, imported = made.archive, made.imported
    _print_columns(
        [
            ("archive", str(archive.folder)),
            ("site", f"{archive.name}, from {archive.start_url}"),
            ("read as", made.layout),
            ("records", f"{imported.records:,} ({_counted(archive.contents.kinds)})"),
            ("bodies", f"{archive.contents.bodies:,} kept"),
            ("captures", archive.history),
            ("repeated", f"{imported.repeated:,} captures were already in the archive"),
            ("undated", f"{imported.undated:,} captures without a time, or with one in the future"),
            ("damaged", f"{imported.damaged:,}"),
            ("targets", archive.definition),
        ]
    )


def _print_info(facts: Mapping[str, Any]) -> None:
    rows = [
        ("archive", facts["archive"]),
        ("site", facts["name"]),
        ("start URL", facts["start_url"]),
        ("origin", facts["origin"]),
        ("licence", facts["licence"]),
        ("digest", facts["digest"]),
        ("targets", facts["target_definition"]),
        ("never fetched", _listed(facts["blocked_extensions"])),
        ("records", f"{facts['records']:,}, {facts['bodies']:,} with their body"),
        ("captures", f"{facts['captures']:,}"),
        ("captured", " to ".join(facts["captured"] or ())),
    ]
    _print_columns([(name, value) for name, value in rows if value])
    say()
    sizes = facts["size_bytes"]
    _print_columns(
        [
            (_KINDS[Kind(kind)], f"{count:>9,}   {format_bytes(sizes[kind]):>10}")
            for kind, count in facts["kinds"].items()
        ]
    )
    for title in ("statuses", "media_types"):
        say()
        shown = list(facts[title].items())
        _print_columns([(name or "(none)", f"{count:>9,}") for name, count in shown[:_MAX_SHOWN]])
        if len(shown) > _MAX_SHOWN:
            say(f"and {len(shown) - _MAX_SHOWN} more")
    if "links_outside" in facts:
        say()
        _print_outside("URLs of the site that are linked but not in the archive", facts["links_outside"])
        if facts["refreshes_outside"]["count"]:
            _print_outside("of these, linked only by a meta refresh", facts["refreshes_outside"])


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
        say_json(facts)
        return
    for message in exported.damaged[:_MAX_SHOWN]:
        say(f"warning: {message}", err=True)
    say(f"{exported.file}: table {exported.table}, {exported.records:,} records")
    say(f"{exported.left_out:,} failed URLs were left out, as the kit expects")
    for (own, given), count in exported.stand_ins.most_common():
        say(f"{count:,} of the type {own or '(none)'} were exported as {given}")


def _counted(kinds: Counter[Kind]) -> str:
    return ", ".join(
        f"{kinds[kind]:,} {_KINDS[kind].removesuffix('s') if kinds[kind] == 1 else _KINDS[kind]}"
        for kind in Kind
    )


def _print_columns(rows: list[tuple[str, str]]) -> None:
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        say(f"{name:<{width}}  {value}")
