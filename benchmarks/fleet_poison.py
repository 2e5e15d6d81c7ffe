"""Sites that kill their workers, in a real fleet: which are left alone or get a last try, and what is lost.

    python -m benchmarks.fleet_poison [--sites 6] [--pages 60]

Two workers of Dask harvest generated sites on loopback, by a strategy that ends its process where a page has
a link of a certain name. One site has such a page, always. Another one kills three times and then no more, as
if its workers had died for other reasons. All others are harmless. At the end it is checked which sites are
in quarantine, whether every target of all other sites is in the store, once, and by the servers' own logs
that no host got requests too soon or from two.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import click

from benchmarks.fleet_kills import SIZES, TIMES, check_pace, check_targets
from benchmarks.fleet_kills import make as make_site
from benchmarks.reporting import format_option, report
from coati.fleet.client import harvest_fleet
from coati.fleet.dask_cluster import DaskCluster
from coati.fleet.events import FleetEvent
from coati.fleet.harvest import FleetHarvest, Listeners
from coati.fleet.objects import open_store
from coati.fleet.status import fleet_status
from coati.harvesting.files_harvest import FilesHarvest
from coati.model import Outcome, Page, Settlement
from coati.settings.run_file import with_values
from coati.settings.run_settings import RunSettings
from coati.strategies.baselines.simple_orders import FrontierStrategy
from coati.strategies.frontier import Fifo
from coati.testing.server import MakeSite, serve
from coati.testing.site import Site

_ALWAYS, _THRICE = "kills-always", "kills-three-times"
_KILLS = "COATI_BENCHMARK_KILLS"
# Which of a site's pages kills, as they are listed.
_DEADLY_PAGE = 12


class Mortal(FrontierStrategy):
    """Crawls breadth-first, and dies of certain pages; each death leaves a file."""

    def __init__(self, start_urls: Sequence[str], _seed: int) -> None:
        super().__init__(start_urls, Fifo())
        self._site = urlsplit(start_urls[0]).netloc

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Look at a page before anything is learnt from it."""
        if isinstance(outcome, Page):
            names = {url.rpartition("/")[2] for url in outcome.links.urls}
            deaths = list(Path(os.environ[_KILLS]).glob(f"{self._site}-*"))
            if _ALWAYS in names or (_THRICE in names and len(deaths) < 3):  # noqa: PLR2004 - as its name says
                Path(os.environ[_KILLS], f"{self._site}-{len(deaths)}").touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return super().observe(request_id, outcome, now)


def poisoned(make: MakeSite, name: str) -> MakeSite:
    """Make a site of which one page kills."""

    def made(base_url: str) -> Site:
        site = make(base_url)
        answers = {url: site.get(url) for url in site}
        pages = [url for url, answer in answers.items() if b"</body>" in (answer.body or b"")]
        url = pages[_DEADLY_PAGE]
        body = (answers[url].body or b"").replace(b"</body>", f'<a href="/{name}">more</a></body>'.encode())
        return Site(site.start_url, {**answers, url: replace(answers[url], body=body)})

    return made


@click.command()
@click.option("--sites", "count", default=6, show_default=True, help="Harmless sites beside the two others.")
@click.option("--pages", default=60, show_default=True)
@click.option("--delay", default=0.1, show_default=True)
@format_option
def main(count: int, pages: int, delay: float, form: str) -> None:
    """Harvest sites of which two kill workers."""
    makers = [poisoned(make_site(0, pages), _ALWAYS), poisoned(make_site(1, pages), _THRICE)]
    makers += [make_site(number, pages) for number in range(2, 2 + count)]
    events: list[FleetEvent] = []
    with tempfile.TemporaryDirectory() as folder, serve(*makers) as server:
        os.environ[_KILLS] = folder
        urls = tuple(site.start_url for site in server.sites)
        chosen = {"types": "data", "delay": delay, "strategy": f"{__spec__.name}:Mortal"}
        settings = with_values(RunSettings(), {**chosen, "stop_when_dry": "off"})
        files = FilesHarvest(urls=urls, out=Path(), settings=settings)
        plan = FleetHarvest(files=files, store=f"{folder}/store", sizes=SIZES, times=TIMES)
        with closing(DaskCluster("local:2")) as cluster:
            harvested = harvest_fleet(plan, cluster, Listeners(on_event=events.append))
        store = open_store(plan.store)
        deaths = Counter(path.name.rpartition("-")[0] for path in Path(folder).glob("127.*"))
        names = [urlsplit(url).netloc for url in urls]
        status = fleet_status(store).sites
        harmless = [site for site in harvested.sites if not site.quarantined]
        row = {
            "killed_by_the_first": deaths[names[0]],
            "killed_by_the_second": deaths[names[1]],
            "in_quarantine": [site.summary.site for site in status if site.quarantined],
            "the_first": names[0].replace(":", "-"),
            "others_done": sum(site.state.done for site in harmless),
            "events": dict(Counter(event.what.value for event in events)),
            **check_targets(replace(server, sites=server.sites[1:]), store),
            **check_pace(server.requests, delay),
        }
    report("fleet_poison", [row], form)


if __name__ == "__main__":
    main()
