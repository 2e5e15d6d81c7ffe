"""What a cycle of a watch costs over many pages: selection with training, and memory per page.

    python -m benchmarks.watch_scale [--pages 100000] [--per-cycle 1000] [--strategy arrivals]

Pages of made-up sites are looked at once and then visited in cycles; each visit brings new links, a third of
them on a neighbour as well. What is timed is deciding alone: the first choice of a cycle, which trains and
ranks, and the others. Memory is what the strategy holds of pages without links.
"""

from __future__ import annotations

import gc
import time
import tracemalloc

import click
import numpy as np

from benchmarks.reporting import format_option, report
from coati.assembly import StrategySettings, build_strategy
from coati.model import EVERY_HOST, Link, LinkList, Page, Request
from coati.strategies.revisits.watch import WatchSettings
from coati.strategies.strategy import Strategy
from coati.web.urls import url_hash

_PAGES_PER_SITE = 200
_SHOWN = 10
_PATH = ("a",)
_BEGIN = 3600.0 * 500_000


class _Web:
    """Pages that show their last links; new ones come when a page is requested."""

    def __init__(self, pages: int, busy: float = 1.0) -> None:
        self.urls = [f"http://s{page // _PAGES_PER_SITE}.test/p{page}" for page in range(pages)]
        self._rates = np.random.default_rng(1).lognormal(0.0, 1.0, pages) * busy
        self._shown: list[list[int]] = [[] for _ in range(pages)]
        self._rng = np.random.default_rng(2)
        self._link = 0

    def page(self, page: int) -> Page:
        for _ in range(self._rng.poisson(self._rates[page])):
            self._link += 1
            places = [page, page ^ 1] if self._link % 3 == 0 and page ^ 1 < len(self.urls) else [page]
            for place in places:
                self._shown[place] = [*self._shown[place], self._link][-_SHOWN:]
        site = self.urls[page].rpartition("/")[0]
        links = [Link(f"{site}/{link}", _PATH) for link in self._shown[page]]
        return Page(200, 0, LinkList(links), out_links=sorted(url_hash(link.url) for link in links))


@click.command()
@click.option("--pages", default=100_000, show_default=True)
@click.option("--per-cycle", default=1_000, show_default=True)
@click.option("--cycles", default=24, show_default=True)
@click.option("--strategy", default="arrivals", show_default=True)
@format_option
def main(pages: int, per_cycle: int, cycles: int, strategy: str, form: str) -> None:
    """Measure one strategy."""
    settings = StrategySettings(watch=WatchSettings(per_cycle=per_cycle))
    web = _Web(pages)
    page_of = {url: page for page, url in enumerate(web.urls)}
    watch = build_strategy(strategy, web.urls, settings=settings)
    costs = [_cycle(watch, web, page_of, _BEGIN + 3600.0 * cycle) for cycle in range(cycles + 1)]
    later = costs[len(costs) // 2 :]
    memory = _bytes_per_page(strategy, settings, _Web(pages, busy=0.0), cycles=3)
    report(
        "watch",
        [
            {
                "strategy": strategy,
                "pages": pages,
                "per_cycle": per_cycle,
                "selection_cpu_seconds": round(float(np.median(later)), 3),
                "worst_cpu_seconds": round(max(later), 3),
                "bytes_per_page": round(memory),
            }
        ],
        form,
    )


def _cycle(watch: Strategy, web: _Web, page_of: dict[str, int], now: float) -> float:
    """Drive one cycle, and return what deciding cost."""
    spent = 0.0
    while True:
        began = time.process_time()
        request = watch.choose(now, EVERY_HOST)
        spent += time.process_time() - began
        if not isinstance(request, Request):
            return spent
        watch.observe(request.id, web.page(page_of[request.url]), now)


def _bytes_per_page(strategy: str, settings: StrategySettings, web: _Web, cycles: int) -> float:
    """Watch pages without links, so that all that is held is beside the hashes of links."""
    page_of = {url: page for page, url in enumerate(web.urls)}
    gc.collect()
    tracemalloc.start()
    try:
        watch = build_strategy(strategy, web.urls, settings=settings)
        for cycle in range(cycles):
            _cycle(watch, web, page_of, _BEGIN + 3600.0 * cycle)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / len(web.urls)
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    main()
