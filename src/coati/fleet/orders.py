"""What goes between the client and the workers: an order for a slice, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from coati.budget import Budget
from coati.errors import CoatiError
from coati.fleet.generations import RunState
from coati.harvesting.sites import HarvestSite
from coati.settings.run_settings import RunSettings
from coati.stop_reasons import StopReason
from coati.version import __version__
from coati.watching.cycle import CycleResult
from coati.watching.watch_options import WatchOptions


@dataclass(frozen=True, slots=True)
class SliceTimes:
    """Seconds within a slice: between publications, and the term of its lease.

    ``patience`` is for a store that fails. After its time a slice may take ``transfer`` to finish what is in
    flight; a process whose crawls do not answer within ``grace`` ends.
    """

    publish: float = 30.0
    term: float = 60.0
    patience: float = 600.0
    grace: float = 120.0
    transfer: float = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceOrder:
    """Which site, out of which store, and how much.

    ``settings`` are those of the whole harvest, ``per_site`` is what one site may get of it at most.
    ``known_requests`` is how many the run had made, as far as is known. What it has made beyond these is of
    the slice already, so that one whose result was lost is not crawled twice.
    ``ends``: the crawl is to end now, for this reason. ``last_try``: the site is in quarantine, and is tried
    nevertheless.
    ``watch``: the slice is a cycle of the site's watch, not a part of its crawl.
    ``coati`` is the version of the client.
    """

    store: str
    site: HarvestSite
    settings: RunSettings
    per_site: Budget = field(default_factory=Budget)
    requests: int = 300
    known_requests: int | None = None
    seconds: float = 300.0
    times: SliceTimes = field(default_factory=SliceTimes)
    ends: StopReason | None = None
    last_try: bool = False
    watch: WatchOptions | None = None
    coati: str = __version__

    @property
    def place(self) -> str:
        """The folder of the run in the store."""
        return f"{'sites' if self.watch is None else 'watches'}/{self.site.name}"


class SliceEnd(StrEnum):
    """How a slice ended.

    HELD: somebody else has the site, or it must be left alone for now. LOST: somebody else has taken it over
    meanwhile. QUARANTINED: too many workers died at it.
    """

    CRAWLED = "crawled"
    HELD = "held"
    LOST = "lost"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceResult:
    """What came of a slice. ``state`` is that of the whole run, the counts are those of the slice.

    ``until`` is when the site may be crawled again, ``by`` is whoever crawled it, or holds it. ``cycle`` is
    that of a watch.
    """

    site: str
    end: SliceEnd
    by: str
    state: RunState = field(default_factory=RunState)
    generation: int = 0
    requests: int = 0
    targets: int = 0
    seconds: float = 0.0
    until: float = 0.0
    deaths: int = 0
    messages: tuple[str, ...] = ()
    cycle: CycleResult | None = None


class WorkerVersionError(CoatiError):
    """A worker has another version of Coati than its client."""


def require_version(order: SliceOrder) -> None:
    """Raise `WorkerVersionError` if the client has another version."""
    if order.coati != __version__:
        raise WorkerVersionError(
            f"a worker has Coati {__version__}, and the client {order.coati}: all machines of a fleet need"
            " the same version"
        )
