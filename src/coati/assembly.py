"""From names to ready objects: the only place that knows every strategy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from coati.errors import UsageError, unknown_name
from coati.strategies.baselines import breadth_first, depth_first, uniformly_random
from coati.strategies.clairvoyant import clairvoyant, omniscient
from coati.strategies.dry_spell import DrySpell
from coati.strategies.early_stop import PaperEarlyStop
from coati.strategies.focused import focused
from coati.strategies.hnsw_groups import HnswGroups
from coati.strategies.link_models import LinkModel
from coati.strategies.link_scores import Aim
from coati.strategies.scent import Scent, ScentSettings
from coati.strategies.tag_paths import TagPathSettings, TagPathStrategy
from coati.strategies.tp_off import TpOffSettings, tp_off
from coati.strategies.tres import tres_light
from coati.strategies.url_classes import LearntClasses, OracleClasses
from coati.web.likely_extensions import DATA_EXTENSIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from coati.strategies.early_stop import EarlyStop
    from coati.strategies.path_groups import GroupIndex
    from coati.strategies.strategy import Strategy
    from coati.strategies.tres import TresExamples
    from coati.strategies.truth import SiteTruth
    from coati.strategies.url_classes import UrlClasses

# What each name crawls by, for help texts and errors.
STRATEGIES = {
    "bfs": "breadth-first: links in the order of discovery",
    "dfs": "depth-first: the link found last goes first",
    "random": "any known link with the same probability",
    "focused": "the link that looks most like a target, by its URL, anchor and depth",
    "sb-classifier": "learns which groups of similar tag paths lead to targets (EDBT 2026)",
    "scent": "ours: the link that promises most targets a request, by all that is seen of it",
    "scent-bytes": "scent where bytes are scarce: most targets for each byte fetched",
    "scent-volume": "scent for much data: most bytes of targets for each byte fetched",
}

# These know what no crawler can know, so only a replay can run them.
ORACLES = {
    "sb-oracle": "sb-classifier that is told for free which links are targets",
    "tp-off": "learns the worth of tag paths from 3,000 requests that it knows the truth of (ACEBot)",
    "tres-light": "TRES with a light page classifier: told which links are pages, learns from example pages",
    "tres": "TRES with its neural networks (needs the extra tres); the same advantages",
    "omniscient": "asks for the targets and nothing else: a bound that no crawler reaches",
    "clairvoyant": "knows the site, but must walk to its targets: the reference for all others",
}

# A seed changes nothing about these.
DETERMINISTIC = frozenset({"bfs", "dfs", "focused", "tp-off", "omniscient", "clairvoyant"})

# These have to be given example pages of other sites (`PageTexts`).
WITH_EXAMPLES = frozenset({"tres", "tres-light"})

GROUP_INDEXES = {"exact": "sparse and exact", "hnsw": "approximate, as published; needs the extra hnsw"}

EARLY_STOPS = {
    "off": "never",
    "dry": "our own rule: when hardly any target can be expected from further requests",
    "paper": "the rule of the EDBT 2026 paper; cannot fire before 15,000 requests",
}


@dataclass(frozen=True, slots=True)
class StrategySettings:
    """The parameters of strategies; the defaults are the papers'.

    ``url_model`` and ``url_context`` are names of `coati.strategies.link_models`: how links are classified,
    and by what. ``warm_up`` is how many requests TP-OFF learns from. ``likely_extensions`` are those of the
    wanted files; scent tries them first.
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


# What the variants of scent aim at.
_AIMS = {
    "scent": Aim.TARGETS_A_REQUEST,
    "scent-bytes": Aim.TARGETS_A_BYTE,
    "scent-volume": Aim.BYTES_A_BYTE,
}


@dataclass(frozen=True, slots=True)
class PageTexts:
    """What TRES reads: the text of a fetched page by its URL, and example pages of other sites."""

    page_text: Callable[[str], str]
    examples: TresExamples


def build_strategy(
    name: str,
    start_url: str,
    seed: int = 0,
    truth: SiteTruth | None = None,
    settings: StrategySettings | None = None,
    texts: PageTexts | None = None,
) -> Strategy:
    """Build a strategy by its name, for a crawl that begins at ``start_url``.

    ``truth`` is for those of `ORACLES`, ``texts`` for those of `WITH_EXAMPLES`.
    """
    settings = settings or StrategySettings()
    if name in STRATEGIES:
        return _build_crawler(name, start_url, seed, settings)
    if name not in ORACLES:
        raise unknown_name("strategy", name, [*STRATEGIES, *ORACLES])
    if truth is None:
        raise UsageError(f"{name} must know the site beforehand: it runs in replay only")
    if name == "tp-off":
        return tp_off(start_url, truth, TpOffSettings(settings.warm_up, settings.tag_paths))
    if name in WITH_EXAMPLES:
        return _build_tres(name, start_url, seed, truth, texts)
    if name == "omniscient":
        return omniscient(truth)
    if name == "clairvoyant":
        return clairvoyant(truth)
    return _build_tag_paths(start_url, OracleClasses(truth), seed, settings)


def _build_crawler(name: str, start_url: str, seed: int, settings: StrategySettings) -> Strategy:
    if name == "bfs":
        return breadth_first(start_url)
    if name == "dfs":
        return depth_first(start_url)
    if name == "random":
        return uniformly_random(start_url, seed)
    if name == "focused":
        return focused(start_url)
    if name in _AIMS:
        return Scent(start_url, seed, replace(settings.scent, aim=_AIMS[name]), settings.likely_extensions)
    model = LinkModel(settings.url_model, settings.url_context)
    classes = LearntClasses(settings.batch, robust_probes=settings.robust_probes, model=model)
    return _build_tag_paths(start_url, classes, seed, settings)


def _build_tres(name: str, start_url: str, seed: int, truth: SiteTruth, texts: PageTexts | None) -> Strategy:
    if texts is None:
        raise UsageError(f"{name} needs example pages of other sites: --examples names archives of some")
    if name == "tres-light":
        return tres_light(start_url, truth, texts.page_text, texts.examples, seed)
    from coati.tres_neural import tres

    return tres(start_url, truth, texts.page_text, texts.examples, seed)


def _build_tag_paths(
    start_url: str, classes: UrlClasses, seed: int, settings: StrategySettings
) -> TagPathStrategy:
    if settings.group_index not in GROUP_INDEXES:
        raise unknown_name("group index", settings.group_index, GROUP_INDEXES)
    groups: GroupIndex | None = None
    if settings.group_index == "hnsw":
        tag_paths = settings.tag_paths
        groups = HnswGroups(tag_paths.similarity, 1 << tag_paths.log2_dimensions)
    return TagPathStrategy(start_url, classes, seed, settings.tag_paths, groups)


def build_early_stop(name: str) -> EarlyStop | None:
    """Build an early-stopping rule by its name; None for "off"."""
    if name not in EARLY_STOPS:
        raise unknown_name("early stop", name, EARLY_STOPS)
    if name == "dry":
        return DrySpell()
    return PaperEarlyStop() if name == "paper" else None
