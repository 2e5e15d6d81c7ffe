"""The structured data of relevant pages in full, by extruct, in processes of their own.

Pages come from the run's WARC file after the crawl, so that nothing slows the crawl down, and a run without
extruct can be read in full later. Each page is kept at once: what was interrupted continues where it was.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from coati.archive.warc_record import read_member
from coati.markup.extraction import Extracted, extract_statements, require_extruct
from coati.runs.layout import Layout
from coati.runs.statements import RelevantPage, statement_table
from coati.web.markup.detector import markup_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path
    from types import FrameType

# What one page may take: the parsers of the syntaxes were not written for hostile pages.
_PAGE_SECONDS = 30.0
_WORKER_BYTES = 4 << 30

# Pages that are on their way to the workers.
_AHEAD = 4


@dataclass(frozen=True, slots=True)
class Extraction:
    """What reading in full brought, and cost, beside what the detector took for the same pages."""

    pages: int = 0
    statements: int = 0
    failed: int = 0
    seconds: float = 0.0
    detector_seconds: float = 0.0


class _TooLongError(BaseException):
    """The time for one page is over; nothing that reads pages catches it."""


class _Read(NamedTuple):
    number: int
    extracted: Extracted
    seconds: float
    detector_seconds: float


def extract_run(
    folder: Path, processes: int | None = None, on_progress: Callable[[int, int], None] | None = None
) -> Extraction:
    """Read every relevant page of a run that was not read yet; ``on_progress`` is told pages done and all."""
    require_extruct()
    warc = Layout(folder).warc
    total = Extraction()
    with statement_table(folder) as table:
        pages = table.waiting()
        if not pages:
            return total
        for read in _read_all(warc, pages, processes or os.cpu_count() or 1):
            failed = read.extracted.failed
            statements = table.keep(read.number, read.extracted.statements, failed)
            total = Extraction(
                total.pages + 1,
                total.statements + statements,
                total.failed + bool(failed),
                total.seconds + read.seconds,
                total.detector_seconds + read.detector_seconds,
            )
            if on_progress is not None:
                on_progress(total.pages, len(pages))
    return total


def _read_all(warc: Path, pages: list[RelevantPage], processes: int) -> Iterator[_Read]:
    """Return the pages to workers, a few ahead of what is needed; results come in order."""
    context = multiprocessing.get_context("spawn")
    workers = min(processes, len(pages))
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_bound) as pool:
        waiting = iter(pages)
        on_their_way: list[Future[_Read]] = [
            pool.submit(_read, warc, page) for page in islice(waiting, workers * _AHEAD)
        ]
        while on_their_way:
            yield on_their_way.pop(0).result()
            on_their_way += [pool.submit(_read, warc, page) for page in islice(waiting, 1)]


def _bound() -> None:
    """Keep a worker from taking the whole machine, and Ctrl-C from killing it in the middle of a page."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_WORKER_BYTES, hard))


def _read(warc: Path, page: RelevantPage) -> _Read:
    with warc.open("rb") as file:
        file.seek(page.offset)
        record = read_member(file.read(page.length))
    body = b"" if record is None else record.record.body or b""
    begun = time.process_time()
    markup_of(body, page.media_type)
    looked = time.process_time()
    extracted = _within_time(body, page)
    return _Read(page.number, extracted, time.process_time() - looked, looked - begun)


def _within_time(body: bytes, page: RelevantPage) -> Extracted:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TooLongError

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _PAGE_SECONDS)
    try:
        return extract_statements(body, page.url, page.media_type, page.syntaxes)
    except _TooLongError:
        return Extracted([], {}, page.syntaxes)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
