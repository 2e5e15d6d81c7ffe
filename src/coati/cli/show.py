"""``coati show``: what one run did."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from coati.cli.completion import RunPath
from coati.cli.output_format import format_option
from coati.cli.terminal import say, say_json
from coati.jobs.run_details import GroupYield, RunDetails, SkipCount
from coati.jobs.run_summary import RunSummary
from coati.jobs.runs import open_run
from coati.units import format_bytes, format_count

_SHOWN = 5
_IN_JSON = 50
_LABEL_WIDTH = 70


@click.command()
@click.argument("folder", type=RunPath(), metavar="RUN")
@format_option
def show(folder: Path, form: str) -> None:
    """Show what the run in RUN cost and found, and which groups of links led to it."""
    run = open_run(folder)
    if form == "json":
        say_json({**run.summary.as_json(), **run.details(_IN_JSON).as_json()})
    else:
        _print(run.summary, run.details(_SHOWN))


def _print(summary: RunSummary, details: RunDetails) -> None:
    say(summary.start_url, bold=True)
    sessions = "" if summary.sessions == 1 else f", in {summary.sessions} sessions"
    say(f"  {summary.types} by {summary.strategy}, seed {summary.seed}, begun {summary.started_at}{sessions}")
    say(f"  ended: {details.end or 'not yet, or it was killed'}")
    for name, text in summary.counts():
        say(f"  {name + ':':<12}{text}")
    if summary.report:
        say(f"  {'report:':<12}{summary.report}")
    _section(
        "Groups of links with most targets; one counts for its own link and for that of its page",
        [
            f"{_targets(_brought(row))} from {format_count(row.pulls, 'request')}  {_end_of(row.label)}"
            for row in details.groups
        ],
    )
    _section(
        "Found by",
        [
            f"{_targets(row.targets)} from {format_count(row.requests, 'request')}  {row.way}"
            for row in details.found_by
        ],
    )
    _section(
        "Types of targets",
        [f"{row.targets:>6,}  {row.media_type} ({format_bytes(row.bytes)})" for row in details.media_types],
    )
    _section("Errors", [f"{row.requests:>6,}  {row.reason}" for row in details.failure_reasons])
    _section(
        f"Not reached yet; `coati crawl {shlex.quote(summary.folder)}` tries again",
        [f"{row.url} ({row.reason})" for row in details.unreached_addresses],
    )
    _section("Asked for a pause", [] if details.pause is None else [details.pause])
    _section(
        "Gone from the site, but in a web archive",
        [f"{row.url}  {row.archived}" for row in details.gone],
    )
    _section("Skipped", [f"{row.urls:>6,}  {_in_words(row)}" for row in details.skip_reasons])


def _section(title: str, lines: Sequence[str]) -> None:
    if lines:
        say(f"\n{title}")
        for line in lines:
            say(f"  {line}")


def _targets(count: float) -> str:
    number = round(count)
    return f"{number:>6,} {'target' if number == 1 else 'targets'}"


def _brought(group: GroupYield) -> float:
    """Count what a group's links were or led to; a page that led to them is not a target itself."""
    return max(group.reward, group.targets)


def _in_words(skip: SkipCount) -> str:
    return f"{skip.reason}: {skip.meaning}" if skip.meaning else skip.reason


def _end_of(label: str) -> str:
    return label if len(label) <= _LABEL_WIDTH else "… " + label[-_LABEL_WIDTH:]
