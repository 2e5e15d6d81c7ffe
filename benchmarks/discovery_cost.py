"""What a search for repositories costs by itself, beside fetching and parsing: CPU time per page fetched.

python -m benchmarks.discovery_cost
"""

from __future__ import annotations

import click

from benchmarks.reporting import circumstances, format_option, report
from experiments.cikm2021.study import run


@click.command()
@click.option("--pages", default=1000, show_default=True)
@click.option("--topic", default="climate", show_default=True)
@format_option
def main(pages: int, topic: str, form: str) -> None:
    """Search one generated web with our own strategy and with the published one."""
    rows = []
    for name in ("prospect", "dsdd"):
        found = run(topic, name, 0, pages, 0.1)
        cost = round(found.cpu_ms_per_page, 3)
        rows.append({"strategy": name, "pages": found.requests, "cpu_ms_per_page": cost, **circumstances()})
    report("discovery", rows, form)


if __name__ == "__main__":
    main()
