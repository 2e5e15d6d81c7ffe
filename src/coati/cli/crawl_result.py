"""What is printed when a crawl has ended."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from coati.cli.terminal import say
from coati.reporting.long_pauses import long_pause
from coati.runs.layout import Layout
from coati.runs.reader import RunReader
from coati.stop_reasons import StopReason
from coati.units import format_count

if TYPE_CHECKING:
    from pathlib import Path

    from coati.jobs.crawl_run import CrawlRun
    from coati.jobs.file_commands import CommandCounts
    from coati.live.plan import CrawlResult

# Of what could not be reached, this many are named.
_SHOWN = 5


WITHOUT_CERTIFICATE = (
    "the site's TLS certificate is not valid, or its encryption is too old (a browser shows which). To"
    " crawl without checking the certificate: --limits verify_certificates=false"
)


def say_commands_wait(files: int) -> None:
    """Say what is waited for when a crawl has ended and files still wait for their command."""
    say(f"{format_count(files, 'file')} still to be processed by --exec; Ctrl-C skips them.", err=True)


def say_commands(counts: CommandCounts | None) -> None:
    """Say which commands failed, and what was left; the next session with a command makes up for both."""
    if counts is None:
        return
    for trouble in counts.troubles:
        say(f"Note: the command failed for {trouble}", err=True)
    if counts.failed or counts.left:
        say(
            f"The command ended well for {format_count(counts.done, 'file')}, failed for"
            f" {format_count(counts.failed)} and was not run for {format_count(counts.left)}. Resume with the"
            " same --exec to run it for these.",
            err=True,
        )


def show_result(run: CrawlRun, form: str) -> None:
    """Print the result on stdout, and what may help on stderr."""
    result = run.result
    for message in result.messages:
        say(f"Note: {message}", err=True)
    say_commands(run.commands)
    if run.report is None:
        say(f"coati: no report was written: {run.report_problem}", err=True)
    for warning in run.warnings:
        say(warning, err=True)
    if form == "json":
        say(json.dumps(run.as_json()))
    else:
        _print(run)


def _print(run: CrawlRun) -> None:
    result, failed, summary = run.result, run.failed_start, run.summary
    stop = (failed or result.stop.words).brief
    if result.stop.exit_code in {3, 4} and result.first_failure:
        stop += f" ({result.first_failure})"
    say(f"Stopped: {stop}.")
    layout = Layout(run.folder)
    lines = summary.counts()
    if summary.targets:
        lines.append(("files", f"{layout.files}, listed in {layout.listing}"))
    if run.report is not None:
        lines.append(("report", str(run.report)))
    for name, text in lines:
        say(f"  {name + ':':<12}{text}")
    for url, reason in _unreached(run.folder):
        say(f"  not reached: {url} ({reason})", err=True)
    step = result.stop.words.next_step
    if failed is not None:
        say(failed.sentence, err=True)
        step = failed.next_step
    if result.stop is StopReason.RATE_LIMITED:
        with RunReader(run.folder) as reader:
            step = long_pause(reader.connection) or step
    if result.stop is StopReason.START_UNREACHABLE and _lacks_certificate(result):
        step = WITHOUT_CERTIFICATE
    if step:
        again = f" (coati crawl {shlex.quote(str(run.folder))} …)" if result.stop.resumable else ""
        say(f"Next: {step}{again}", err=True)


def _lacks_certificate(result: CrawlResult) -> bool:
    # A crawl has imported Scrapy by now; this module need not.
    from coati.live.failures import FailureReason

    return result.first_failure == FailureReason.CERTIFICATE


def _unreached(folder: Path) -> list[tuple[str, str]]:
    """List some of the addresses that met an outage and are still to be retried."""
    with RunReader(folder) as reader:
        rows = reader.connection.execute("SELECT url, reason FROM deferred LIMIT ?", (_SHOWN,))
        return [(row["url"], row["reason"]) for row in rows]
