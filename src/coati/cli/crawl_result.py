"""What is printed when a crawl has ended."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from coati.cli.terminal import say, say_json
from coati.runs.layout import Layout
from coati.units import format_count

if TYPE_CHECKING:
    from coati.jobs.crawl_run import CrawlRun
    from coati.jobs.file_commands import CommandCounts

# Of what could not be reached, this many are named.
_SHOWN = 5


def say_commands_wait(files: int) -> None:
    """Say what is waited for when a crawl has ended and files still wait for their command."""
    say(f"{format_count(files, 'file')} still to be processed by --exec; Ctrl-C skips them.", err=True)


def say_commands(counts: CommandCounts | None) -> None:
    """Say which commands failed, and how many did not run; the next session with a command runs both."""
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
        say_json(run.as_json())
    else:
        _print(run)


def _print(run: CrawlRun) -> None:
    result, failed, summary = run.result, run.failed_start, run.summary
    stop = (failed or result.stop.text).brief
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
    for each in run.run.details(_SHOWN).unreached_addresses:
        say(f"  not reached: {each.url} ({each.reason})", err=True)
    if failed is not None:
        say(failed.sentence, err=True)
    if run.next_step:
        again = f" (coati crawl {shlex.quote(str(run.folder))} …)" if result.stop.resumable else ""
        say(f"Next: {run.next_step}{again}", err=True)
