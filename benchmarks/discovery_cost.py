"""What a search for repositories costs by itself, beside fetching and parsing: CPU time per page fetched.

python -m benchmarks.discovery_cost
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from benchmarks.reporting import circumstances, format_option, report
from coati.jobs.experimenting import experiment

_FILE = """
table = "cost"
title = "The loop's own cost"
measures = ["choice_ms"]
seeds = 1
bounds = false
budget = {{ max_requests = {pages} }}
strategies = ["prospect", "dsdd"]
sites = [{{ topic = "{topic}", scale = 0.1, batch = 2 }}]
"""


@click.command()
@click.option("--pages", default=1000, show_default=True)
@click.option("--topic", default="climate", show_default=True)
@format_option
def main(pages: int, topic: str, form: str) -> None:
    """Search one generated web with our own strategy and with the published one."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "cost.toml")
        file.write_text(_FILE.format(pages=pages, topic=topic), encoding="utf-8")
        results = experiment(file, out=folder, jobs=0, parquet=False).study.results
    rows = [
        {
            "strategy": name,
            "pages": result.values["requests"],
            "cpu_ms_per_page": round(result.values["choice_ms"] or 0.0, 3),
            **circumstances(),
        }
        for (_, name, _), result in results.items()
    ]
    report("discovery", rows, form)


if __name__ == "__main__":
    main()
