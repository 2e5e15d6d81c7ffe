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
    "many_sites": ([], ["--sites", "20", "--seconds", "20"]),
    "study_speed": ([], ["--pages", "300"]),
    "crawl_memory": ([], ["--requests", "3000"]),
    "scent_cost": ([], ["--urls", "40000", "--known", "100000"]),
}
_WITH_ARCHIVES: dict[str, Sizes] = {
    "faithful": ([], ["--seeds", "3"]),
    "replay_speed": ([], ["--max-requests", "1000"]),
    "tres_cost": ([], ["--site", "edwards"]),
    # In the place of the one without replicas.
    "scent_cost": ([], ["--urls", "40000", "--known", "100000", "--max-requests", "1000"]),
}


@click.command()
@click.option("--archives", help="Folder of imported replicas, for the benchmarks that replay real sites.")
@click.option("--quick", is_flag=True, help="Small sizes: shows that everything runs, proves nothing.")
def main(archives: str | None, *, quick: bool) -> None:
    """Run the benchmarks one after another; each prints its own table."""
    chosen: dict[str, tuple[Sizes, list[str]]] = {name: (sizes, []) for name, sizes in _ALWAYS.items()}
    if archives:
        chosen |= {name: (sizes, ["--archives", archives]) for name, sizes in _WITH_ARCHIVES.items()}
    else:
        click.echo("no --archives: faithful and replay_speed are left out", err=True)
    failed = []
    for name, ((full, small), more) in chosen.items():
        command = [sys.executable, "-m", f"benchmarks.{name}", *(small if quick else full), *more]
        if subprocess.run(command, check=False).returncode:  # noqa: S603 - our own modules
            failed.append(name)
        click.echo()
    if failed:
        raise click.ClickException(f"these did not finish: {', '.join(failed)}")


if __name__ == "__main__":
    main()
