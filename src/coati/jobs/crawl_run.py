"""A crawl that has ended, with the folder that it left."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from coati.jobs.file_commands import CommandCounts
from coati.jobs.notebook_tables import pairs_table
from coati.jobs.run_summary import RunSummary
from coati.jobs.runs import Run, RunFile
from coati.live.plan import CrawlResult
from coati.reporting.start_page import failed_start, few_links_in
from coati.runs.reader import RunReader
from coati.stop_reasons import STOPPED_AT_START, StopReason, StopText
from coati.strategies.stopping.forecast import Estimate
from coati.units import format_count

# The exit code of a crawl whose start gave no link at all.
NO_LINKS = 7

NO_PAGE = (
    "The start URL is not a page, so there was no link to follow. Check it in a browser, and start from a"
    " page that links to the files."
)


WITHOUT_CERTIFICATE = (
    "the site's TLS certificate is not valid, or its encryption is too old (a browser shows which). To"
    " crawl without checking the certificate: --limits verify_certificates=false"
)


@dataclass(frozen=True, repr=False)
class CrawlRun:
    """What `coati.crawl` returns.

    ``result`` has the counts and the reason of the end, ``estimate`` what further requests would bring.
    ``report`` is the path of the report; if none could be written, ``report_problem`` says why. ``commands``
    says what came of the command for each file, if there was one.
    """

    folder: Path
    result: CrawlResult
    resumed: bool
    estimate: Estimate | None = None
    report: Path | None = None
    report_problem: str = ""
    commands: CommandCounts | None = None

    def __fspath__(self) -> str:
        return str(self.folder)

    @property
    def run(self) -> Run:
        """The run, for reading."""
        return Run(self.folder)

    @cached_property
    def summary(self) -> RunSummary:
        """What the run did in all its sessions."""
        return RunSummary.read(self.folder)

    def files(self) -> list[RunFile]:
        """List the targets that the run kept."""
        return self.run.files()

    @property
    def stop(self) -> StopReason:
        """Why it ended."""
        return self.result.stop

    @property
    def found_nothing_at_start(self) -> bool:
        """Whether it ended with its start, because nothing there could be followed or kept."""
        finished = not self.resumed and self.stop is StopReason.FINISHED
        return finished and not self.result.start_links and not self.summary.targets

    @property
    def exit_code(self) -> int:
        """The exit status of a command that made this crawl."""
        return NO_LINKS if self.found_nothing_at_start else self.stop.exit_code

    @cached_property
    def failed_start(self) -> StopText | None:
        """What kept it from its start page, if that is why it got nothing and the log says so."""
        if self.stop not in STOPPED_AT_START:
            return None
        with RunReader(self.folder) as reader:
            return failed_start(reader.connection)

    @cached_property
    def next_step(self) -> str:
        """What to do next, in words; empty where nothing is left."""
        # A crawl has imported Scrapy by now; this module need not.
        from coati.live.failures import FailureReason

        if self.stop is StopReason.START_UNREACHABLE and (
            self.result.first_failure == FailureReason.CERTIFICATE
        ):
            return WITHOUT_CERTIFICATE
        if self.stop is StopReason.RATE_LIMITED and (pause := self.run.details(1).pause):
            return pause
        return (self.failed_start or self.stop.text).next_step

    @cached_property
    def warnings(self) -> list[str]:
        """What may be wrong with the start, in sentences: it gave few links, none, or no page."""
        if self.resumed:
            return []
        with RunReader(self.folder) as reader:
            few_links = few_links_in(reader.connection)
        no_page = NO_PAGE if self.found_nothing_at_start and self.result.start_links is None else ""
        return [sentence for sentence in (few_links, no_page) if sentence]

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it."""
        # Where nothing is left to request, nothing more can be expected.
        estimate = None if self.stop is StopReason.FINISHED else self.estimate
        return {
            "stop": self.stop.name.lower(),
            **self.summary.as_json(),
            "stop_reason": self.stop.value,
            "resumable": self.stop.resumable,
            "resumed": self.resumed,
            "first_failure": self.result.first_failure or None,
            "start_links": None if self.resumed else self.result.start_links,
            "expected_targets_per_1000": None if estimate is None else estimate.as_json(),
            "commands": None if self.commands is None else self.commands.as_json(),
            "warnings": self.warnings,
            "exit_code": self.exit_code,
        }

    def __repr__(self) -> str:
        """Show on one line what it found and why it ended; the fields are many."""
        targets = format_count(self.summary.targets, "target")
        requests = format_count(self.summary.requests, "request")
        words = self.failed_start or self.stop.text
        return f"<CrawlRun {str(self.folder)!r}: {targets} from {requests}; {words.brief}>"

    def _repr_html_(self) -> str:
        words = self.failed_start or self.stop.text
        end = [*self.summary.counts(), ("files", f"{self.folder}/files"), ("report", self.report or "")]
        if self.next_step:
            end.append(("next", self.next_step))
        return pairs_table(f"{self.summary.start_url}: {words.sentence}", end)
