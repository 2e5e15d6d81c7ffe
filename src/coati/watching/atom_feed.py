"""The new and changed files of a watch as an Atom feed (RFC 4287)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from coati.runs.changes_file import Change
from coati.runs.durable import write_whole
from coati.units import format_bytes

FILE_NAME = "feed.xml"

# A feed shows what is recent; all changes are in changes.jsonl.
_MOST_ENTRIES = 200
_NO_TIME = "1970-01-01T00:00:00Z"


def write_feed(folder: Path, title: str, run_id: str, changes: Sequence[Change]) -> None:
    """Write the feed of a watch again."""
    write_whole(folder / FILE_NAME, [feed(title, run_id, changes).encode()])


def feed(title: str, run_id: str, changes: Sequence[Change]) -> str:
    """Return the feed: the latest changes first, gone files left out."""
    there = [change for change in changes if change.what != "gone"]
    shown = there[::-1][:_MOST_ENTRIES]
    updated = shown[0].seen_at if shown else _NO_TIME
    entries = "".join(_entry(change) for change in shown)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"  <title>{_text(title)}</title>\n"
        f"  <id>urn:uuid:{_text(run_id)}</id>\n"
        f"  <updated>{updated}</updated>\n"
        "  <author><name>Coati</name></author>\n"
        f"{entries}</feed>\n"
    )


def _entry(change: Change) -> str:
    size = "" if change.size_bytes is None else f", {format_bytes(change.size_bytes)}"
    summary = f"{change.what} file{size}" + (f", found on {change.found_on}" if change.found_on else "")
    return (
        "  <entry>\n"
        f"    <title>{_text(change.title or change.url)}</title>\n"
        f"    <link href={quoteattr(change.url)}/>\n"
        f"    <id>urn:coati:change:{change.id}</id>\n"
        f"    <updated>{change.seen_at}</updated>\n"
        f"    <summary>{_text(summary)}</summary>\n"
        "  </entry>\n"
    )


def _text(text: str) -> str:
    """Escape a text; what XML cannot hold at all is left out."""
    return escape("".join(letter for letter in text if letter >= " " or letter in "\t\n"))
