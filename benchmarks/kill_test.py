"""Kills ``coati crawl`` again and again, in every configuration, and counts what that cost.

    nice -n 15 python -m benchmarks.kill_test --kills 1000

Each configuration crawls a site of its own on loopback, is killed (SIGKILL) some moment after one of its next
requests or while it starts, and is started again, until it has finished; then a new run begins. ``full disk``
is the same with writes that fail at some size of a file, which is what a full disk looks like to a process.

- **lost** counts targets that a finished run does not have, whole and under its hash;
- **repeated** counts requests beyond those that can have been in flight at a kill;
- **died** counts starts that ended by themselves in any other way than by finishing, with a traceback, or
  with anything but the words for a full disk.

All three must be 0.
"""

from __future__ import annotations

import click

from benchmarks.killing import CONFIGURATIONS, try_out
from benchmarks.reporting import format_option, report


@click.command()
@click.option("--kills", default=70, show_default=True, help="How many, over all configurations.")
@click.option("--only", multiple=True, type=click.Choice(list(CONFIGURATIONS)), help="Only this; repeatable.")
@click.option("--seed", default=0, show_default=True)
@format_option
def main(kills: int, only: tuple[str, ...], seed: int, form: str) -> None:
    """Kill crawls, and print what was lost, repeated, and died."""
    names = only or tuple(CONFIGURATIONS)
    rows: list[dict[str, str | int]] = []
    for place, name in enumerate(names):
        losses = try_out(name, kills // len(names) + (place < kills % len(names)), seed + place)
        for words in losses.words:
            click.echo(f"{name}: {words}", err=True)
        counted = {"runs": losses.runs, "kills": losses.kills, "amid requests": losses.amid}
        ended = {"lost": losses.lost, "repeated": losses.repeated, "died": losses.died}
        rows.append({"configuration": name, **counted, **ended})
    total = {key: sum(int(row[key]) for row in rows) for key in rows[0] if key != "configuration"}
    report(f"Kills, seed {seed}", [*rows, {"configuration": "all", **total}], form)
    raise SystemExit(any(total[key] for key in ("lost", "repeated", "died")))


if __name__ == "__main__":
    main()
