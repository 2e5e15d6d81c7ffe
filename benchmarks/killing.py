"""Crawls that are killed until they have finished, and what that cost; see `benchmarks.kill_test`."""

from __future__ import annotations

import hashlib
import os
import random
import resource
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import click

from coati.cli.main import run
from coati.runs.layout import holds_run
from coati.testing.server import SiteServer, serve
from coati.testing.site import Response, Site
from tests.cli.test_kill import FORKS, LATENCY, LOADED, make_site_with_api
from tests.live.scripted import clock, pause
from tests.site_lists import with_lists

# This module is what the processes are made of.
FORKS.set_forkserver_preload([*LOADED, "benchmarks.killing"])

_FINISHED = 0
# Where a run cannot even be opened, the folder is the wrong one to name; where it continues, the disk is
# full.
_DISK_FULL = frozenset({2, 5})
# The share of kills that hit a process while it starts.
_EARLY = 0.25
_PATIENCE = 120.0
_KILLS_PER_RUN = 12
# Writes fail beyond a size between these, drawn again for each start.
_ROOM = (4_000, 400_000)


def make_site(base: str) -> Site:
    """Make a site of pages, redirects and files of up to 60 KB, some of them equal."""
    rng = random.Random(11)
    responses: dict[str, Response] = {}
    for topic in range(6):
        sets = [f"/set/{topic}-{number}" for number in range(5)]
        responses[f"{base}/topic/{topic}"] = Response.page(_links("/", *sets))
        for number, path in enumerate(sets):
            file, hop = f"/files/{topic}-{number}.csv", f"/go/{topic}-{number}"
            moved = number % 2 == 1
            responses[base + path] = Response.page(_links("/", f"/topic/{topic}", hop if moved else file))
            if moved:
                responses[base + hop] = Response.redirect(base + file)
            body = (
                b"same\n" * 500 if number == 0 else rng.randbytes(rng.randrange(2_000, 30_000)).hex().encode()
            )
            responses[base + file] = Response.file("text/csv", body)
    responses[base + "/"] = Response.page(_links(*(f"/topic/{topic}" for topic in range(6))))
    return Site(base + "/", responses)


def make_listed_site(base: str) -> Site:
    """Make the same site with sitemaps, which name half of its files alone."""
    return with_lists(make_site(base), 6, share=2)


def _links(*paths: str) -> str:
    return "<ul>" + "".join(f'<li class="row"><a href="{path}">{path}</a></li>' for path in paths) + "</ul>"


class Configuration(NamedTuple):
    """What is crawled, and how."""

    site: Callable[[str], Site] = make_site
    options: tuple[str, ...] = ()
    hosts: int = 1
    concurrency: int = 1
    archive: bool = False
    full_disk: bool = False


CONFIGURATIONS = {
    "one site": Configuration(),
    "sitemaps": Configuration(make_listed_site, ("--sitemaps",)),
    "API": Configuration(make_site_with_api),
    "several hosts": Configuration(hosts=3, concurrency=3),
    "classifier": Configuration(options=("--strategy", "sb-classifier")),
    "streaming": Configuration(options=("--limits", "stream_above_bytes=1000"), concurrency=2),
    "archive": Configuration(archive=True),
    "full disk": Configuration(options=("--limits", "stream_above_bytes=20000"), full_disk=True),
}


@dataclass
class Losses:
    """What kills have cost so far."""

    kills: int = 0
    amid: int = 0
    runs: int = 0
    lost: int = 0
    repeated: int = 0
    died: int = 0
    words: list[str] = field(default_factory=list)


