"""How long the full study of one site takes: every strategy but TRES, five seeds, once its links are cached.

    python -m benchmarks.study_speed [--pages 6900] [--jobs 2]

The site is generated, of some 10,000 URLs; with --archive it is one of yours. The bar is three minutes on two
cores.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import click

from benchmarks.reporting import format_option, report
from coati.assembly import REGISTRY, SITE_STRATEGIES, Need
from coati.experiments.runner import run_experiment
from coati.experiments.sites import Places
from coati.experiments.spec import parse_experiment
from coati.jobs.generated_sites import GENERATORS

_SEEDS = 5
_BAR_SECONDS = 180.0


def _silent(_doing: str, _done: int, _total: int) -> None:
    """Show nothing."""


@click.command()
@click.option("--archive", type=click.Path(path_type=Path), help="An archive, instead of a generated site.")
@click.option("--pages", default=6900, show_default=True, help="Pages of the generated site.")
@click.option("--jobs", default=2, show_default=True)
@click.option("--strategy", "chosen", default="", help="Only these, separated by commas.")
@format_option
def main(archive: Path | None, pages: int, jobs: int, chosen: str, form: str) -> None:
    """Study one site twice: first with the cheapest strategy, to cache its links, then whole and timed."""
    site: object = archive.name if archive else {"generated": "nc", "pages": pages}
    everything = [name for name in SITE_STRATEGIES if Need.EXAMPLES not in REGISTRY[name].needs]
    strategies = chosen.split(",") if chosen else everything
    described = {
        "table": "speed",
        "title": "speed",
        "measures": ["requests_to_90_pct"],
        "sites": [site],
        "seeds": _SEEDS,
        "strategies": strategies,
    }
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        places = Places(archive.parent if archive else None, out / "sites", GENERATORS)
        first = parse_experiment({**described, "strategies": ["bfs"], "bounds": False}, out)
        run_experiment(first, places, out / "first", 0, _silent)
        before = os.times()
        begun = time.monotonic()
        study = run_experiment(parse_experiment(described, out), places, out / "whole", jobs, _silent)
        seconds = time.monotonic() - begun
        after = os.times()
    (facts,) = study.sites
    row = {
        "site": facts.name,
        "URLs": facts.totals.urls,
        "strategies": len(strategies),
        "runs": len(study.results),
        "jobs": jobs,
        "seconds": seconds,
        "CPU seconds": after.children_user
        + after.children_system
        - before.children_user
        - before.children_system,
        "bar": _BAR_SECONDS,
    }
    report("The full study of one site", [row], form)


if __name__ == "__main__":
    main()
