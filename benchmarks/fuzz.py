"""Feeds every reader of outside bytes with what no honest server sends, for as long as it is given.

    nice -n 15 python -m benchmarks.fuzz --minutes 30

Inputs are made by Hypothesis from the words of each format, from random bytes, and from the files in
``benchmarks/fuzz_corpus`` with pieces exchanged. Two things are checked:

- nothing is raised but what a reader says it may raise;
- time grows no faster than the input: a piece is repeated four times as often again and again, and two steps
  that each take more than eight times as long are a defect (four is linear, sixteen quadratic).

What fails is made as small as possible, stored under ``--failures``, and reported; the exit code is 1 then. A
failure that was fixed goes into the corpus, which a test runs through every reader.
"""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from benchmarks.fuzz_targets import TARGETS
from benchmarks.reporting import format_option, report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.fuzz_targets import Target

CORPUS = Path(__file__).parent / "fuzz_corpus"

_SIZES = (8_000, 32_000, 128_000, 512_000)
# A step of four times the input that takes more than this many times as long.
_STEEP = 8.0
# Less than this says nothing on a shared machine.
_LEAST_SECONDS = 0.1
# No input of the sizes above may take longer than this, whatever its growth.
_MOST_SECONDS = 20

_ROUND_EXAMPLES = 150
_GROWTH_EXAMPLES = 6
_PHASES = (Phase.generate, Phase.target, Phase.shrink)
_SETTINGS = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
}


class TooLongError(Exception):
    """A reader takes more time than the length of its input explains."""


class Growing(NamedTuple):
    """An input that can be made longer: its middle is repeated."""

    beginning: bytes
    piece: bytes
    ending: bytes

    def of(self, size: int) -> bytes:
        """Make it about this many bytes long."""
        return self.beginning + self.piece * (size // len(self.piece)) + self.ending


def corpus(name: str) -> list[bytes]:
    """Return the stored inputs of a reader."""
    return [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]


def check(target: Target, data: bytes) -> None:
    """Let a reader read; raises what it must not raise."""
    with suppress(*target.may_raise):
        target.read(data)


def inputs(name: str) -> st.SearchStrategy[bytes]:
    """Draw inputs for a reader: words of its format and bytes, and stored inputs with pieces exchanged."""
    tokens = TARGETS[name].tokens
    word = st.one_of(st.sampled_from(tokens), st.binary(max_size=8), st.sampled_from(tokens))
    made = st.lists(word, max_size=60).map(b"".join)
    stored = corpus(name)
    if not stored:
        return made
    places = st.integers(0, max(map(len, stored)))
    edits = st.lists(st.tuples(places, st.integers(0, 40), word), max_size=8)
    return st.one_of(made, st.builds(_edited, st.sampled_from(stored), edits))


def _edited(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for at, length, piece in edits:
        data = data[:at] + piece + data[at + length :]
    return data


def growing(name: str) -> st.SearchStrategy[Growing]:
    """Draw what is to be repeated."""
    word = st.one_of(st.sampled_from(TARGETS[name].tokens), st.binary(min_size=1, max_size=3))
    words = st.lists(word, max_size=4).map(b"".join)
    return st.builds(Growing, words, st.lists(word, min_size=1, max_size=3).map(b"".join), words)


def check_growth(target: Target, data: Growing) -> None:
    """Raise `TooLongError` where time grows faster than the input."""
    before, steep = 0.0, 0
    for size in _SIZES:
        seconds = _seconds(target, data.of(size))
        if seconds > _LEAST_SECONDS and seconds > _STEEP * before > 0:
            # Once more: another process may have had the processor's cache.
            seconds = min(seconds, _seconds(target, data.of(size)))
        is_steep = seconds > _LEAST_SECONDS and seconds > _STEEP * before > 0
        steep = steep + 1 if is_steep else 0
        if steep > 1 or seconds > _MOST_SECONDS:
            raise TooLongError(f"{size} bytes took {seconds:.2f} s, a quarter of them {before:.2f} s")
        before = max(seconds, 1e-3)


def _seconds(target: Target, data: bytes) -> float:
    begun = time.process_time()
    with _no_longer_than(2 * _MOST_SECONDS):
        check(target, data)
    return time.process_time() - begun


@contextmanager
def _no_longer_than(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer, in time of the processor."""

    def stop(*_: object) -> None:
        raise TooLongError(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Round:
    """One reader's turn: a number of inputs, and of growing ones."""

    def __init__(self, name: str, number: int, failures: Path) -> None:
        self._name, self._number, self._failures = name, number, failures
        self.inputs = self.growths = 0

    def run(self) -> str:
        """Return what failed in words, or nothing."""
        # What takes long is not made smaller: that would take the rest of the time.
        return self._checked(inputs(self._name), _ROUND_EXAMPLES, _PHASES, self._read) or self._checked(
            growing(self._name), _GROWTH_EXAMPLES, (Phase.generate,), self._grow
        )

    def _read(self, data: bytes) -> None:
        self.inputs += 1
        with _no_longer_than(_MOST_SECONDS):
            check(TARGETS[self._name], data)

    def _grow(self, data: Growing) -> None:
        self.growths += 1
        check_growth(TARGETS[self._name], data)

    def _checked(
        self,
        drawn: st.SearchStrategy[object],
        examples: int,
        phases: tuple[Phase, ...],
        look: Callable[..., None],
    ) -> str:
        last: list[object] = []

        @seed(self._number)
        @settings(max_examples=examples, phases=phases, **_SETTINGS)  # type: ignore[arg-type]
        @given(drawn)
        def run(data: object) -> None:
            last[:] = [data]
            look(data)

        try:
            run()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            return self._kept(last[0], error)
        return ""

    def _kept(self, data: object, error: Exception) -> str:
        self._failures.mkdir(parents=True, exist_ok=True)
        whole = data.of(_SIZES[0]) if isinstance(data, Growing) else data
        path = self._failures / f"{self._name}-{self._number}"
        path.write_bytes(whole if isinstance(whole, bytes) else b"")
        return f"{self._name}: {error!r:.300} for {data!r:.300}, stored as {path}"


@click.command()
@click.option("--minutes", default=1.0, show_default=True, help="How long to go on.")
@click.option("--only", multiple=True, type=click.Choice(list(TARGETS)), help="Only this reader; repeatable.")
@click.option("--seed", "first", default=0, show_default=True, help="The number of the first round.")
@click.option("--failures", default="fuzz-failures", type=click.Path(path_type=Path), show_default=True)
@format_option
def main(minutes: float, only: tuple[str, ...], first: int, failures: Path, form: str) -> None:
    """Feed every reader of outside bytes for some minutes."""
    ends = time.monotonic() + 60 * minutes
    rows = {name: {"reader": name, "inputs": 0, "growing": 0, "failures": 0} for name in only or TARGETS}
    number = first
    while time.monotonic() < ends:
        for name, row in rows.items():
            turn = Round(name, number, failures)
            failed = turn.run()
            row["inputs"] += turn.inputs  # type: ignore[operator]
            row["growing"] += turn.growths  # type: ignore[operator]
            if failed:
                row["failures"] += 1  # type: ignore[operator]
                click.echo(failed, err=True)
            if time.monotonic() > ends:
                break
        number += 1
        click.echo(f"{number - first} rounds, {max(0.0, ends - time.monotonic()):.0f} s left", err=True)
    report(f"Fuzzing, rounds {first} to {number - 1}, {minutes:g} minutes", list(rows.values()), form)
    raise SystemExit(any(row["failures"] for row in rows.values()))


if __name__ == "__main__":
    main()
