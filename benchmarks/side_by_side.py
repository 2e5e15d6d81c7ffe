"""The benchmarks of two checkouts, run in turns: is the second at least as good as the first?

    python -m benchmarks.side_by_side BEFORE AFTER [--archives DIR] [--only NAME,...] [--rounds 3] [--quick]

Where BEFORE cannot read the archives of AFTER, --archives-before names those that it imported itself.

Each round runs a benchmark once in each checkout, with its own code and its own version of the benchmark; the
order changes from round to round, since the speed of a shared machine does too. Of every number that a
benchmark prints, the table shows the medians and the ratio, after to before: the median over the rounds, and
its range. "worse" means: in every one of at least three rounds, and by more than 3 % in the median. Counts
that are the same in all rounds (URLs, requests, pages) are shown only where after has others. Both checkouts
run under the interpreter that runs this, so one environment has to serve both.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from benchmarks.reporting import circumstances, report
from benchmarks.run import arguments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# By the name of a number: whether more of it is better, or less. Other numbers are counts.
_MORE = re.compile(r"/s$| per CPU s$| per second$|^share of (?!the core)|\bpace\b")
_LESS = re.compile(
    r"\bus\b|^(?:open|restore|total|CPU|build) s$|\bseconds$|\bMB$|\bbytes\b|\bx second\b|\bratio\b|^\d+ %$"
    r"|^last / second$|^share of the core$|^errors$"
)
# Less than this does not count as a difference on a machine that does other work too.
_NOISE = 0.03
# Fewer say nothing.
_ROUNDS = 3
_COLUMNS = ("row", "number", "before", "after", "ratio", "range", "better", "verdict")
_CIRCUMSTANCES = frozenset({"benchmark", "commit", "machine", "python"})


class Number(NamedTuple):
    """Where a benchmark prints a number: the row by its words, which of the rows with these, the column."""

    row: str
    repetition: int
    column: str


Numbers = dict[Number, float]


def numbers_in(output: str) -> Numbers:
    """Read the JSON lines that a benchmark printed; titles are not part of a row, as they may hold numbers.

    Older checkouts say "us a request" where newer ones say "us per request".

    >>> numbers_in('{"benchmark": "x", "site": "a", "us a request": 2.5}')
    {Number(row='a', repetition=1, column='us per request'): 2.5}
    """
    found: Numbers = {}
    for line in output.splitlines():
        cells = {name: value for name, value in json.loads(line).items() if name not in _CIRCUMSTANCES}
        row = ", ".join(value for value in cells.values() if isinstance(value, str))
        numbers = {
            name.replace(" a ", " per "): value
            for name, value in cells.items()
            if isinstance(value, int | float)
        }
        repetition = 1
        while any(Number(row, repetition, name) in found for name in numbers):
            repetition += 1
        found |= {Number(row, repetition, name): float(value) for name, value in numbers.items()}
    return found


def _run(checkout: Path, name: str, options: Sequence[str]) -> Numbers:
    command = [sys.executable, "-m", f"benchmarks.{name}", *options, "--format", "json"]
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    run = subprocess.run(  # noqa: S603 - our own modules
        command, cwd=checkout, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if run.returncode:
        raise click.ClickException(f"{name} did not finish in {checkout}")
    return numbers_in(run.stdout)


def compare(before: Sequence[Numbers], after: Sequence[Numbers]) -> Iterator[Mapping[str, object]]:
    """Compare the rounds of one benchmark, number by number."""
    for number in dict.fromkeys(number for numbers in (*before, *after) for number in numbers):
        row: dict[str, object] = dict.fromkeys(_COLUMNS)
        row |= {"row": _words(number), "number": number.column}
        pairs = [
            (old[number], new[number])
            for old, new in zip(before, after, strict=True)
            if number in old and number in new
        ]
        if not pairs:
            yield row | {"verdict": f"only {'before' if any(number in old for old in before) else 'after'}"}
            continue
        row["before"], row["after"] = (statistics.median(values) for values in zip(*pairs, strict=True))
        less, more = _LESS.search(number.column), _MORE.search(number.column)
        if less or more:
            yield row | _judged([new / old for old, new in pairs if old], "less" if less else "more")
        elif len(set(pairs)) == 1 and row["before"] != row["after"]:
            yield row | {"verdict": "another count"}


def _judged(ratios: Sequence[float], better: str) -> dict[str, object]:
    """Sum up the ratios of the rounds; there are none where everything was 0 before."""
    if not ratios:
        return {"better": better}
    middle = statistics.median(ratios)
    losses = [ratio - 1 if better == "less" else 1 - ratio for ratio in (middle, *ratios)]
    worse = len(ratios) >= _ROUNDS and losses[0] > _NOISE and min(losses) > 0
    return {
        "ratio": middle,
        "range": f"{min(ratios):.2f} to {max(ratios):.2f}",
        "better": better,
        "verdict": "worse" if worse else None,
    }


def _words(number: Number) -> str:
    return f"{number.row} #{number.repetition}" if number.repetition > 1 else number.row


@click.command()
@click.argument("before", type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path))
@click.argument("after", type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path))
@click.option("--archives", type=click.Path(exists=True, resolve_path=True), help="As for `benchmarks.run`.")
@click.option(
    "--archives-before",
    type=click.Path(exists=True, resolve_path=True),
    help="The archives for BEFORE, where it reads another format.  [default: the same]",
)
@click.option("--only", default="", help="Benchmarks, separated by commas.  [default: all]")
@click.option("--rounds", default=_ROUNDS, show_default=True)
@click.option("--quick", is_flag=True, help="Small sizes: shows that everything runs, proves nothing.")
def main(  # noqa: PLR0913 - one per option
    before: Path,
    after: Path,
    archives: str | None,
    archives_before: str | None,
    only: str,
    rounds: int,
    *,
    quick: bool,
) -> None:
    """Run the benchmarks of two checkouts in turns, and print a table for each as soon as it is there."""
    chosen = arguments(archives, quick=quick)
    options = {before: arguments(archives_before or archives, quick=quick), after: chosen}
    for name in only.split(",") if only else chosen:
        if name not in chosen:
            raise click.UsageError(f"{name} is none of {', '.join(chosen)}")
        results: dict[Path, list[Numbers]] = {before: [], after: []}
        for turn in range(rounds):
            for checkout in (before, after) if turn % 2 == 0 else (after, before):
                click.echo(f"{name}, round {turn + 1} of {rounds}: {checkout.name}", err=True)
                results[checkout].append(_run(checkout, name, options[checkout][name]))
        rows = list(compare(results[before], results[after]))
        commits = [circumstances(checkout)["commit"] for checkout in (before, after)]
        report(f"{name}: before {commits[0]}, after {commits[1]}, rounds: {rounds}", rows, "table")
        if not rows:
            click.echo("  all counts are the same")


if __name__ == "__main__":
    main()
