"""What is said when a crawl has ended."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from coati.cli.run_summary import RunSummary
from coati.cli.terminal import say
from coati.report.start_page import (
    FEW_LINKS,
    failed_start,
    refused_links,
    why_few_links,
)
from coati.runs.layout import Layout
from coati.runs.reader import RunReader
from coati.stop_reasons import STOPPED_AT_START, StopReason, StopWords

if TYPE_CHECKING:
    from pathlib import Path

    from coati.cli.run_place import RunPlace
    from coati.live.plan import CrawlResult
    from coati.strategies.dry_spell import DrySpell

# The exit code of a crawl whose start gave no link at all.
NO_LINKS = 7

# Of what could not be reached, this many are named.
_SHOWN = 5


WITHOUT_CERTIFICATE = (
    "the site's certificate does not hold, or its encryption is too old (a browser says which);"
    " --limits verify_certificates=false asks all the same, without knowing who answers"
)


def show_result(
    place: RunPlace, result: CrawlResult, early_stop: DrySpell | None, report: Path | None
) -> int:
    """Print the result on stdout, and what may help on stderr; return the exit code."""
    summary = RunSummary.read(place.folder)
    for message in result.messages:
        say(f"Note: {message}", err=True)
    if not place.resumed and result.start_links is not None and result.start_links < FEW_LINKS:
        with RunReader(place.folder) as reader:
            say(why_few_links(result.start_links, refused_links(reader.connection)), err=True)
    nothing = _gave_nothing(place, summary, result)
    code = NO_LINKS if nothing else result.stop.exit_code
    if nothing and result.start_links is None:
        say(
            "The start URL gave no page, so there was nothing to follow: check in a browser what it shows,"
            " and begin at a page that lists what you look for.",
            err=True,
        )
    if place.settings.format == "json":
        told = _as_json(summary, result, early_stop, resumed=place.resumed)
        say(json.dumps({**told, "exit_code": code}))
    else:
        _print(place, summary, result, report)
    return code


def _gave_nothing(place: RunPlace, summary: RunSummary, result: CrawlResult) -> bool:
    """Tell whether a crawl ended with its start, because nothing there could be followed or kept."""
    finished = not place.resumed and result.stop is StopReason.FINISHED
    return finished and not result.start_links and not summary.targets


def _as_json(
    summary: RunSummary, result: CrawlResult, early_stop: DrySpell | None, *, resumed: bool
) -> dict[str, object]:
    # Where nothing is left to ask for, nothing is to be expected of asking.
    estimate = None if early_stop is None or result.stop is StopReason.FINISHED else early_stop.estimate
    return {
        "stop": result.stop.name.lower(),
        **summary.as_json(),
        "stop_reason": result.stop.value,
        "resumable": result.stop.resumable,
        "resumed": resumed,
        "first_failure": result.first_failure or None,
        "start_links": None if resumed else result.start_links,
        "expected_targets_per_1000": None if estimate is None else estimate.as_json(),
    }


def _print(place: RunPlace, summary: RunSummary, result: CrawlResult, report: Path | None) -> None:
    failed = _failed_start(place) if result.stop in STOPPED_AT_START else None
    stop = result.stop.value if failed is None else failed.brief
    if result.stop.exit_code in {3, 4} and result.first_failure:
        stop += f" ({result.first_failure})"
    say(f"Stopped: {stop}.")
    layout = Layout(place.folder)
    lines = summary.counts()
    if summary.targets:
        lines.append(("files", f"{layout.files}, listed in {layout.listing}"))
    if report is not None:
        lines.append(("report", str(report)))
    for name, text in lines:
        say(f"  {name + ':':<12}{text}")
    for url, reason in _unreached(place):
        say(f"  not reached: {url} ({reason})", err=True)
    step = result.stop.words.next_step
    if failed is not None:
        say(failed.sentence, err=True)
        step = failed.next_step
    if result.stop is StopReason.START_UNREACHABLE and _lacks_certificate(result):
        step = WITHOUT_CERTIFICATE
    if step:
        again = f" (coati crawl {shlex.quote(str(place.folder))} …)" if result.stop.resumable else ""
        say(f"Next: {step}{again}", err=True)


def _lacks_certificate(result: CrawlResult) -> bool:
    # A crawl has imported Scrapy by now; this module need not.
    from coati.live.failures import FailureReason

    return result.first_failure == FailureReason.CERTIFICATE


def _unreached(place: RunPlace) -> list[tuple[str, str]]:
    """List some of the addresses that met an outage and are still to be asked again."""
    with RunReader(place.folder) as reader:
        rows = reader.connection.execute("SELECT url, reason FROM deferred LIMIT ?", (_SHOWN,))
        return [(row["url"], row["reason"]) for row in rows]


def _failed_start(place: RunPlace) -> StopWords | None:
    with RunReader(place.folder) as reader:
        return failed_start(reader.connection)
