"""A harvest by a fleet: what is wanted, what came of it, and its settings in the store."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from coati.bandits.slice_choice import SliceSizes
from coati.errors import ConfigError
from coati.fleet.events import OnFleetEvent
from coati.fleet.generations import RunState
from coati.fleet.leases import Lease
from coati.fleet.objects import DamagedObjectError, ObjectStore
from coati.fleet.orders import SliceTimes
from coati.harvesting.files_harvest import FilesHarvest, require_same
from coati.live.progress import Progress
from coati.settings.run_file import require_named_hosts, require_no_hidden
from coati.stop_reasons import StopReason
from coati.toml_writer import to_toml
from coati.web.rules import Scope

SETTINGS_OBJECT: Final = "harvest.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetHarvest:
    """What is to be harvested into which store. Of ``files``, the folder is not used."""

    files: FilesHarvest
    store: str
    sizes: SliceSizes = field(default_factory=SliceSizes)
    times: SliceTimes = field(default_factory=SliceTimes)

    def __post_init__(self) -> None:
        """Refuse crawls that leave their site: nobody could hold a lease for them."""
        require_named_hosts(self.files.settings)
        require_no_hidden(self.files.settings)
        for name in ("exec", "log_file"):
            if getattr(self.files.settings, name):
                raise ConfigError(f"{name} is for one machine: leave it out where there is a --store")
        if Scope(self.files.settings.scope) is Scope.ANY:
            raise ConfigError("a fleet crawls site by site: --scope any is for one machine")


@dataclass(frozen=True, slots=True)
class FleetSite:
    """What a site cost and brought; ``quarantined``: workers died at it, and it is left alone.

    ``damage`` says what is wrong with its objects in the store, where it could not be crawled for that.
    """

    site: str
    state: RunState
    quarantined: bool = False
    damage: str = ""


@dataclass(frozen=True, slots=True)
class FleetHarvested:
    """How a harvest ended, and how each site stands, in the order of the list."""

    stop: StopReason
    store: str
    sites: list[FleetSite]
    resumed: bool
    slices: int
    deaths: int


@dataclass(frozen=True, slots=True)
class Listeners:
    """Callbacks: for the progress of all sites, for each event, and while another client is waited for."""

    on_progress: Callable[[Progress], None] | None = None
    on_event: OnFleetEvent | None = None
    on_wait: Callable[[Lease], None] = lambda _: None


def take_store(store: ObjectStore, harvest: FilesHarvest) -> bool:
    """Keep the settings, or check that those of an earlier harvest fit; tells whether there was one."""
    values, stored = harvest.stored_values(), stored_settings(store)
    if stored:
        require_same(stored, values, store.url, "use another store")
    store.replace(
        SETTINGS_OBJECT, to_toml(values, "A harvest of Coati: every setting as it was used.").encode()
    )
    return bool(stored)


def stored_settings(store: ObjectStore) -> dict[str, object]:
    """Return the settings of the harvest in a store; empty where there is none."""
    content = store.read(SETTINGS_OBJECT)
    try:
        return {} if content is None else tomllib.loads(content.decode())
    except ValueError as error:
        raise DamagedObjectError(SETTINGS_OBJECT, f"is damaged: {error}") from None
