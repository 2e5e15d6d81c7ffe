"""The parameters of all strategies."""

from __future__ import annotations

from dataclasses import dataclass, field

from coati.strategies.discovery.prospect_settings import ProspectSettings
from coati.strategies.discovery.settings import NO_WISHES, DiscoverySettings, UserJudgements
from coati.strategies.discovery.start_model import NO_MODEL, StartModel
from coati.strategies.hosts.anthelion import AnthelionSettings
from coati.strategies.revisits.arrivals import ArrivalsSettings
from coati.strategies.revisits.watch import WatchSettings
from coati.strategies.sb.tag_paths import TagPathSettings
from coati.strategies.scent.scent import ScentSettings
from coati.web.likely_extensions import DATA_EXTENSIONS


@dataclass(frozen=True, slots=True)
class StrategySettings:
    """The parameters of strategies; the defaults are the papers'.

    ``url_model`` and ``url_context`` name (`coati.strategies.sb.link_models`) how links are classified,
    and by what. ``warm_up`` is how many requests TP-OFF learns from. ``likely_extensions`` are those of the
    wanted files; scent tries them first. ``watch`` says how pages are visited again, ``arrivals`` how our own
    scheduler learns, and ``relevant`` which links count then (`coati.strategies.revisits.relevance`).
    ``hosts`` are Anthelion's. From ``discovery`` on they are for searches for repositories, of which prospect
    alone reads ``prospect``, and ``patience``: after how many requests in a row without a new repository it
    ends.
    """

    tag_paths: TagPathSettings = field(default_factory=TagPathSettings)
    batch: int = 10
    robust_probes: bool = False
    group_index: str = "exact"
    url_model: str = "lr"
    url_context: str = "url"
    warm_up: int = 3000
    scent: ScentSettings = field(default_factory=ScentSettings)
    likely_extensions: tuple[str, ...] = tuple(sorted(DATA_EXTENSIONS))
    hosts: AnthelionSettings = field(default_factory=AnthelionSettings)
    watch: WatchSettings = field(default_factory=WatchSettings)
    arrivals: ArrivalsSettings = field(default_factory=ArrivalsSettings)
    relevant: str = ""
    discovery: DiscoverySettings = field(default_factory=DiscoverySettings)
    start_model: StartModel = NO_MODEL
    wishes: UserJudgements = NO_WISHES
    prospect: ProspectSettings = field(default_factory=ProspectSettings)
    patience: int | None = None
