"""Lets a session of a watch begin one cycle at most; the very first one only records what is there.

A watch that has a driver of its own waits for its next cycle. Ours is started once per cycle, so that what
changed is written down and told before the next one, and cron can do the waiting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Hosts, Later, Outcome, Request, Settlement
    from coati.strategies.revisits.site_watch import SiteWatch
    from coati.strategies.state import State


class OneCycle:
    """Passes everything on, and lets the watch end where the session has had its cycle."""

    def __init__(self, watch: SiteWatch) -> None:
        self._watch = watch
        self._is_limited = False

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Return what the watch asks for; the first call of a session sets its limit."""
        if not self._is_limited:
            self._is_limited = True
            watch = self._watch.watch
            only_looks = watch.cycles_begun == 0 and not watch.has_looked
            # Before its time none begins, and nobody waits for it: cron comes again.
            begins = not only_looks and watch.is_due(now)
            watch.stop_after(watch.cycles_begun + int(begins))
        return self._watch.choose(now, hosts)

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        return self._watch.observe(request_id, outcome, now)

    def redo(self, request: Request, now: float) -> None:
        self._watch.redo(request, now)

    def save(self) -> State:
        return self._watch.save()

    def load(self, state: State) -> None:
        self._watch.load(state)

    def arm_label(self, arm: int) -> str:
        return self._watch.arm_label(arm)
