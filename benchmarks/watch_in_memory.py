"""The watch of `benchmarks.watch_live` without HTTP, a second per run, on its site and on variants of it.

    python -m benchmarks.watch_in_memory [--seeds 0,1,2] [--schedulers arrivals,rr] [--variants plain,churn]

Variants: front pages with stories that hold no file (``churn``, ``churn40``), pages that begin to publish in
the second week (``late``), pages with a new address at every visit (``session``), four times as many pages
(``big``), and the first, third and fourth together (``all``). In ``busy`` each story of forty front pages is
a file: 80 per hour, of which 50 are followed. They do not count: what is measured are the other files.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
from itertools import count

from benchmarks.watch_live import BEGIN, HOUR, HOURS, ITEMS, SECTIONS, PublishingSite
from coati.model import EVERY_HOST, Failure, Link, LinkList, Outcome, Page, Request, Target
from coati.strategies.revisits.schedulers import SCHEDULERS, SchedulerInputs
from coati.strategies.revisits.site_watch import FOLLOW, SiteWatch, SiteWatchSettings
from coati.strategies.revisits.watch import Watch, WatchSettings
from coati.web.out_links import with_out_links
from coati.web.urls import url_hash

ROOT = "http://site.test"
VARIANTS: dict[str, dict[str, int]] = {
    "plain": {},
    "churn": {"fronts": 10},
    "churn40": {"fronts": 40},
    "late": {"late": 10},
    "session": {"sessions": 30},
    "big": {"items": 100},
    "busy": {"busy": 40},
    "all": {"fronts": 10, "late": 10, "sessions": 30},
}
# New links that are followed per hour; three in all other variants.
FOLLOWED = {"busy": 50}
# A front page shows its last stories; each late page publishes this many files.
_STORIES, _LATE_FILES = 30, 10


class VariedSite:
    """The site of the live benchmark, and what a variant adds; links have a time to come and one to go."""

    def __init__(
        self,
        seed: int,
        *,
        items: int = ITEMS,
        fronts: int = 0,
        busy: int = 0,
        late: int = 0,
        sessions: int = 0,
    ) -> None:
        site, rng = PublishingSite.make(seed), random.Random(1000 + seed)
        self.published = dict(site.published)
        self.on_page = {
            page: [(at, math.inf, url) for at, url in links] for page, links in site.on_page.items()
        }
        self.now = BEGIN
        all_items = [f"/s{section}/item-{item}.html" for section in range(SECTIONS) for item in range(items)]
        for section in range(SECTIONS):
            more = (f"/s{section}/item-{item}.html" for item in range(ITEMS, items))
            self.on_page[f"/s{section}/"] += [(0.0, math.inf, url) for url in more]
        numbers = count()
        for front in range(fronts):
            self._add_front(f"/front{front}/", f"/front{front}/story-{{}}.html", rng, numbers)
        for front in range(busy):
            self._add_front(f"/front{front}/", "/files/story-{}.csv", rng, numbers)
        for page in (rng.choice(all_items) for _ in range(late)):
            for hour in rng.sample(range(7 * 24, 13 * 24), _LATE_FILES):
                url = f"/files/late-{next(numbers)}.csv"
                self.published[url] = BEGIN + hour * HOUR
                self.on_page.setdefault(page, []).append((BEGIN + hour * HOUR, math.inf, url))
        self._with_session = {rng.choice(all_items) for _ in range(sessions)}
        self._sessions = count(1)
        listed = [page for page in self.on_page if "/news-" not in page]
        self.pages = list(dict.fromkeys(["/", *listed, *all_items]))

    def _add_front(self, page: str, story: str, rng: random.Random, numbers: count[int]) -> None:
        times = []
        for hour in range(-24, HOURS):
            rate = 3.2 if 8 <= hour % 24 < 18 else 1.0  # noqa: PLR2004 - office hours
            times += [BEGIN + hour * HOUR] * (int(rate) + (rng.random() < rate % 1))
        ends = [*times[_STORIES:], *[math.inf] * _STORIES]
        self.on_page[page] = [
            (at, end, story.format(next(numbers))) for at, end in zip(times, ends, strict=False)
        ]
        self.on_page["/"].append((0.0, math.inf, page))

    def known(self) -> list[str]:
        """Return every address that there is now."""
        there = [url for links in self.on_page.values() for at, _, url in links if at <= self.now]
        return [*there, *self.pages]

    def answer(self, path: str) -> Outcome:
        """Answer a request."""
        if path.startswith("/files/"):
            there = self.published.get(path, 0.0) <= self.now
            return Target(200, 9, "text/csv") if there else Failure(404, 0, "not found")
        urls = [url for at, end, url in self.on_page.get(path, ()) if at <= self.now < end]
        if path in self._with_session:
            urls.append(f"/go/{next(self._sessions)}?sid={next(self._sessions)}")
        links = [Link(ROOT + url, ("html", "body", "ul", "li", "a")) for url in urls]
        return with_out_links(Page(200, 9, LinkList(links)))


def _value(link: Link, _page: str) -> float:
    return 0.9 if link.url.endswith(".csv") else 0.1


def watched(site: VariedSite, scheduler: str, follow: int = 3) -> dict[str, object]:
    """Watch a site for two weeks, with the budgets of the live benchmark."""
    known = site.known()
    watch = Watch(
        [ROOT + page for page in site.pages],
        SCHEDULERS[scheduler].build(SchedulerInputs(0)),
        WatchSettings(per_cycle=16, misses_until_gone=3),
    )
    strategy = SiteWatch(
        watch,
        _value,
        SiteWatchSettings(follow_per_cycle=follow, check_per_cycle=1),
        dict.fromkeys(ROOT + url for url in known if url.startswith("/files/")),
        {url_hash(ROOT + url) for url in known},
    )
    found: dict[str, float] = {}
    for hour in range(HOURS):
        site.now = BEGIN + hour * HOUR
        while isinstance(request := strategy.choose(site.now, EVERY_HOST), Request):
            path = request.url.removeprefix(ROOT)
            outcome = site.answer(path)
            if request.arm == FOLLOW and isinstance(outcome, Target):
                found.setdefault(path, site.now)
            strategy.observe(request.id, outcome, site.now)
    delays = [(at - site.published[url]) / HOUR for url, at in found.items() if url in site.published]
    return {
        "share": round(len(delays) / len(site.published), 3),
        "median_delay_hours": round(statistics.median(delays), 1) if delays else None,
        "mean_delay_hours": round(statistics.mean(delays), 1) if delays else None,
    }


def main() -> None:
    """Print one JSON object per run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--schedulers", default="arrivals")
    parser.add_argument("--variants", default=",".join(VARIANTS))
    chosen = parser.parse_args()
    for variant in chosen.variants.split(","):
        for scheduler in chosen.schedulers.split(","):
            for seed in map(int, chosen.seeds.split(",")):
                site = VariedSite(seed, **VARIANTS[variant])
                row = watched(site, scheduler, FOLLOWED.get(variant, 3))
                print(json.dumps({"variant": variant, "by": scheduler, "seed": seed, **row}), flush=True)


if __name__ == "__main__":
    main()
