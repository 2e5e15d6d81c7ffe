"""What nobody can foresee, and what a strategy loses beyond: the area under the curve, CLAIRVOYANT's being 1.

    python -m benchmarks.link_losses results/link_bound.jsonl

Reads the numbers that ``coati experiment experiments/scent/link_bound.toml`` writes, and prints a table as
Markdown. Between CLAIRVOYANT and the bound (`benchmarks.link_bound`) lies what nobody can foresee.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_MEASURE = "auc_ratio"


def losses_of(numbers: Iterable[Mapping[str, Any]], row: str, bound: str) -> str:
    """Write the losses of a row as Markdown, a line per site, from the medians over seeds."""
    medians = {
        (number["site"], number["variant"] or number["strategy"]): number["median"]
        for number in numbers
        if number["kind"] == "summary" and number["measure"] == _MEASURE and number["median"] is not None
    }
    for name in (row, bound):
        if not any(label == name for _, label in medians):
            raise click.UsageError(f"no row called {name!r} has the measure {_MEASURE}")
    lines = [["site", "nobody's", f"{row}'s"], ["---"] * 3]
    for site in dict.fromkeys(site for site, _ in medians):
        if (site, row) in medians and (site, bound) in medians:
            best, own = medians[site, bound], medians[site, row]
            lines.append([site, f"{1 - best:.3f}", f"{best - own:.3f}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


@click.command()
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option("--row", default="scent", show_default=True, help="Whose losses.")
@click.option("--bound", default="bound", show_default=True, help="The row that is the bound.")
def main(file: IO[str], row: str, bound: str) -> None:
    """Tell the losses of a row from those that nobody can avoid."""
    click.echo(losses_of(map(json.loads, file), row, bound))


if __name__ == "__main__":
    main()
