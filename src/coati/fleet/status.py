"""What a store holds and who works on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from typing import Final, NamedTuple, TypeVar

from coati.errors import ConfigError
from coati.fleet.client_lease import CLIENT
from coati.fleet.deaths import deaths_at, is_quarantined
from coati.fleet.generations import Chain, Manifest
from coati.fleet.harvest import FleetSite
from coati.fleet.leases import Lease, Leases
from coati.fleet.objects import DamagedObjectError, ObjectStore
from coati.harvesting.folder import SiteSummary, ranked, site_lines, summary_json, sums_of
from coati.jobs.notebook_tables import rows_table
from coati.reporting.many_sites import sites_page
from coati.times import to_iso

_READERS: Final = 16

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SiteStatus:
    """One site: what it cost and brought, when it was published last, and who works on it now, if anybody."""

    summary: SiteSummary
    done: bool
    quarantined: bool
    deaths: int
    generation: int
    slices: int
    published_at: float
    worker: str | None = None
    until: float | None = None

    @property
    def state(self) -> str:
        """Its state, in words."""
        return "in quarantine" if self.quarantined else self.summary.stop_reason or "not ended"

    def as_json(self) -> dict[str, object]:
        """Return it as one flat object."""
        values = asdict(self)
        return {**values.pop("summary"), **values, "published_at": to_iso(self.published_at)}


class StatusChange(NamedTuple):
    """What came between two looks at a store."""

    seconds: float
    requests_per_second: float
    targets_per_second: float
    sites_published: int


@dataclass(frozen=True, slots=True)
class FleetStatus:
    """A store: its sites, the richest first, its client if one is running, and its leases.

    ``damaged`` says which sites and leases could not be read; they are missing in the others.
    """

    store: str
    sites: list[SiteStatus]
    client: Lease | None
    leases: list[Lease]
    looked_at: float
    damaged: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it, all sites together."""
        return {
            **sums_of([site.summary for site in self.sites]),
            "done": sum(site.done for site in self.sites),
            "quarantined": [site.summary.site for site in self.sites if site.quarantined],
            "damaged": self.damaged,
            "client": None if self.client is None else self.client.owner,
            "leases": len(self.leases),
            "store": self.store,
        }

    def _repr_html_(self) -> str:
        rows: list[dict[str, object]] = [
            {
                "site": site.summary.site,
                "targets": site.summary.targets,
                "requests": site.summary.requests,
                "failures": site.summary.failures,
                "published": to_iso(site.published_at),
                "worker": site.worker,
                "state": site.state,
            }
            for site in self.sites
        ]
        return rows_table(f"Sites in {self.store}", rows)

    def since(self, before: FleetStatus) -> StatusChange:
        """Say what came since an earlier look."""
        seconds = max(self.looked_at - before.looked_at, 1e-9)
        known = {site.summary.site: site.generation for site in before.sites}
        requests = sum(site.summary.requests for site in self.sites)
        requests -= sum(site.summary.requests for site in before.sites)
        targets = sum(site.summary.targets for site in self.sites)
        targets -= sum(site.summary.targets for site in before.sites)
        published = sum(known.get(site.summary.site) != site.generation for site in self.sites)
        return StatusChange(seconds, requests / seconds, targets / seconds, published)


def fleet_status(store: ObjectStore, now: float | None = None) -> FleetStatus:
    """Look a store through; raises `ConfigError` where it holds no fleet's work."""
    at = time.time() if now is None else now
    names = store.names("sites")
    leases = Leases(store, "")
    damaged: list[str] = []
    known = [_unless_damaged(leases.newest, name, damaged) for name in store.names("leases")]
    held = [lease for lease in known if lease and not lease.released and lease.takes_until() > at]
    client = next((lease for lease in held if lease.name == CLIENT), None)
    if not names and client is None:
        raise ConfigError(f"{store.url} holds no harvest of a fleet")
    at_work = {lease.what: lease for lease in held if lease.name != CLIENT}
    with ThreadPoolExecutor(_READERS) as pool:
        found = pool.map(
            lambda name: _unless_damaged(lambda site: _status(store, site, at_work), name, damaged), names
        )
        sites = [site for site in found if site is not None]
    order = {summary.site: place for place, summary in enumerate(ranked(site.summary for site in sites))}
    sites.sort(key=lambda site: order[site.summary.site])
    return FleetStatus(store.url, sites, client, list(at_work.values()), at, sorted(damaged))


def _unless_damaged(read: Callable[[str], T | None], name: str, damaged: list[str]) -> T | None:
    """Read something; None where it is damaged, which is then told."""
    try:
        return read(name)
    except DamagedObjectError as error:
        damaged.append(str(error))
        return None


def _status(store: ObjectStore, name: str, at_work: Mapping[str, Lease]) -> SiteStatus | None:
    newest = Chain(store, f"sites/{name}").newest()
    if newest is None:
        return None
    places = [f"{kind}/{name}" for kind in ("sites", "watches")]
    lease = next((at_work[place] for place in places if place in at_work), None)
    return SiteStatus(
        summary=summary_of_state(FleetSite(name, newest.state)),
        done=newest.state.done,
        quarantined=any(is_quarantined(store, place) for place in places),
        deaths=sum(deaths_at(store, place).all for place in places),
        generation=newest.generation,
        slices=newest.slices,
        published_at=newest.written_at,
        worker=None if lease is None else lease.owner,
        until=None if lease is None else lease.expires_at,
    )


def summary_of_state(site: FleetSite) -> SiteSummary:
    """Return a site as any harvest's report has it."""
    return replace(site.state.summary(site.site), stop_reason=_stop_text(site))


def _stop_text(site: FleetSite) -> str | None:
    if site.damage:
        return "damaged in the store"
    return "quarantined: workers died at it" if site.quarantined else site.state.stop_reason


def write_fleet_report(store: ObjectStore, sites: Sequence[FleetSite], stop_reason: str) -> list[SiteSummary]:
    """Write the report over all sites, and the same as tables, into the store; returns them ranked."""
    # A site that nobody came to yet has nothing to link to.
    found = ranked(summary_of_state(site) for site in sites if site.state.start_url)
    page = sites_page(found, stop_reason, "tables/targets")
    store.replace("report.html", page.encode())
    store.replace("sites.csv", b"".join(site_lines(found)))
    store.replace("summary.json", summary_json(found, stop_reason))
    return found


def site_manifest(store: ObjectStore, site: str) -> Manifest:
    """Return the last generation of a site; raises `ConfigError` where there is none."""
    newest = Chain(store, f"sites/{site}").newest()
    if newest is None:
        names = store.names("sites")
        raise ConfigError(
            f"{store.url} holds no site {site!r}"
            + (f"; it holds {', '.join(names[:5])}{' …' if len(names) > 5 else ''}" if names else "")  # noqa: PLR2004
        )
    return newest
