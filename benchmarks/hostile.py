"""Memory and time that each hostile route of the tests' nasty server costs a crawl.

    python -m benchmarks.hostile

Each route is crawled in a process of its own, by scent, after one good page: what memory grew by is above
that baseline. Time is the processor's, of the whole crawl but its start. No route may take more than 300 MB,
and all together not more than 10 s.
"""

from __future__ import annotations

import click

from benchmarks.hostile_costs import Cost, cost_of
from benchmarks.reporting import format_option, report
from tests.nasty_server import BOMBS, ROUTES, nasty_server

_MOST_MEGABYTES = 300
_MOST_SECONDS = 10.0


@click.command()
@format_option
def main(form: str) -> None:
    """Measure every hostile route."""
    paths = [path for path in ROUTES if path != "/bombs/"] + [f"/bombs/{name}" for name in BOMBS]
    costs: dict[str, Cost] = {}
    with nasty_server() as server:
        for path in paths:
            costs[path] = cost_of(server.url("/good.html"), server.url(path))
            click.echo(f"{path}: {costs[path]}", err=True)
    most = max(cost.megabytes for cost in costs.values())
    in_all = sum(cost.seconds for cost in costs.values())
    longest = max(cost.longest_stall for cost in costs.values())
    rows = [{"route": path, **cost._asdict()} for path, cost in _largest_first(costs)]
    rows.append({"route": "most, all, longest", **Cost(most, in_all, longest)._asdict()})
    report("Hostile routes", rows, form)
    raise SystemExit(most > _MOST_MEGABYTES or in_all > _MOST_SECONDS)


def _largest_first(costs: dict[str, Cost]) -> list[tuple[str, Cost]]:
    return sorted(costs.items(), key=lambda item: (-item[1].megabytes, -item[1].seconds))


if __name__ == "__main__":
    main()
