"""``coati show``: what one run did."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coati.cli.completion import RunPath
from coati.cli.output_format import format_option
from coati.cli.terminal import say
from coati.jobs.run_summary import RunSummary
from coati.reporting.long_pauses import long_pause
from coati.reporting.sections.groups import best_groups
from coati.reporting.skip_meanings import meaning_of
from coati.reporting.start_page import failed_start
from coati.runs.found_by import found_by
from coati.runs.reader import RunReader
from coati.stop_reasons import STOPPED_AT_START
from coati.units import format_bytes, format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

_TYPES = "SELECT media_type, count(*), sum(size_bytes) FROM targets GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?"
_ERRORS = """
SELECT coalesce(reason, 'status ' || status), count(*) FROM requests WHERE kind = 'failure'
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?
"""

_UNREACHED = "SELECT url, reason, deferred_until FROM deferred LIMIT ?"

_GONE = "SELECT url, archived, last_seen, known FROM gone ORDER BY url LIMIT ?"

_SHOWN = 5
_IN_JSON = 50
_LABEL_WIDTH = 70


@click.command()
@click.argument("folder", type=RunPath(), metavar="RUN")
@format_option
def show(folder: Path, form: str) -> None:
    """Show what the run in RUN cost and found, and which groups of links led to it."""
    summary = RunSummary.read(folder)
    if form == "json":
        say(json.dumps({**summary.as_json(), **_details(folder, _IN_JSON)}))
    else:
        _print(summary, _details(folder, _SHOWN))


def _details(folder: Path, count: int) -> dict[str, list[dict[str, object]]]:
    with RunReader(folder) as reader:

        def rows(query: str, *names: str) -> list[dict[str, object]]:
            found = reader.connection.execute(query, (count,))
            return [dict(zip(names, row, strict=True)) for row in found]

        skips = list(reader.skip_counts().items())[:count]
        return {
            "groups": [
                {
                    "label": row["label"],
                    "pulls": row["pulls"],
                    "targets": row["targets"],
                    "reward": row["total_reward"],
                    "failures": row["failures"],
                }
                for row in best_groups(reader.connection, count)
            ],
            "found_by": [way._asdict() for way in found_by(reader.connection)],
            "media_types": rows(_TYPES, "media_type", "targets", "bytes"),
            "failure_reasons": rows(_ERRORS, "reason", "requests"),
            "unreached_addresses": rows(_UNREACHED, "url", "reason", "until"),
            "gone": rows(_GONE, "url", "archived", "last_seen", "known"),
            "skip_reasons": [{"reason": reason, "urls": urls} for reason, urls in skips],
        }


def _print(summary: RunSummary, details: dict[str, list[dict[str, object]]]) -> None:
    say(summary.start_url, bold=True)
    sessions = "" if summary.sessions == 1 else f", in {summary.sessions} sessions"
    say(f"  {summary.types} by {summary.strategy}, seed {summary.seed}, begun {summary.started_at}{sessions}")
    say(f"  ended: {_end(summary)}")
    for name, text in summary.counts():
        say(f"  {name + ':':<12}{text}")
    if summary.report:
        say(f"  {'report:':<12}{summary.report}")
    _section(
        "Groups of links with most targets; one counts for its own link and for that of its page",
        [
            f"{_targets(_brought(row))} from {_requests(row['pulls'])}  {_end_of(str(row['label']))}"
            for row in details["groups"]
        ],
    )
    _section(
        "Found by",
        [
            f"{_targets(row['targets'])} from {_requests(row['requests'])}  {row['way']}"
            for row in details["found_by"]
        ],
    )
    _section(
        "Types of targets",
        [
            f"{row['targets']:>6,}  {row['media_type']} ({format_bytes(float(str(row['bytes'])))})"
            for row in details["media_types"]
        ],
    )
    _section("Failures", [f"{row['requests']:>6,}  {row['reason']}" for row in details["failure_reasons"]])
    _section(
        f"Not reached yet; `coati crawl {shlex.quote(summary.folder)}` tries again",
        [f"{row['url']} ({row['reason']})" for row in details["unreached_addresses"]],
    )
    with RunReader(Path(summary.folder)) as reader:
        rest = long_pause(reader.connection)
    _section("Asked for a pause", [] if rest is None else [rest])
    _section(
        "Gone from the site, but in a web archive",
        [f"{row['url']}  {row['archived']}" for row in details["gone"]],
    )
    _section("Skipped", [f"{row['urls']:>6,}  {_in_words(row)}" for row in details["skip_reasons"]])


def _end(summary: RunSummary) -> str:
    """Say why a run ended; where its start was refused, by whom."""
    if summary.stop_reason in STOPPED_AT_START:
        with RunReader(Path(summary.folder)) as reader:
            refused = failed_start(reader.connection)
        if refused is not None:
            return refused.brief
    if summary.stop_reason is None:
        return "not yet, or it was killed"
    return summary.stop_reason


def _section(title: str, lines: Sequence[str]) -> None:
    if lines:
        say(f"\n{title}")
        for line in lines:
            say(f"  {line}")


def _requests(count: object) -> str:
    return format_count(int(str(count)), "request")


def _targets(count: object) -> str:
    number = round(float(str(count)))
    return f"{number:>6,} {'target' if number == 1 else 'targets'}"


def _brought(group: dict[str, object]) -> float:
    """Count what a group's links were or led to; a page that led to them is no target itself."""
    return max(float(str(group["reward"])), float(str(group["targets"])))


def _in_words(skip: dict[str, object]) -> str:
    meaning = meaning_of(str(skip["reason"]))
    return f"{skip['reason']}: {meaning}" if meaning else str(skip["reason"])


def _end_of(label: str) -> str:
    return label if len(label) <= _LABEL_WIDTH else "… " + label[-_LABEL_WIDTH:]
