"""Kills ``coati watch`` again and again while a site publishes, and counts what that cost.

    nice -n 15 python -m benchmarks.watch_kills --kills 200

Before each round the site publishes some files, changes one and takes one away. Then ``coati watch --once``
is started and killed (SIGKILL) at some moment, again and again, until it ends by itself; then the next round
begins. At the end, by ``changes.jsonl`` and by what the command of ``--exec`` got:

- **lost** counts changes that were never written down or never reported, and files that are not whole;
- **twice** counts changes that were written down more than once;
- **died** counts starts that ended in any other way than by finishing.

All three must be 0. **told again** counts changes that the command got more than once, which a kill
between telling and noting it may cost: at most one per kill.
"""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import click

from benchmarks.killing import Start
from benchmarks.reporting import format_option, report
from tests.live.scripted import Route, Script, file, page, pause, scripted

_SECTIONS = 4
_PER_ROUND = 3
# A cycle on loopback takes less than this.
_SECONDS = 1.5
_MOST_KILLS_PER_ROUND = 6


@dataclass
class Publisher:
    """A site that publishes; ``expected`` are the changes that a watch must have noticed."""

    script: Script
    rng: random.Random
    files: dict[str, bytes] = field(default_factory=dict)
    sections: list[list[str]] = field(default_factory=lambda: [[] for _ in range(_SECTIONS)])
    expected: Counter[tuple[str, str]] = field(default_factory=Counter)
    round: int = 0

    def publish(self) -> None:
        """Add some files and change one; the first time there is nothing to change."""
        self.round += 1
        # At first one on each section: a watch visits the pages that had files.
        places = range(_SECTIONS) if self.round == 1 else self.rng.choices(range(_SECTIONS), k=_PER_ROUND)
        for number, place in enumerate(places):
            path = f"/files/{self.round}-{number}.csv"
            self._serve(path)
            self.sections[place].append(path)
            if self.round > 1:
                self.expected["new", path] += 1
        if self.round > 1:
            changed = self.rng.choice([path for path in self.files if f"/{self.round}-" not in path])
            self._serve(changed)
            self.expected["changed", changed] += 1
        for place, listed in enumerate(self.sections):
            self.script.routes[f"/s{place}"] = page(*listed)

    def _serve(self, path: str) -> None:
        self.files[path] = self.rng.randbytes(self.rng.randrange(10, 20_000)).hex().encode()
        self.script.routes[path] = _tagged(self.files[path])


def _tagged(body: bytes) -> Route:
    tag = f'"{hashlib.sha256(body).hexdigest()[:12]}"'

    def route(exchange: object) -> None:
        if exchange.headers.get("If-None-Match") == tag:  # type: ignore[attr-defined]
            exchange.answer(304, ETag=tag)  # type: ignore[attr-defined]
        else:
            exchange.answer(200, body, "text/csv", ETag=tag)  # type: ignore[attr-defined]

    return route


@dataclass
class Losses:
    """What kills have cost."""

    kills: int = 0
    rounds: int = 0
    changes: int = 0
    lost: int = 0
    twice: int = 0
    told_again: int = 0
    died: int = 0


def _arguments(place: Path) -> list[str]:
    # No shell reads the command; the one that appends is named.
    tell = f"""sh -c 'echo "$COATI_WHAT $COATI_URL" >> {place / "told"}'"""
    limits = ["--per-cycle", "50", "--follow", "50", "--check", "1000", "--scheduler", "rr"]
    return ["watch", str(place / "site"), "--once", "--every", "1ms", "--exec", tell, *limits]


def _finished(place: Path, losses: Losses) -> None:
    """Run a cycle to its end."""
    start = Start(_arguments(place), place / "said", None)
    if start.code() != 0 or "Traceback" in start.words():
        losses.died += 1
        click.echo(start.words(), err=True)


def _killed(place: Path, rng: random.Random) -> bool:
    """Start a cycle and kill it at some moment; False if it ended before."""
    start = Start(_arguments(place), place / "said", None)
    pause(rng.uniform(0, _SECONDS))
    if not start.running():
        return False
    start.kill()
    return True


def _count(place: Path, site: Publisher, losses: Losses) -> None:
    lines = (place / "site.watch" / "changes.jsonl").read_text(encoding="utf-8").splitlines()
    written = Counter((row["what"], _path(row["url"])) for row in map(json.loads, lines))
    told = Counter(
        tuple(line.split(" ")) for line in (place / "told").read_text(encoding="utf-8").splitlines()
    )
    told_of = Counter({(what, _path(url)): count for (what, url), count in told.items()})
    losses.changes = sum(site.expected.values())
    losses.lost = (site.expected - written).total() + (site.expected - told_of).total()
    losses.twice = (written - site.expected).total()
    losses.told_again = (told_of - site.expected).total()
    kept = {row["sha256"] for row in map(json.loads, lines) if "sha256" in row}
    there = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (place / "site.watch/files").iterdir()}
    losses.lost += len(kept - there)


def _path(url: str) -> str:
    return "/" + url.split("/", 3)[3]


@click.command()
@click.option("--kills", default=40, show_default=True)
@click.option("--seed", default=0, show_default=True)
@format_option
def main(kills: int, seed: int, form: str) -> None:
    """Kill watches, and print what was lost, written down twice, and died."""
    rng, losses = random.Random(seed), Losses()
    home = page(*(f"/s{place}" for place in range(_SECTIONS)))
    with tempfile.TemporaryDirectory() as name, scripted({"/": home, "/x.csv": file()}) as script:
        place, site = Path(name), Publisher(script, rng)
        site.publish()
        crawl = ["crawl", script.start, "--out", str(place / "site"), "--delay", "0", "--quiet"]
        Start([*crawl, "--strategy", "bfs"], place / "said", None).code()
        _finished(place, losses)
        while losses.kills < kills:
            site.publish()
            for _ in range(_MOST_KILLS_PER_ROUND):
                losses.kills += _killed(place, rng)
            _finished(place, losses)
        # What a killed cycle had no room for waits for the next.
        _finished(place, losses)
        losses.rounds = site.round
        _count(place, site, losses)
    report(f"Kills of a watch, seed {seed}", [{**vars(losses)}], form)
    raise SystemExit(bool(losses.lost or losses.twice or losses.died))


if __name__ == "__main__":
    main()
