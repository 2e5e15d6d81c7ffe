"""Look into a fleet's store, download a site from it, release one from quarantine: as functions.

A store is given by its address: a folder, or a URL such as ``s3://bucket/name``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coati.fleet.deaths import end_quarantine
from coati.fleet.downloading import download_run
from coati.fleet.objects import ObjectStore
from coati.fleet.site_log import site_log
from coati.fleet.status import FleetStatus, fleet_status, site_manifest
from coati.jobs.arguments import checked_arguments, count_of, text_of
from coati.jobs.notebook_tables import pairs_table
from coati.jobs.progress_bar import progress
from coati.jobs.runs import Run


@dataclass(frozen=True, slots=True)
class PulledSite:
    """What `coati.pull` returns: the run folder of the site, and what was in it at that generation."""

    site: str
    folder: Path
    generation: int
    requests: int
    targets: int
    files: int

    def __fspath__(self) -> str:
        return str(self.folder)

    @property
    def run(self) -> Run:
        """The run, for reading."""
        return Run(self.folder)

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it."""
        return {**asdict(self), "folder": str(self.folder)}

    def _repr_html_(self) -> str:
        return pairs_table(f"{self.site} in {self.folder}", list(self.as_json().items())[2:])


@checked_arguments
def describe_store(store: str | Path) -> FleetStatus:
    """Return what a store holds and who works on it: its sites, its client and its leases."""
    return fleet_status(ObjectStore(text_of("store", store)))


@checked_arguments
def store_log(store: str | Path, site: str, last: int = 100) -> list[dict[str, Any]]:
    """Return the last requests to a site, the newest last."""
    last = count_of("last", last)
    return site_log(_with_site(store, site), site, last)


@checked_arguments
def free_site(store: str | Path, site: str) -> bool:
    """Release a site from quarantine, its crawl and its watch; returns whether it was there."""
    place = _with_site(store, site)
    was = [end_quarantine(place, f"{kind}/{site}") for kind in ("sites", "watches")]
    return any(was)


@checked_arguments
def pull(
    store: str | Path,
    site: str,
    out: str | Path | None = None,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    show_progress: bool | None = None,
) -> PulledSite:
    """Download a site from a store into an ordinary run folder (named after the site), with all its files."""
    place = _with_site(store, site)
    folder = Path(site) if out is None else Path(out)
    with progress("Pulling", show_progress, on_progress) as report_progress:
        manifest = download_run(place, f"sites/{site}", folder, report_progress)
    state = manifest.state
    return PulledSite(site, folder, manifest.generation, state.requests, state.targets, state.files)


def _with_site(store: str | Path, site: str) -> ObjectStore:
    """Open a store; raises `coati.errors.ConfigError` if it does not hold the site."""
    place = ObjectStore(text_of("store", store))
    site_manifest(place, site)
    return place