class Start:
    """One start of the command, in a process whose modules are loaded."""

    def __init__(self, arguments: Sequence[str], said: Path, room: int | None) -> None:
        self._said = said
        self._process = FORKS.Process(target=_run, args=(list(arguments), str(said), room))
        self._process.start()

    def running(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def code(self) -> int | None:
        self._process.join(_PATIENCE)
        return self._process.exitcode

    def words(self) -> str:
        return self._said.read_text(encoding="utf-8", errors="replace") if self._said.exists() else ""


def _run(arguments: list[str], said: str, room: int | None) -> None:
    with Path(said).open("w", encoding="utf-8") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        if room is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
        sys.exit(run(arguments))


class Trial:
    """Runs of one configuration, killed until they have finished."""

    def __init__(self, configuration: Configuration, server: SiteServer, place: Path, seed: int) -> None:
        self._configuration = configuration
        self._server = server
        self._place = place
        self._rng = random.Random(seed)
        self.losses = Losses()

    def run(self, kills: int, on_kill: Callable[[Losses], None]) -> Losses:
        """Begin runs until this many kills were made."""
        while self.losses.kills < kills:
            self._one_run(min(_KILLS_PER_RUN, kills - self.losses.kills))
            on_kill(self.losses)
        return self.losses

    def _one_run(self, kills: int) -> None:
        folder = self._place / f"run-{self.losses.runs}"
        self._server.requests.clear()
        self.losses.runs += 1
        amid, made = 0, 0
        while made < kills:
            ended, requested = self._killed(folder)
            if ended:
                break
            made += 1
            amid += requested
        start = self._start(folder, None)
        if start.code() != _FINISHED or "Traceback" in start.words():
            self._died(start)
        self.losses.kills += made
        self.losses.amid += amid
        self._count(folder, amid)

    def _killed(self, folder: Path) -> tuple[bool, bool]:
        """Start and kill; says whether it finished before, and whether something may have been in flight."""
        rng = self._rng
        room = rng.randrange(*_ROOM) if self._configuration.full_disk else None
        before = self._requests()
        start = self._start(folder, room)
        patience = rng.uniform(0.05, 0.6) if rng.random() < _EARLY else _PATIENCE
        enough, give_up = before + rng.randint(1, 12), clock() + patience
        while self._requests() < enough and start.running() and clock() < give_up:
            pause(0.002)
        pause(rng.uniform(0.0, 2 * LATENCY))
        running = start.running()
        start.kill()
        if running:
            return False, self._requests() > before
        code, words = start.code(), start.words()
        if code == _FINISHED:
            return True, False
        if code not in _DISK_FULL or room is None or "Traceback" in words or str(folder) not in words:
            self._died(start)
        return False, self._requests() > before

    def _start(self, folder: Path, room: int | None) -> Start:
        how = self._configuration
        options = ["--delay", "0", "--seed", "3", "--quiet", "--no-stop-when-dry", *how.options]
        options += ["--concurrency", str(how.concurrency)]
        if how.archive:
            options += ["--archive", str(folder) + "-archive"]
        urls = [site.start_url for site in self._server.sites]
        said = folder.with_name(folder.name + ".said")
        return Start(["crawl", *urls, *options, "--out", str(folder)], said, room)

    def _requests(self) -> int:
        return len(self._server.requests)

    def _died(self, start: Start) -> None:
        self.losses.died += 1
        self.losses.words.append(start.words()[-600:])

    def _count(self, folder: Path, amid: int) -> None:
        """Count what is missing of a run that has finished, and what was requested too often."""
        wanted = {url for site in self._server.sites for url in site if url.endswith(".csv")}
        self.losses.lost += len(wanted - set(_whole_targets(folder)))
        requested = Counter(
            (seen.method, seen.url) for seen in self._server.requests if not seen.url.endswith("/robots.txt")
        )
        repeats = sum(times - 1 for times in requested.values())
        self.losses.repeated += max(0, repeats - amid * self._configuration.concurrency)


def _whole_targets(folder: Path) -> Iterator[str]:
    if not holds_run(folder):
        return
    with sqlite3.connect(folder / "run.sqlite") as database:
        rows = database.execute("SELECT url, file, sha256 FROM targets").fetchall()
    for url, name, sha256 in rows:
        path = folder / "files" / name
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
            yield url


def try_out(name: str, kills: int, seed: int) -> Losses:
    """Kill one configuration this many times."""
    configuration = CONFIGURATIONS[name]
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sites = [configuration.site] * configuration.hosts
        server = stack.enter_context(serve(*sites, latency=LATENCY))

        def on_kill(losses: Losses) -> None:
            cost = f"lost {losses.lost}, repeated {losses.repeated}, died {losses.died}"
            click.echo(f"{name}: {losses.kills} of {kills} kills, {losses.runs} runs, {cost}", err=True)

        return Trial(configuration, server, place, seed).run(kills, on_kill)
