"""Lets a session of a watch begin one cycle at most; the very first one only records what is there.

A watch that has a driver of its own waits for its next cycle. Ours is started once per cycle, so that what
changed is written down and told before the next one, and cron can do the waiting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.replaying.wrapped_strategy import WrappedStrategy

if TYPE_CHECKING:
    from coati.model import Hosts, Later, Request
    from coati.strategies.revisits.site_watch import SiteWatch


class OneCycle(WrappedStrategy):
    """Passes everything on, and lets the watch end where the session has had its cycle."""

    def __init__(self, watch: SiteWatch) -> None:
        super().__init__(watch)
        self._watch = watch.watch
        self._is_limited = False

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Return what the watch requests; the first call of a session sets its limit."""
        if not self._is_limited:
            self._is_limited = True
            watch = self._watch
            only_looks = watch.cycles_begun == 0 and not watch.first_look_done
            # Before its time none begins, and nobody waits for it: cron comes again.
            begins = not only_looks and watch.is_due(now)
            watch.stop_after(watch.cycles_begun + int(begins))
        return super().choose(now, hosts)
