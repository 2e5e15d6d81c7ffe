"""``make demo``: the main job on the bundled sample website, with the default strategy and breadth-first.

The site is served on loopback and crawled by the real command, in a process of its own, as a user would.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coati.runs.layout import holds_run
from coati.runs.reader import RunReader
from coati.testing.sample_site import sample_site
from coati.testing.server import serve

_FOLDER = Path("runs") / "demo"

_SHARE = 0.9

# By name of the folder: what is said of a run, and the options that it has beside the common ones.
_RUNS = {
    "default": ("Coati's default", ()),
    "breadth-first": ("breadth-first", ("--strategy", "bfs")),
}
_COMMON = ("--delay", "0", "--contact", "demo@example.org", "--format", "json")


@dataclass(frozen=True, slots=True)
class DemoRun:
    """One crawl of the demo."""

    name: str
    folder: Path
    seconds: float
    result: dict[str, Any]
    curve: list[tuple[int, int]]

    def requests_until(self, targets: int) -> int | None:
        """Count the requests until this many targets were in; None if they never were."""
        return next((requests for requests, found in self.curve if found >= targets), None)


def main(folder: Path | None = None) -> int:
    """Crawl the sample site twice and print what came of it."""
    folder = folder or _FOLDER
    _say(f"Serving the sample website on loopback, crawling it twice into {folder} ...")
    with serve(sample_site) as server:
        runs = [_crawl(name, server.url, folder / name) for name in _RUNS]
        pages = len(server.site)
    _say("")
    _print_table(runs, pages)
    best = runs[0]
    _say("")
    _say(f"The files:   {best.folder / 'files'}")
    _say(f"The list:    {best.folder / 'files.csv'}")
    _say(f"The report:  {best.result['report']}")
    _say("")
    _say("Now a site of your own:  .venv/bin/coati crawl https://www.example.org/ --max-requests 500")
    return 0 if all(run.result["targets"] for run in runs) else 1


def _crawl(name: str, url: str, folder: Path) -> DemoRun:
    if holds_run(folder):
        # The server has another port each time, so an old run could not be resumed.
        shutil.rmtree(folder)
    label, options = _RUNS[name]
    command = ["crawl", url, *options, *_COMMON, "--out", str(folder)]
    _say(f"  coati {' '.join(command)}")
    begun = time.monotonic()  # noqa: TID251 - a program that measures
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "coati", *command], stdout=subprocess.PIPE, text=True, check=False
    )
    seconds = time.monotonic() - begun  # noqa: TID251
    if done.returncode:
        raise SystemExit(f"the crawl ended with exit code {done.returncode}")
    with RunReader(folder) as reader:
        curve = [(point.requests, point.targets) for point in reader.curve()]
    return DemoRun(label, folder, seconds, json.loads(done.stdout), curve)


def _print_table(runs: list[DemoRun], urls: int) -> None:
    total = max(run.result["targets"] for run in runs)
    enough = math.ceil(_SHARE * total)
    _say(f"The site has {urls} URLs, {total} of them data files.")
    _say("")
    _say(f"{'':<18}{'requests until':>16}{'that is of':>12}{'files':>8}{'requests':>10}{'seconds':>9}")
    _say(f"{'':<18}{'90 % of files':>16}{'the site':>12}{'':>8}{'in all':>10}{'':>9}")
    for run in runs:
        needed = run.requests_until(enough)
        share = "-" if needed is None else f"{100 * needed / urls:.0f} %"
        _say(
            f"{run.name:<18}{needed if needed is not None else 'never':>16}{share:>12}"
            f"{run.result['targets']:>8}{run.result['requests']:>10}{run.seconds:>9.1f}"
        )
    if runs[0].result["stop"] == "finished":
        _say("")
        _say("Coati fetched all of this small site. It leaves a larger one when few files are left to find.")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
