"""What it costs to know which of many hosts may get a request, and when: `coati.pacing.host_pace`.

    python -m benchmarks.host_pace [--hosts 500000] [--rounds 200000]

All hosts got one request and sleep. Then time passes: the hosts that wake get another, and each of the
verbs that a driver and a strategy use is timed on its own. None may cost more with many hosts than with few,
but for the logarithm.
"""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict

import click

from benchmarks.reporting import format_option, report
from coati.pacing.host_pace import HostPace, PaceSettings

_FEW_HOSTS = 1_000
_DELAY_SECONDS = 3600.0


class Laps:
    """Adds up what calls take, by name: each lap ends where the next begins."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._laps: Counter[str] = Counter()
        self._begun = time.perf_counter()

    def lap(self, name: str) -> None:
        """Count the time since the last lap."""
        now = time.perf_counter()
        self._seconds[name] += now - self._begun
        self._laps[name] += 1
        self._begun = time.perf_counter()

    def microseconds(self, name: str) -> float:
        """Return what a lap took on average."""
        return 1e6 * self._seconds[name] / max(1, self._laps[name])


def paced(hosts: int, rounds: int) -> dict[str, object]:
    """Let all hosts sleep, then request from those that wake until this many requests are made."""
    pace = HostPace(PaceSettings(delay_seconds=_DELAY_SECONDS, many_hosts=True))
    chance = random.Random(1)
    names = [f"host{number}.example.org" for number in range(hosts)]
    for name in names:
        now = chance.uniform(0.0, _DELAY_SECONDS)
        pace.sent(name, now)
        pace.ready(name, now)
    sent, now = 0, _DELAY_SECONDS
    laps = Laps()
    while sent < rounds:
        now = pace.next_time(now)
        laps.lap("next_time")
        ready = pace.take_ready(now)
        laps.lap("take_ready")
        for host in ready:
            pace.begin(host, now)
            pace.sent(host, now)
            laps.lap("begin and sent")
            pace.answered(host, now, 200, 0.2)
            pace.end(host)
            laps.lap("answered and end")
            pace.ready(host, now)
            laps.lap("ready")
            sent += 1
    verbs = ("take_ready", "ready", "next_time", "begin and sent", "answered and end")
    return {"hosts": hosts, **{f"{verb}, us": laps.microseconds(verb) for verb in verbs}}


@click.command()
@click.option("--hosts", default=500_000, show_default=True)
@click.option("--rounds", default=200_000, show_default=True)
@format_option
def main(hosts: int, rounds: int, form: str) -> None:
    """Time the verbs with few hosts and with many."""
    report("the pace of many hosts", [paced(count, rounds) for count in (_FEW_HOSTS, hosts)], form)


if __name__ == "__main__":
    main()
