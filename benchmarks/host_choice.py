"""What it costs to choose among many hosts, by scoring function: `coati.strategies.hosts.host_scores`.

    python -m benchmarks.host_choice [--hosts 500000] [--choices 500]

Half of the hosts never got a request, the others a number of times with a heavy tail; half of them are poor,
a third is rich. Each choice is followed by what a crawl does then: the host that was chosen gets another
count and another best page. Processor time per choice and change, and the memory of the ranking per host.
Beside them the memory of everything that a crawl keeps per host and page (`HostBandit`), with one page per
host.
"""

from __future__ import annotations

import random
import time
import tracemalloc

import click

from benchmarks.reporting import format_option, report
from coati.strategies.hosts.anthelion import AnthelionSettings, anthelion
from coati.strategies.hosts.host_scores import SCORES, make_scores

_SHARES = (0.02, 0.02, 0.02, 0.5, 0.95, 0.95)
_MOST_PULLS = 3000
_HALF = 0.5


def counts(hosts: int) -> list[tuple[int, int, float]]:
    """Draw good, bad and the best page's probability of each host."""
    chance = random.Random(1)
    made = []
    for _ in range(hosts):
        pulls = 0 if chance.random() < _HALF else min(int(chance.paretovariate(1.0)), _MOST_PULLS)
        share = chance.choice(_SHARES)
        good = sum(chance.random() < share for _ in range(pulls))
        made.append((good, pulls - good, chance.random() ** 0.5))
    return made


def choice_cost(name: str, made: list[tuple[int, int, float]], choices: int) -> dict[str, object]:
    """Rank all hosts, then choose, and change what was chosen."""
    chance = random.Random(2)
    state = list(made)
    scores = make_scores(name, 1)
    for host, known in enumerate(state):
        scores.put(host, *known)
    begun = time.process_time()
    for turn in range(choices):
        host, _ = scores.choose(turn)
        good, bad, _ = state[host]
        lucky = chance.random() < _HALF
        state[host] = (good + lucky, bad + (not lucky), chance.random())
        scores.put(host, *state[host])
    spent = time.process_time() - begun
    return {"score": name, "hosts": len(made), "choice, ms of CPU": round(1e3 * spent / choices, 4)}


def ranking_memory(name: str, made: list[tuple[int, int, float]]) -> float:
    """Return the bytes per host of the ranking."""
    tracemalloc.start()
    scores = make_scores(name, 1)
    for host, known in enumerate(made):
        scores.put(host, *known)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del scores
    return size / len(made)


def crawl_memory(hosts: int) -> float:
    """Return the bytes per host of a whole strategy, each host with one page that waits."""
    urls = [f"http://www.some-host-{number}.example/shop/item-{number}" for number in range(hosts)]
    tracemalloc.start()
    crawl = anthelion(urls, 1, AnthelionSettings())
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del crawl
    return size / hosts


@click.command()
@click.option("--hosts", default=500_000, show_default=True)
@click.option("--choices", default=500, show_default=True)
@format_option
def main(hosts: int, choices: int, form: str) -> None:
    """Time a choice for each scoring function."""
    made = counts(hosts)
    rows = [choice_cost(name, made, choices) for name in SCORES]
    for row in rows:
        row["ranking, bytes per host"] = round(ranking_memory(str(row["score"]), made))
    whole = {"score": "everything of a crawl", "hosts": hosts, "choice, ms of CPU": None}
    rows.append({**whole, "ranking, bytes per host": round(crawl_memory(hosts))})
    report("choosing a host", rows, form)


if __name__ == "__main__":
    main()
