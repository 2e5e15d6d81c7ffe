"""``make bench``: every benchmark that needs no replicas; with --archives, those too.

    python -m benchmarks.run [--archives DIR] [--quick]

The long ones (a crawl of 200,000 pages, a hundred sites for two minutes) run at full size unless --quick.
"""

from __future__ import annotations

import subprocess
import sys

import click

# The arguments of each: at full size, and for --quick.
Sizes = tuple[list[str], list[str]]

_ALWAYS: dict[str, Sizes] = {
    "step_cost": ([], ["--urls", "40000", "--groups", "1200"]),
    "memory": ([], ["--urls", "100000"]),
    "resume": ([], []),
    "live_speed": ([], ["--pages", "600", "--rounds", "1"]),
    "host_pace": ([], ["--hosts", "20000", "--rounds", "20000"]),
    "many_sites": ([], ["--sites", "20", "--seconds", "20"]),
    "study_speed": ([], ["--pages", "300"]),
    "crawl_memory": ([], ["--requests", "3000"]),
    "scent_cost": ([], ["--urls", "40000", "--known", "100000"]),
}
_WITH_ARCHIVES: dict[str, Sizes] = {
    "replay_speed": ([], ["--max-requests", "1000"]),
    "tres_cost": ([], ["--site", "edwards"]),
    # In the place of the one without replicas.
    "scent_cost": ([], ["--urls", "40000", "--known", "100000", "--max-requests", "1000"]),
}


def arguments(archives: str | None, *, quick: bool) -> dict[str, list[str]]:
    """Return the options of each benchmark; those that replay real sites are there with archives only."""
    chosen = {name: sizes[quick] for name, sizes in _ALWAYS.items()}
    if archives:
        chosen |= {name: [*sizes[quick], "--archives", archives] for name, sizes in _WITH_ARCHIVES.items()}
    return chosen


@click.command()
@click.option("--archives", help="Folder of imported replicas, for the benchmarks that replay real sites.")
@click.option("--quick", is_flag=True, help="Small sizes: shows that everything runs, proves nothing.")
def main(archives: str | None, *, quick: bool) -> None:
    """Run the benchmarks one after another; each prints its own table."""
    if not archives:
        click.echo("no --archives: replay_speed and tres_cost are left out", err=True)
    failed = []
    for name, options in arguments(archives, quick=quick).items():
        command = [sys.executable, "-m", f"benchmarks.{name}", *options]
        if subprocess.run(command, check=False).returncode:  # noqa: S603 - our own modules
            failed.append(name)
        click.echo()
    if failed:
        raise click.ClickException(f"these did not finish: {', '.join(failed)}")


if __name__ == "__main__":
    main()
