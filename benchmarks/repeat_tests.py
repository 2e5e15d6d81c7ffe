"""Runs each file of the live and command-line tests alone, again and again, on a busy machine.

    python -m benchmarks.repeat_tests --times 10 --minutes 8

A test that fails once in ten runs hides a race, in the product or in itself. Every repetition of a file has
circumstances of its own, which no test may notice: another time zone or locale, tests in another order, a
parent that ignores Ctrl-C, no home to write to, processes that are stopped for a moment. ``--burners``
processes keep the processors busy meanwhile.

The record is ``benchmarks/repeated_tests.csv``, one row per run of a file. Files that were run less often
come first, so that several calls with ``--minutes`` add up; the exit code is 1 where something failed.
"""

from __future__ import annotations

import csv
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import click

from benchmarks.reporting import circumstances, format_option, report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "benchmarks" / "repeated_tests.csv"
_COLUMNS = ("commit", "file", "circumstances", "outcome", "seconds", "cpu seconds", "load", "failed")
_FAILED = ("FAILED ", "ERROR ")


def _ignore_signals() -> None:
    """Ignore what a shell lets its background jobs ignore, and ``nohup`` its command."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


class Circumstances(NamedTuple):
    """What is different in one repetition."""

    variables: Mapping[str, str] = {}
    shuffled: bool = False
    before: Callable[[], None] | None = None
    stopped: bool = False


# In the order of the repetitions of a file; afterwards it begins again.
CIRCUMSTANCES = {
    "plain": Circumstances(),
    "ahead of UTC": Circumstances({"TZ": "Pacific/Auckland"}),
    "another order": Circumstances(shuffled=True),
    "behind UTC, C locale": Circumstances({"TZ": "America/St_Johns", "LC_ALL": "C"}),
    "signals ignored": Circumstances(before=_ignore_signals),
    "no home": Circumstances({"HOME": "/nowhere/at/all", "XDG_CACHE_HOME": "", "COLUMNS": "40"}),
    "stopped now and then": Circumstances(stopped=True),
}
# How long a process of such tests runs before one of them is stopped, and how long it stays so.
_RUNS_SECONDS, _STOPS_SECONDS = (0.05, 0.5), (0.05, 1.0)


@contextmanager
def busy(burners: int) -> Iterator[None]:
    """Keep some processors busy."""
    endless = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(endless) for _ in range(burners)]  # noqa: S603 - ourselves
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextmanager
def stopped_now_and_then(process: subprocess.Popen[str], seed: int) -> Iterator[None]:
    """Stop a process or one below it for a moment, again and again, as a busy machine does."""
    over = threading.Event()
    thread = threading.Thread(target=_stop_by_turns, args=(process.pid, Random(seed), over))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _stop_by_turns(pid: int, rng: Random, over: threading.Event) -> None:
    while not over.wait(rng.uniform(*_RUNS_SECONDS)):
        chosen = rng.choice(_family_of(pid))
        with suppress(ProcessLookupError):
            os.kill(chosen, signal.SIGSTOP)
            over.wait(rng.uniform(*_STOPS_SECONDS))
            os.kill(chosen, signal.SIGCONT)


def _family_of(pid: int) -> list[int]:
    """Return a process and those below it, as far as they run."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        # The name is in brackets and may hold spaces; the parent is the second field after it.
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(folder.name))
    family = [pid]
    for member in family:
        family += sorted(children.get(member, ()))
    return family


def files_of(places: tuple[str, ...]) -> list[str]:
    """Return the test files that are named or lie in the folders that are, by their path from the root."""
    named = [ROOT / place for place in places]
    found = [path for place in named for path in (place.rglob("test_*.py") if place.is_dir() else [place])]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def recorded() -> list[dict[str, str]]:
    """Return the rows of the record."""
    if not RECORD.exists():
        return []
    with RECORD.open(newline="") as file:
        return list(csv.DictReader(file))


def run_alone(file: str, repetition: int) -> dict[str, object]:
    """Run one file in a process of its own, and return its row of the record."""
    name = list(CIRCUMSTANCES)[repetition % len(CIRCUMSTANCES)]
    chosen = CIRCUMSTANCES[name]
    command = [sys.executable, "-m", "pytest", file, "-q", "-p", "no:cacheprovider"]
    command += ["--hypothesis-profile", "other-examples"]
    if chosen.shuffled:
        command += ["-p", "benchmarks.shuffled_tests"]
    environment = {**os.environ, **chosen.variables, "SHUFFLE_SEED": str(repetition)}
    begun, cpu = time.monotonic(), _cpu_seconds()
    process = subprocess.Popen(  # noqa: S603 - ourselves
        command,
        cwd=ROOT,
        env=environment,
        preexec_fn=chosen.before,  # noqa: PLW1509 - no thread runs now
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with stopped_now_and_then(process, repetition) if chosen.stopped else nullcontext():
        said, _ = process.communicate()
    if process.returncode:
        click.echo(said, err=True)
    failed = [line.split(" ")[1] for line in said.splitlines() if line.startswith(_FAILED)]
    return {
        "commit": circumstances(ROOT)["commit"],
        "file": file,
        "circumstances": name,
        "outcome": "failed" if process.returncode else "passed",
        "seconds": round(time.monotonic() - begun, 1),
        "cpu seconds": round(_cpu_seconds() - cpu, 1),
        "load": round(os.getloadavg()[0], 1),
        "failed": " ".join(failed),
    }


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _write(row: Mapping[str, object]) -> None:
    is_new = not RECORD.exists()
    with RECORD.open("a", newline="") as file:
        writer = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def _summary(rows: list[dict[str, str]]) -> list[dict[str, object]]:
    summary = []
    for file in sorted({row["file"] for row in rows}):
        mine = [row for row in rows if row["file"] == file]
        seconds = [float(row["seconds"]) for row in mine]
        summary.append(
            {
                "file": file,
                "runs": len(mine),
                "failed": sum(row["outcome"] != "passed" for row in mine),
                "longest s": max(seconds),
                "CPU s": sum(float(row["cpu seconds"]) for row in mine) / len(mine),
                "most load": max(float(row["load"]) for row in mine),
            }
        )
    return summary


@click.command()
@click.argument("places", nargs=-1)
@click.option("--times", default=10, show_default=True, help="How often each file is to be run, in all.")
@click.option("--minutes", default=8.0, show_default=True, help="No file is begun after this time.")
@click.option("--burners", default=os.cpu_count() or 1, show_default=True, help="Processes that compute.")
@format_option
def main(places: tuple[str, ...], times: int, minutes: float, burners: int, form: str) -> None:
    """Run each file of tests/live and tests/cli (or of PLACES) alone, until each was run often enough."""
    ends = time.monotonic() + 60 * minutes
    files = files_of(places or ("tests/live", "tests/cli"))
    runs = Counter(row["file"] for row in recorded())
    failed = False
    with busy(burners):
        while (file := min(files, key=lambda file: runs[file])) and runs[file] < times:
            if time.monotonic() > ends:
                break
            row = run_alone(file, runs[file])
            runs[file] += 1
            failed |= row["outcome"] != "passed"
            _write(row)
            click.echo(f"{file}, {row['circumstances']}: {row['outcome']}, {row['seconds']} s", err=True)
    report("Test files, each alone", _summary(recorded()), form)
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
