"""What a strategy and its frontier weigh at a million known URLs.

    python -m benchmarks.memory

The growth of the process's resident memory while a strategy finds the URLs of a made-up site, divided by the
URLs. The site itself keeps nothing but its last links.
"""

from __future__ import annotations

import gc
import resource
from typing import NamedTuple

import click

from benchmarks.reporting import format_option, report
from benchmarks.step_cost import EndlessSite
from coati.assembly import LIVE_STRATEGIES, build_strategy
from coati.model import EVERY_HOST, Request


def _resident_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as status:  # noqa: PTH123 - a file of the kernel
        return int(status.read().split()[1]) * resource.getpagesize()


class Weight(NamedTuple):
    """What a strategy weighs after this many requests."""

    urls: int
    requests: int
    grown_bytes: int


def weigh(strategy: str, site: EndlessSite) -> Weight:
    """Let a strategy find all URLs; exact in a fresh process only, where no memory was freed before."""
    gc.collect()
    before = _resident_bytes()
    crawler = build_strategy(strategy, ["http://site.example/"])
    requests = 0
    while site.known < site.urls:
        request = crawler.choose(0.0, EVERY_HOST)
        if not isinstance(request, Request):
            break
        crawler.observe(request.id, site.answer(request), 0.0)
        requests += 1
    gc.collect()
    return Weight(site.known, requests, _resident_bytes() - before)


@click.command()
@click.option(
    "--strategy", type=click.Choice(list(LIVE_STRATEGIES)), default="sb-classifier", show_default=True
)
@click.option("--urls", default=1_000_000, show_default=True)
@click.option("--groups", default=2_000, show_default=True)
@format_option
def main(strategy: str, urls: int, groups: int, form: str) -> None:
    """Weigh a strategy."""
    known, requests, grown = weigh(strategy, EndlessSite(urls, groups))
    row = {"urls": known, "requests": requests, "MB": grown / 1e6, "bytes per known URL": grown / known}
    report(f"memory of {strategy}", [row], form)


if __name__ == "__main__":
    main()
