"""The structured data of relevant pages in full, by extruct, in processes of their own.

Pages come from the run's WARC file after the crawl, so that nothing slows the crawl down, and a run without
extruct can be read in full later. Each page is kept at once: what was interrupted continues where it was.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from coati.archive.warc_record import read_member
from coati.experiments.workers import Job, LostJob, WorkerCache, Workers
from coati.markup.extraction import extract_statements, require_extruct
from coati.markup.statements import Statement
from coati.runs.layout import Layout
from coati.runs.statements import RelevantPage, statement_table
from coati.web.markup.detector import markup_of

# What one page may take: the parsers of the syntaxes were not written for hostile pages.
_PAGE_SECONDS = 30.0
_WORKER_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class Extraction:
    """What reading in full brought the run: pages, statements, and pages that were not read whole.

    ``pages_now`` of them were read by this call, in ``seconds``; the detector took ``detector_seconds`` for
    the same pages.
    """

    pages: int
    statements: int
    failed: int
    pages_now: int = 0
    seconds: float = 0.0
    detector_seconds: float = 0.0


class _Read(NamedTuple):
    statements: list[Statement]
    missed: tuple[str, ...]
    seconds: float = 0.0
    detector_seconds: float = 0.0


def extract_run(
    folder: Path, processes: int | None = None, on_progress: Callable[[int, int], None] | None = None
) -> Extraction:
    """Read every relevant page of a run that was not read yet; ``on_progress`` is told pages done and all.

    A page that takes too long, too much memory, or kills the process that reads it counts as not read.
    """
    require_extruct()
    warc = Layout(folder).warc
    workers = Workers(processes or os.cpu_count() or 1, _PAGE_SECONDS, _WORKER_BYTES)
    seconds = detector_seconds = 0.0
    with statement_table(folder) as table:
        pages = table.waiting()
        jobs = [Job(_read, (warc, page)) for page in pages]
        for done, (number, result) in enumerate(workers.run(jobs), start=1):
            page = pages[number]
            read = _Read([], page.syntaxes) if isinstance(result, LostJob) else result
            table.keep(page.number, read.statements, read.missed)
            seconds += read.seconds
            detector_seconds += read.detector_seconds
            if on_progress is not None:
                on_progress(done, len(pages))
        return Extraction(*table.totals(), len(pages), seconds, detector_seconds)


def _read(_cache: WorkerCache, task: tuple[Path, RelevantPage]) -> _Read:
    warc, page = task
    with warc.open("rb") as file:
        file.seek(page.offset)
        record = read_member(file.read(page.length))
    body = b"" if record is None else record.record.body or b""
    begun = time.process_time()
    markup_of(body, page.media_type)
    looked = time.process_time()
    extracted = extract_statements(body, page.url, page.media_type, page.syntaxes)
    # The detector saw all of these.
    came = {statement.syntax for statement in extracted.statements}
    missed = tuple(each for each in page.syntaxes if each in extracted.failed or each not in came)
    return _Read(extracted.statements, missed, time.process_time() - looked, looked - begun)
